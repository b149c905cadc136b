import { endOf, hasFailed, type RequestSummary } from '../../api/requests/summary.ts';

/** What the list is filtered by, named as in the page's address and in the query of `GET /api/history`. */
export const filterNames = [
  'from',
  'to',
  'status',
  'lossy',
  'client',
  'provider',
  'model',
  'scenario',
  'preset',
  'session',
  'duration',
  'firstByte',
  'cost',
  'tools',
  'text',
] as const;

/** An empty value doesn't restrict. */
export type RequestFilter = Readonly<Record<(typeof filterNames)[number], string>>;

/** The filter of an address. */
export const filterIn = (query: URLSearchParams): RequestFilter => {
  const at = (name: keyof RequestFilter): string => (query.get(name) ?? '').trim();
  return {
    from: at('from'),
    to: at('to'),
    status: at('status'),
    lossy: at('lossy') === '' ? '' : 'true',
    client: at('client'),
    provider: at('provider'),
    model: at('model'),
    scenario: at('scenario'),
    preset: at('preset'),
    session: at('session'),
    duration: at('duration'),
    firstByte: at('firstByte'),
    cost: at('cost'),
    tools: at('tools'),
    text: at('text'),
  };
};

/** The members that restrict. */
export const givenIn = (filter: RequestFilter): Readonly<Record<string, string>> =>
  Object.fromEntries(filterNames.flatMap((name) => (filter[name] === '' ? [] : [[name, filter[name]]])));

/** Figures that are filtered by a least value: `1000-`. */
const figureOf = {
  duration: ({ durationMs }: RequestSummary) => durationMs,
  firstByte: ({ firstByteMs }: RequestSummary) => firstByteMs,
  cost: ({ cost }: RequestSummary) => cost,
  tools: ({ tools = [] }: RequestSummary) => tools.length,
} as const;

/** Names of such figures. */
const figures = ['duration', 'firstByte', 'cost', 'tools'] as const satisfies readonly (keyof typeof figureOf)[];

const isAtLeast = (value: number | undefined, text: string): boolean =>
  text === '' || (value !== undefined && value >= Number.parseFloat(text));

const agoUnits: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time of a filter in milliseconds since 1970; `undefined`: it is none. */
const timeIn = (text: string, nowMs: number): number | undefined => {
  const [, number, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  if (number !== undefined) return nowMs - Number(number) * (agoUnits[unit] ?? 0);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : at;
};

/** Whether a request of the list in memory passes; the history on disk answers the same. */
export const passes = (request: RequestSummary, filter: RequestFilter, nowMs: number): boolean => {
  const { from, to, status, lossy, client, provider, model, scenario, preset, session, text } = filter;
  const ended = endOf(request);
  return (
    (from === '' || ended >= (timeIn(from, nowMs) ?? 0)) &&
    (to === '' || ended <= (timeIn(to, nowMs) ?? nowMs)) &&
    (status === '' || isOfStatus(request, status)) &&
    (lossy === '' || request.losses.length > 0) &&
    (client === '' || request.client === client) &&
    (provider === '' || request.provider === provider) &&
    (model === '' || [request.model, request.asked, `${request.provider},${request.model}`].includes(model)) &&
    (scenario === '' || request.scenario === scenario) &&
    (preset === '' || request.preset === preset) &&
    (session === '' || request.session === session) &&
    figures.every((name) => isAtLeast(figureOf[name](request), filter[name])) &&
    (text === '' || haystack(request).includes(text.toLowerCase()))
  );
};

const isOfStatus = (request: RequestSummary, status: string): boolean => {
  if (status === 'failed') return hasFailed(request);
  if (status === 'ok') return request.status < 400 && !hasFailed(request);
  return status.endsWith('xx') ? String(request.status)[0] === status[0] : String(request.status) === status;
};

const haystack = (request: RequestSummary): string => {
  const { id, session, asked, provider, model, path, scenario, reason, pool, preset, client, fault, title } = request;
  return [id, session, asked, provider, model, path, scenario, reason, pool, preset, client, title]
    .concat(fault?.kind, fault?.message)
    .join('\n')
    .toLowerCase();
};
