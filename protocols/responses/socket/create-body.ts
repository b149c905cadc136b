import {
  closeBracket,
  openBrace,
  openBracket,
  parseJson,
  quote,
  skipSpace,
  stringEnd,
} from '../../../engine/model/json/json.ts';
import { nextItem, valueEnd } from '../../../engine/model/json/replace-member.ts';

/** The body of a Responses request, by its members, each as JSON text. */
export interface CreateBody {
  readonly model: string;
  readonly input: string;
  /** The items of `input`; none if it is a string. */
  readonly items: readonly string[];
  /** All other members, as `"name":value`. */
  readonly settings: readonly string[];
}

/** Members that the connection itself replaces: it always streams, and the message has a `type` of its own. */
const replaced: ReadonlySet<string> = new Set(['input', 'stream', 'type']);

/** Members by which the vendor continues what it has stored itself, or works after the connection is gone. */
const stored = ['previous_response_id', 'conversation', 'background'] as const;

/**
 * Reads a body, which must be valid JSON. `undefined` if it can't go over a WebSocket: it asks for a whole answer, continues something stored, or
 * repeats a member.
 */
export const createBodyOf = (text: string): CreateBody | undefined => {
  const members = membersOf(text);
  if (members?.get('stream') !== 'true') return undefined;
  if (stored.some((name) => !unset.has(members.get(name)))) return undefined;
  const input = members.get('input');
  if (input === undefined) return undefined;
  const settings: string[] = [];
  for (const [name, value] of members) if (!replaced.has(name)) settings.push(`${JSON.stringify(name)}:${value}`);
  return { model: members.get('model') ?? '', input, items: itemsOf(input), settings };
};

const unset: ReadonlySet<string | undefined> = new Set([undefined, 'null', 'false']);

/** The members of the object; `undefined` if it is none, or repeats a member. */
const membersOf = (text: string): ReadonlyMap<string, string> | undefined => {
  const members = new Map<string, string>();
  const start = skipSpace(text, 0);
  if (text.charCodeAt(start) !== openBrace) return undefined;
  let at = skipSpace(text, start + 1);
  while (text.charCodeAt(at) === quote) {
    const nameEnd = stringEnd(text, at);
    const name = parseJson(text.slice(at, nameEnd));
    // Past the colon.
    const from = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const to = valueEnd(text, from);
    if (typeof name !== 'string' || members.has(name)) return undefined;
    members.set(name, text.slice(from, to));
    at = nextItem(text, to);
  }
  return members;
};

const itemsOf = (list: string): readonly string[] => {
  const items: string[] = [];
  if (list.charCodeAt(0) !== openBracket) return items;
  let at = skipSpace(list, 1);
  while (at < list.length && list.charCodeAt(at) !== closeBracket) {
    const to = valueEnd(list, at);
    items.push(list.slice(at, to));
    at = nextItem(list, to);
  }
  return items;
};

/** The message for a body; with `after`, only the items that follow what the connection has seen. */
export const createMessage = (
  { settings, input, items }: CreateBody,
  after?: { readonly responseId: string; readonly seen: number },
): string => {
  const parts = ['"type":"response.create"', ...settings];
  if (after) parts.push(`"previous_response_id":${JSON.stringify(after.responseId)}`);
  parts.push(`"input":${after ? `[${items.slice(after.seen).join(',')}]` : input}`);
  return `{${parts.join(',')}}`;
};
