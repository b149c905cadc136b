import { Buffer } from 'node:buffer';
import { isJsonObject, type Json, parseJson } from '../../model/json/json.ts';

/** Comparison of a reply with an earlier one to the same request. */
type ReplyComparison =
  | { readonly isSame: true; readonly records: number }
  | {
      readonly isSame: false;
      /** Number of the first record that differs, from 1. */
      readonly record: number;
      /** Absent: that reply has ended before. */
      readonly before?: string;
      readonly after?: string;
    };

/**
 * Compares the records of two replies, or their bodies. Ids and times, which the gateway makes for each reply, count as the same if
 * they stand in the same places; so do comments and pings, which depend on the time that passes. `byLength`: one of them has stand-ins
 * for its texts, so they count as the same if they are of one length, and counts of tokens, which may be estimates, always do.
 */
export const compareReplies = (before: string, after: string, byLength = false): ReplyComparison => {
  const [one, other] = [comparable(before, byLength), comparable(after, byLength)];
  const differs = Array.from({ length: Math.max(one.length, other.length) }).findIndex(
    (_, index) => one[index] !== other[index],
  );
  if (differs === -1) return { isSame: true, records: one.length };
  const [was, is] = [one[differs], other[differs]];
  return {
    isSame: false,
    record: differs + 1,
    ...(was !== undefined && { before: was }),
    ...(is !== undefined && { after: is }),
  };
};

const comparable = (reply: string, byLength: boolean): readonly string[] => {
  const known: Known = { ids: new Map(), byLength };
  const whole = parseJson(reply);
  if (whole !== undefined) return [JSON.stringify(unified(whole, known))];
  return reply.split(/\r?\n\r?\n/).flatMap((record) => {
    const lines = record.split(/\r?\n/).filter((line) => line !== '' && !line.startsWith(':'));
    if (lines.length === 0 || lines.includes('event: ping')) return [];
    return [lines.map((line) => unifiedLine(line, known)).join(' ')];
  });
};

interface Known {
  /** Placeholder of each id. */
  readonly ids: Map<string, string>;
  readonly byLength: boolean;
}

const unifiedLine = (line: string, known: Known): string => {
  const data = line.startsWith('data:') ? parseJson(line.slice('data:'.length)) : undefined;
  return data === undefined ? line : `data: ${JSON.stringify(unified(data, known))}`;
};

/** The value with ids in the order of their first occurrence, and without times. */
const unified = (value: Json | undefined, known: Known, name = ''): Json | undefined => {
  if (Array.isArray(value)) return value.map((member) => unified(member, known, name) ?? null);
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, unified(member, known, key)]));
  if (typeof value === 'string' && /(?:^|_)id$/.test(name)) {
    const id = known.ids.get(value) ?? `id-${known.ids.size + 1}`;
    known.ids.set(value, id);
    return id;
  }
  if (typeof value === 'string' && known.byLength) return `${Buffer.byteLength(value)} bytes`;
  if (typeof value !== 'number') return value;
  return /^(?:created|created_at|completed_at)$/.test(name) || (known.byLength && /_tokens$/.test(name)) ? 0 : value;
};
