import type { Kind } from './kinds.ts';
import type { FacetName, RequestFilter } from './questions.ts';
import { type Classed, classBounds, classIn, isInClasses, shapeBits } from './shapes.ts';
import type { SqlValue } from './sqlite.ts';

/** A part of a statement after `WHERE`. */
interface Where {
  readonly sql: string;
  readonly values: readonly SqlValue[];
}

/** All of a filter. */
export const whereOf = (filter: RequestFilter, kinds: ReadonlyMap<number, Kind>): Where =>
  joined([...rowConditions(filter, kinds), ...kindConditions(filter, kinds), ...shapeConditions(filter)]);

/** The part of a filter that neither kinds nor shapes tell. */
export const rowWhereOf = (filter: RequestFilter, kinds: ReadonlyMap<number, Kind>): Where =>
  joined(rowConditions(filter, kinds));

const joined = (conditions: readonly Where[]): Where => ({
  sql: conditions.map(({ sql }) => sql).join(' AND ') || 'TRUE',
  values: conditions.flatMap(({ values }) => values),
});

const rowConditions = (filter: RequestFilter, kinds: ReadonlyMap<number, Kind>): readonly Where[] => {
  const { fromMs, toMs, session, text } = filter;
  return [
    ...(fromMs === undefined ? [] : [{ sql: 'ended >= ?', values: [fromMs] }]),
    ...(toMs === undefined ? [] : [{ sql: 'ended <= ?', values: [toMs] }]),
    ...(session === undefined
      ? []
      : [{ sql: 'session = (SELECT id FROM sessions WHERE name = ?)', values: [session] }]),
    ...(text === undefined ? [] : [hasText(text, kinds)]),
  ];
};

/** Letters beyond ASCII must be written as they are in ids, reasons and faults. */
const hasText = (text: string, kinds: ReadonlyMap<number, Kind>): Where => {
  const lower = text.toLowerCase();
  const named = idsOf(kinds, (kind) => textsOf(kind).some((one) => one.toLowerCase().includes(lower)));
  const like = likeOf(text);
  const columns = ['request', 'reason', 'fault'].map((column) => `${column} LIKE ? ESCAPE '\\'`);
  return {
    sql: `(kind IN (${named}) OR ${columns.join(' OR ')} OR session IN (SELECT id FROM sessions WHERE name LIKE ? ESCAPE '\\'))`,
    values: [like, like, like, like],
  };
};

const textsOf = ({ asked, provider, model, path, scenario, pool, preset, client }: Kind): readonly string[] => [
  asked,
  provider,
  model,
  path,
  scenario,
  pool,
  preset,
  client,
];

/** The pattern of texts that have this part. */
export const likeOf = (part: string): string => `%${part.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** Ids as a list that is never empty: there is no kind 0. */
const idsOf = (kinds: ReadonlyMap<number, Kind>, fits: (kind: Kind) => boolean): string =>
  [...kinds].flatMap(([id, kind]) => (fits(kind) ? [id] : [])).join() || '0';

const kindConditions = (filter: RequestFilter, kinds: ReadonlyMap<number, Kind>): readonly Where[] => {
  const { model, provider, client, scenario, preset, status } = filter;
  if ([model, provider, client, scenario, preset, status].every((one) => one === undefined)) return [];
  return [{ sql: `kind IN (${idsOf(kinds, kindTest(filter))})`, values: [] }];
};

const shapeConditions = (filter: RequestFilter): readonly Where[] => [
  ...(filter.lossy === true ? [{ sql: `(shape & ${shapeBits.lossy}) <> 0`, values: [] }] : []),
  ...classed.flatMap((name) => {
    const span = filter[name];
    return span ? [{ sql: isInClasses(name, span.first, span.last), values: [] }] : [];
  }),
];

const isClassed = (name: string): name is Classed => name in classBounds;

/** Figures that have classes. */
export const classed: readonly Classed[] = Object.keys(classBounds).filter(isClassed);

/** Whether a kind passes a filter; `without`: but for this part of it. */
export const kindTest = (filter: RequestFilter, without?: FacetName): ((kind: Kind) => boolean) => {
  const { model, provider, client, scenario, preset } = filter;
  const status = without === 'status' ? () => true : statusTest(filter.status);
  const passes = (name: FacetName, asked: string | undefined, own: string): boolean =>
    asked === undefined || without === name || asked === own;
  return (kind) =>
    status(kind) &&
    passes('provider', provider, kind.provider) &&
    passes('client', client, kind.client) &&
    passes('scenario', scenario, kind.scenario) &&
    passes('preset', preset, kind.preset) &&
    (model === undefined || without === 'model' || isOfModel(kind, model));
};

/** Whether a shape passes a filter; `without`: but for this part of it. */
export const shapeTest = (filter: RequestFilter, without?: FacetName): ((shape: number) => boolean) => {
  const spans = classed.flatMap((name) => {
    const span = filter[name];
    return span && name !== without ? [{ name, span }] : [];
  });
  return (shape) =>
    (filter.lossy !== true || (shape & shapeBits.lossy) !== 0) &&
    spans.every(({ name, span: { first, last } }) => {
      const at = classIn(name, shape);
      return at !== undefined && at >= first && at <= last;
    });
};

const isOfModel = ({ provider, model, asked }: Kind, name: string): boolean =>
  model === name || asked === name || `${provider},${model}` === name;

const statusTest = (status: string | undefined): ((kind: Kind) => boolean) => {
  if (status === undefined) return () => true;
  if (status === 'failed') return ({ failed }) => failed;
  if (status === 'ok') return (kind) => !kind.failed && kind.status < 400;
  if (/^[1-5]xx$/.test(status)) return (kind) => String(kind.status)[0] === status[0];
  return (kind) => kind.status === Number(status);
};
