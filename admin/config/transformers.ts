import Type from 'typebox';
import type { TransformerEntry } from '../../engine/config/config.ts';
import { type LoadedStage, loadShipped } from '../../engine/config/custom/load-stages.ts';
import type { OpenTransformer } from '../../engine/config/custom/transformer.ts';
import type { Finding } from '../../engine/config/diagnostics.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import type { Format, Transformer } from '../../engine/model/transformer.ts';
import type { TransformerRegistry } from '../../engine/routing/plan/choose-format.ts';
import { jsonOperation } from '../endpoint.ts';
import { TransformerRow } from '../schema.ts';

const both = { request: true, events: true, call: true };

/**
 * `GET /api/transformers`: formats with their upstream path, stages, and custom modules, including those that failed to load.
 * `entries` are the configuration's.
 */
export const transformerOperations = (
  registry: () => TransformerRegistry,
  entries: () => readonly TransformerEntry[] = () => [],
  /** Why changed modules can't be used. */
  stale: () => readonly Finding[] = () => [],
) => ({
  list: jsonOperation({
    summary: 'All transformers',
    says: 'The list.',
    reply: Type.Object({ transformers: Type.Array(TransformerRow) }),
    answer: async () => ({ transformers: await list(registry(), entries(), stale()) }),
  }),
});

const list = async (
  { formats, stages, shipped = [], custom }: TransformerRegistry,
  entries: readonly TransformerEntry[],
  stale: readonly Finding[],
): Promise<TransformerRow[]> => [
  ...[...formats.values()].map(showFormat),
  ...[...stages.values(), ...(await Promise.all(shipped.map(loadShipped)))].map(showStage),
  ...modules(custom, entries, stale),
];

/** Lists a module used by several entries once per name and outcome. */
const modules = (
  custom: TransformerRegistry['custom'],
  entries: readonly TransformerEntry[],
  stale: readonly Finding[],
): TransformerRow[] => {
  const rows = entries.flatMap((entry) => {
    const loaded = custom.get(entry.at);
    return loaded && entry.path !== undefined
      ? [showCustom(entry, entry.path, loaded, stale.find(({ path }) => path.startsWith(`${entry.at}.`))?.message)]
      : [];
  });
  return [...new Map(rows.map((row) => [JSON.stringify([row.name, row.path, row.error]), row])).values()];
};

const showFormat = ({ name, path, about = '', options, firstStart }: Format): TransformerRow => ({
  name,
  endpoint: path,
  kind: 'format',
  about,
  options: plain(options),
  halves: both,
  state: 'loaded',
  ...(firstStart && { firstStart }),
});

const showStage = ({
  name,
  about = '',
  options,
  halves,
  asks,
}: Omit<Transformer, 'configure'> & Pick<OpenTransformer, 'asks'>): TransformerRow => ({
  name,
  endpoint: null,
  kind: 'stage',
  about,
  options: plain(options),
  halves,
  ...(asks && { asks }),
  state: 'loaded',
});

const showCustom = (
  { name }: TransformerEntry,
  path: string,
  loaded: LoadedStage,
  staleBecause: string | undefined,
): TransformerRow => {
  const row = { endpoint: null, kind: 'custom', path } as const;
  if ('problem' in loaded) {
    const halves = { request: false, events: false, call: false };
    return { ...row, name, about: '', options: null, halves, state: 'failed', error: loaded.problem };
  }
  const { stage, about = '', schema = null } = loaded;
  const { asks, request, events, call, operators = {}, around } = stage;
  const halves = {
    request: (request ?? operators.request) !== undefined,
    events: (events ?? operators.events) !== undefined,
    call: call !== undefined,
    ...(around && { around: true }),
  };
  const shown = { ...row, name: stage.name, about, options: schema, halves, ...(asks && { asks }) };
  return staleBecause === undefined
    ? { ...shown, state: 'loaded' }
    : { ...shown, state: 'stale', error: `The changed module ${staleBecause}` };
};

/** Serializing drops typebox's symbols. */
const plain = (schema: object): JsonObject => JSON.parse(JSON.stringify(schema));
