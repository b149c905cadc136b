import { isJsonObject, type Json, type JsonObject } from '../model/json/json.ts';
import type { Format } from '../model/transformer.ts';
import { sentAt } from '../model/upstream-error/lesson.ts';
import { lessonsIn } from '../model/upstream-error/lessons-in.ts';
import type { Cure } from './change.ts';
import type { CureKind, DoctorCheck } from './checks.ts';
import type { ProbeOutcome } from './outcome.ts';

/** A change that may heal a deviation. */
export interface CureCandidate {
  readonly change: Cure;
  /** It makes the model one of a table, which may change other requests too. */
  readonly isRow?: true;
}

/**
 * What may heal a deviation, in order: the facts that the refusal's words tell, then what the check names. `plain`: the body of the same
 * request without what is examined.
 */
export const curesFor = (
  check: Pick<DoctorCheck, 'cures'>,
  outcome: ProbeOutcome,
  { format, plain }: { readonly format: Format; readonly plain: JsonObject | undefined },
): readonly CureCandidate[] => {
  if (outcome.type === 'unsent') return [];
  const told = outcome.type === 'refused' ? toldBy(outcome) : { facts: [], fields: [] };
  const candidates = (cure: CureKind): readonly CureCandidate[] => {
    switch (cure) {
      case 'hosts':
        return rowsOf(format, 'host');
      case 'families':
        return rowsOf(format, 'family');
      case 'told':
        return told.fields.map(asCandidate);
      case 'leave':
        // A member that is accepted and ignored does no harm.
        return plain && outcome.type === 'refused' ? leaving(outcome.sent.body, plain).map(asCandidate) : [];
      case 'stream-usage':
        return schemaOf(format, 'streamUsage') === undefined
          ? []
          : [asCandidate(optionOf(format, { streamUsage: outcome.type === 'replied' }))];
      default:
        return [asCandidate(cure)];
    }
  };
  return [...told.facts.map(asCandidate), ...check.cures.flatMap(candidates)];
};

const asCandidate = (change: Cure): CureCandidate => ({ change });

/** The information in the words of a refusal. */
const toldBy = ({ fault, sent }: Extract<ProbeOutcome, { type: 'refused' }>) => {
  const facts: Cure[] = [];
  const fields: Cure[] = [];
  for (const lesson of lessonsIn(fault, sent, sent.estimate)) {
    if (lesson.does === 'limit') facts.push({ to: 'fact', name: 'maxOutput', tokens: lesson.max });
    else if (lesson.does === 'fit') facts.push({ to: 'fact', name: 'context', tokens: lesson.window });
    else if (lesson.does === 'leave') {
      const path = sentAt(sent.body, lesson.field);
      if (path !== undefined && !path.includes('[]')) fields.push({ to: 'body', patch: nested(path.split('.')) });
    }
  }
  return { facts, fields };
};

const nested = ([first = '', ...rest]: readonly string[]): JsonObject => ({
  [first]: rest.length > 0 ? nested(rest) : null,
});

/** Patches that make `plain` of a body, the smallest first; none if a list differs, of which no patch changes a part. */
const leaving = (body: JsonObject, plain: JsonObject): readonly Cure[] => {
  const small = patchTo(body, plain);
  if (!small) return [];
  // A nested patch would add an absent parent.
  const large = Object.fromEntries(Object.keys(small).map((name) => [name, null]));
  return [small, large].map((patch) => ({ to: 'body', patch }));
};

const patchTo = (body: JsonObject, plain: JsonObject): JsonObject | undefined => {
  const patch: Record<string, Json> = {};
  for (const [name, value] of Object.entries(body)) {
    const other = plain[name];
    if (JSON.stringify(value) === JSON.stringify(other)) continue;
    if (Array.isArray(value) && other !== undefined) return undefined;
    patch[name] = (isJsonObject(value) && isJsonObject(other) ? patchTo(value, other) : null) ?? null;
  }
  return Object.keys(patch).length > 0 ? patch : undefined;
};

const optionOf = ({ name }: Format, options: JsonObject): Cure => ({ to: 'format', name, options });

/** The schema of an option that a format may have. */
const schemaOf = ({ options }: Format, name: string): unknown => {
  const properties: unknown = 'properties' in options ? options.properties : undefined;
  return isJsonObject(properties) ? properties[name] : undefined;
};

/** A change for every row that an option of the format can name. */
const rowsOf = (format: Format, option: 'host' | 'family'): readonly CureCandidate[] => {
  const schema = schemaOf(format, option);
  const names: unknown = isJsonObject(schema) ? schema.enum : [];
  return Array.isArray(names)
    ? names.map((name: Json) => ({ change: optionOf(format, { [option]: name }), isRow: true }))
    : [];
};
