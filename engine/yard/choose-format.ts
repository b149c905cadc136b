import type { Provider, TransformerEntry } from '../config/config.ts';
import type { Format } from '../model/transformer.ts';
import type { Tables } from './tables.ts';

/** What a provider's model is spoken to in, and why. */
export interface FormatChoice {
  readonly format: Format;
  readonly options: TransformerEntry['options'];
  /** An entry of the configuration names it, or the provider's host is its vendor's, or nothing says otherwise. */
  readonly because: 'entry' | 'host' | 'plain';
  /** The entry's path in the configuration. */
  readonly entry: string | undefined;
}

/** The format of the most specific of the entries that apply; else the one of the provider's host; else the plain one. */
export const chooseFormat = (
  entries: readonly TransformerEntry[],
  tables: Tables,
  { baseUrl }: Provider,
): FormatChoice => {
  const entry = mostSpecific(entries.filter(({ path, name }) => path === undefined && tables.formats.has(name)));
  const named = entry && tables.formats.get(entry.name);
  if (named) return { format: named, options: entry.options, because: 'entry', entry: entry.at };
  for (const format of tables.formats.values()) {
    if (format.hosts.some((host) => isAt(baseUrl, host))) return { ...unasked, format, because: 'host' };
  }
  const plain = tables.formats.get(tables.plainFormat);
  if (!plain) throw new Error(`the plain format "${tables.plainFormat}" is missing`);
  return { ...unasked, format: plain, because: 'plain' };
};

const unasked = { options: {}, entry: undefined };

const isAt = ({ hostname }: URL, host: string): boolean => hostname === host || hostname.endsWith(`.${host}`);

/** Provider and models before models before provider before global; the last of equals. */
const mostSpecific = (entries: readonly TransformerEntry[]): TransformerEntry | undefined =>
  entries.reduce<TransformerEntry | undefined>(
    (best, entry) => (best === undefined || rank(entry) >= rank(best) ? entry : best),
    undefined,
  );

const rank = ({ provider, models }: TransformerEntry): number =>
  (provider === undefined ? 0 : 1) + (models === undefined ? 0 : 2);
