import { itemsIn, membersIn } from '../../../engine/model/json/members.ts';

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
  const found = membersIn(text) ?? [];
  const members = new Map(found.map(({ name, from, to }) => [name, text.slice(from, to)]));
  if (members.size < found.length || members.get('stream') !== 'true') return undefined;
  if (stored.some((name) => !unset.has(members.get(name)))) return undefined;
  const input = members.get('input');
  if (input === undefined) return undefined;
  const items = itemsIn(input, Number.POSITIVE_INFINITY) ?? [];
  const settings: string[] = [];
  for (const [name, value] of members) if (!replaced.has(name)) settings.push(`${JSON.stringify(name)}:${value}`);
  return {
    model: members.get('model') ?? '',
    input,
    items: items.map(({ from, to }) => input.slice(from, to)),
    settings,
  };
};

const unset: ReadonlySet<string | undefined> = new Set([undefined, 'null', 'false']);

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
