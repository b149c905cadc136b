import type { Transformer, TransformerEntry } from '../../api/config/config-file.ts';

/** A transformer entry in its object form. */
export type Entry = Exclude<TransformerEntry, string>;

/** Converts an entry to its object form. */
export const entryOf = (written: TransformerEntry): Entry =>
  typeof written === 'string' ? { name: written } : written;

/** Writes an entry back: a plain name stays one while nothing else is set. */
export const writtenOf = (entry: Entry, before: TransformerEntry): TransformerEntry =>
  typeof before === 'string' && entry.name !== undefined && Object.keys(entry).every((name) => name === 'name')
    ? entry.name
    : entry;

/** The transformer that an entry names, if it is known. */
export const knownOf = ({ name, path }: Entry, transformers: readonly Transformer[]): Transformer | undefined =>
  transformers.find((one) => (path === undefined ? one.kind !== 'custom' && one.name === name : one.path === path));
