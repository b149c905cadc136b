import type { TransformerEntry } from '../api/config-file.ts';
import type { Transformer } from '../api/transformer.ts';

/** An entry of the list of transformers, whichever way it is written. */
export type Entry = Exclude<TransformerEntry, string>;

/** The entry as an object. */
export const entryOf = (written: TransformerEntry): Entry =>
  typeof written === 'string' ? { name: written } : written;

/** The entry as short as it was: a name alone stays a name as long as there is nothing else to say. */
export const writtenOf = (entry: Entry, before: TransformerEntry): TransformerEntry =>
  typeof before === 'string' && entry.name !== undefined && Object.keys(entry).every((name) => name === 'name')
    ? entry.name
    : entry;

/** What the gateway knows of an entry's transformer. */
export const knownOf = ({ name, path }: Entry, transformers: readonly Transformer[]): Transformer | undefined =>
  transformers.find((one) => (path === undefined ? one.kind !== 'custom' && one.name === name : one.path === path));
