import { countEnd, DeltaTemplate, endOf, endsInBrace, Gap } from './delta-template.ts';
import { type Json, type JsonDraft, type JsonObject, parseJson } from './json.ts';

const maxGaps = 6;

/** Finds the template of two records; `undefined` if they differ in more than texts and counts. `value`: that of `other`. */
export const findTemplate = <T extends JsonObject>(
  one: string,
  other: string,
  value: T,
): DeltaTemplate<T> | undefined => {
  const tokens = tokensOf(other);
  const counterparts = tokensOf(one);
  const slots = slotsOf(value);
  if (tokens.length !== counterparts.length || tokens.length !== slots.length) return undefined;
  if (!endsInBrace(one) || !endsInBrace(other)) return undefined;
  const pieces: string[] = [];
  const gaps: Gap[] = [];
  let from = 0;
  let fromOne = 0;
  for (const [index, token] of tokens.entries()) {
    const counterpart = counterparts[index];
    const slot = slots[index];
    // Members of the value have the order of the text, except for numeric or repeated names.
    if (slot === undefined || counterpart === undefined || parseJson(token.text) !== slot.value) return undefined;
    if (token.text === counterpart.text) continue;
    if (slot.owner === undefined || slot.member === '__proto__' || gaps.length === maxGaps) return undefined;
    const isText = token.text.startsWith('"');
    if (!isText && !(isCount(token.text) && isCount(counterpart.text))) return undefined;
    const piece = other.slice(from, token.at);
    if (isText !== counterpart.text.startsWith('"') || one.slice(fromOne, counterpart.at) !== piece) return undefined;
    pieces.push(piece);
    gaps.push(new Gap(slot.owner, slot.member, isText));
    from = token.at + token.text.length;
    fromOne = counterpart.at + counterpart.text.length;
  }
  const last = other.slice(from, endOf(other));
  if (gaps.length === 0 || one.slice(fromOne, endOf(one)) !== last) return undefined;
  return new DeltaTemplate([...pieces, last], gaps, value);
};

interface Token {
  readonly at: number;
  readonly text: string;
}

/** The strings and numbers of a JSON text, member names included. */
const tokensOf = (json: string): readonly Token[] =>
  [...json.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g)].map((match) => ({ at: match.index, text: match[0] }));

const isCount = (text: string): boolean => countEnd(text, 0) === text.length;

/** A string or number of a value. `owner`: the object it is a member of; `undefined` for member names and array items. */
interface Slot {
  readonly value: string | number;
  readonly owner: JsonDraft | undefined;
  readonly member: string;
}

/** The slots of an object, in the order of its members. */
const slotsOf = (object: JsonObject): readonly Slot[] => {
  const slots: Slot[] = [];
  const walk = (value: Json | undefined, owner: JsonDraft | undefined, member: string): void => {
    if (typeof value === 'string' || typeof value === 'number') slots.push({ value, owner, member });
    else if (isArray(value)) for (const item of value) walk(item, undefined, '');
    else if (typeof value === 'object' && value !== null) {
      for (const name of Object.keys(value)) {
        slots.push({ value: name, owner: undefined, member: '' });
        walk(value[name], value, name);
      }
    }
  };
  walk(object, undefined, '');
  return slots;
};

const isArray = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);
