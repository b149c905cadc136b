import type { JsonObject } from '../../engine/model/json.ts';
import { entryText, textMember } from './reasoning-details.ts';

/** An entry of `reasoning_details`, and where the client wrote it. */
export interface PlacedEntry {
  readonly entry: JsonObject;
  readonly place: number;
}

/**
 * Entries whose pieces are put together again: some clients keep a stream's fragments one behind the other, and a seal without
 * the text that it is for is worth nothing. Fragments of one entry have its type and index. Source: OpenRouter documentation,
 * "Reasoning Tokens".
 */
export const joinFragments = (entries: readonly JsonObject[]): readonly PlacedEntry[] => {
  const joined: { entry: JsonObject; place: number; texts: string[] }[] = [];
  for (const [place, entry] of entries.entries()) {
    const last = joined.at(-1);
    if (last && isMore(last.entry, entry)) {
      last.texts.push(entryText(entry));
      last.entry = { ...last.entry, ...given(entry) };
    } else joined.push({ entry, place, texts: [entryText(entry)] });
  }
  return joined.map(({ entry, place, texts }) => {
    const member = textMember(entry);
    return { place, entry: member && texts.length > 1 ? { ...entry, [member]: texts.join('') } : entry };
  });
};

const isMore = (before: JsonObject, entry: JsonObject): boolean =>
  textMember(entry) !== undefined &&
  entry.type === before.type &&
  entry.index !== undefined &&
  entry.index === before.index &&
  !before.signature;

const given = (entry: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(entry).filter(([, value]) => value !== null && value !== undefined && value !== ''),
  );
