import Type from 'typebox';
import type { HistoryFilter } from '../../engine/features/history/files/search-history.ts';
import type { SharedHistory } from '../../engine/features/history/shared-history.ts';
import { HistoryCounts, HistoryExtent, HistoryPage, type KeptRequest } from '../../engine/features/record/schema.ts';
import { readTime } from '../../engine/features/usage/report.ts';
import type { DocumentedRoute } from '../../engine/http/documented-route.ts';
import type { ReplyPart } from '../../engine/http/endpoint.ts';
import { fail } from '../../engine/model/fault.ts';
import { hasFailed } from '../../engine/model/status.ts';
import type { Gate } from '../../engine/runtime/backpressure.ts';
import { adminRoute, done, gated, jsonRoute, readNumber } from '../endpoint.ts';
import { Outcome } from '../schema.ts';
import { harEnd, harEntry, harStart } from './har.ts';
import { type KeptParts, NewestRequests } from './newest.ts';

/** Dependencies of the endpoints of the kept requests. */
export interface HistoryParts extends KeptParts {
  /** Finds captures; removes what is kept. */
  readonly requests: Pick<SharedHistory, 'find' | 'clear' | 'list'>;
  /** For the addresses in a HAR. */
  readonly baseUrl: () => string;
  /** The service's own. */
  readonly version: string;
}

/** Requests that are counted at most. */
const maxCounted = 20_000;

/** Bytes that one search looks at; the next one goes on there. */
const maxSearchBytes = 16 << 20;

const maxPage = 500;

/** Requests of one export. */
const maxExport = 100_000;

const filterQuery = {
  from: Type.String({ description: 'A time (`2026-01-31T08:00Z`), or how long ago (`36h`, `7d`).' }),
  to: Type.String({ description: 'The end; default: now.' }),
  model: Type.String({ description: 'The model asked for or used, or `provider,model`.' }),
  provider: Type.String(),
  scenario: Type.String({ description: 'The rule that matched.' }),
  lossy: Type.Enum(['true'], { description: 'Only those with a field that was dropped or approximated.' }),
  status: Type.String({ description: '`ok`, `failed`, or a status: `429`, `5xx`.' }),
  client: Type.String({ description: 'The name of a client of `CLIENTS`.' }),
  session: Type.String({ description: 'The id of a session.' }),
  text: Type.String({
    description: 'A part of an id, name, path, reason or fault; upper and lower case are the same.',
  }),
};

/**
 * Ended requests that are kept on disk, of all processes of the service and of earlier ones.
 *
 * - `GET /api/history`: searches them.
 * - `GET /api/history/counts`: how many there are of each kind.
 * - `GET /api/history/export`: the same as a file of JSON lines, or a HAR.
 * - `GET /api/history/extent`: how many there are, and of which time.
 * - `DELETE /api/history`: removes them.
 */
export const historyRoutes = (parts: HistoryParts): readonly DocumentedRoute[] => {
  const counted = new NewestRequests({ history: parts, requests: parts.requests }, maxCounted, countedPart);
  return [
    jsonRoute('GET', '/api/history', {
      summary: 'The requests that are kept on disk',
      says: 'Their summaries, those that ended last first.',
      reply: HistoryPage,
      query: {
        ...filterQuery,
        limit: Type.Integer({ minimum: 1, maximum: maxPage, default: 100 }),
        before: Type.String({ description: 'The `next` of an earlier answer.' }),
      },
      async answer({ query }) {
        const params = new URLSearchParams(query);
        const limits = { limit: readNumber(params, 'limit', 1, maxPage, 100), maxBytes: maxSearchBytes };
        const filter = readFilter(params, parts.nowMs());
        await parts.write();
        const { requests, next = null } = await parts.search.find(filter, limits, params.get('before') ?? undefined);
        return { requests, next, days: parts.days() };
      },
    }),
    jsonRoute('GET', '/api/history/counts', {
      summary: 'How many requests there are of each kind',
      says: `Of the newest ${maxCounted.toLocaleString('en-US')} in this time. Without \`HISTORY\`, of those in memory.`,
      reply: HistoryCounts,
      query: { from: filterQuery.from, to: filterQuery.to, text: filterQuery.text },
      async answer({ query }) {
        const asked = new URLSearchParams(query);
        const params = new URLSearchParams();
        for (const name of ['from', 'to', 'text']) params.set(name, asked.get(name) ?? '');
        const { requests, truncated } = await counted.ask(params.toString(), readFilter(params, parts.nowMs()));
        return { ...countsOf(requests), truncated };
      },
    }),
    jsonRoute('GET', '/api/history/extent', {
      summary: 'How much is kept on disk',
      says: 'The number of requests, and when the first and the last one ended.',
      reply: HistoryExtent,
      async answer() {
        await parts.write();
        const { requests, bytes, fromMs, toMs } = await parts.search.extent();
        const span = fromMs !== undefined && toMs !== undefined && { from: isoTime(fromMs), to: isoTime(toMs) };
        return { requests, bytes, ...span, days: parts.days() };
      },
    }),
    jsonRoute('DELETE', '/api/history', {
      summary: 'Deletes the requests that are kept on disk',
      says: 'They are gone, and so are the list of recent requests and the captures. Usage keeps its sums.',
      reply: Outcome,
      async answer() {
        await parts.requests.clear('everything');
        return done('The history was deleted.');
      },
    }),
    adminRoute('GET', '/api/history/export', {
      summary: 'The requests that are kept on disk, as a file',
      says: 'The first 100,000: a line of JSON each, or a HAR 1.2, with the bodies of those that are captured.',
      reply: Type.String(),
      query: { ...filterQuery, format: Type.Enum(['jsonl', 'har'], { default: 'jsonl' }) },
      answer({ query, backpressure }) {
        const params = new URLSearchParams(query);
        const format = params.get('format') ?? 'jsonl';
        if (format !== 'jsonl' && format !== 'har')
          return fail('invalid-request', 'format must be one of jsonl, har.', { param: 'format' });
        const filter = readFilter(params, parts.nowMs());
        return gated(backpressure, (gate) => exportOf(parts, filter, format, gate));
      },
    }),
  ];
};

/** What counts of a request. */
const countedPart = (request: KeptRequest) => ({
  status: request.status,
  client: request.client,
  provider: request.provider,
  failed: isFailed(request),
  lossy: isLossy(request),
});
type CountedPart = ReturnType<typeof countedPart>;

const countsOf = (requests: readonly CountedPart[]): Omit<HistoryCounts, 'truncated'> => ({
  requests: requests.length,
  failed: requests.filter(({ failed }) => failed).length,
  lossy: requests.filter(({ lossy }) => lossy).length,
  statuses: countBy(requests.flatMap(({ status }) => (status >= 400 ? [String(status)] : []))),
  clients: countBy(requests.flatMap(({ client }) => client ?? [])),
  providers: countBy(requests.flatMap(({ provider }) => provider ?? [])),
});

const countBy = (names: readonly string[]): Readonly<Record<string, number>> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return Object.fromEntries(counts);
};

/** Finds the newest kept request with this id; `endedAtMs`: the one that ended then. */
export const findKept = async (
  { search, write }: Pick<HistoryParts, 'search' | 'write'>,
  id: string,
  endedAtMs: number | undefined,
): Promise<KeptRequest | undefined> => {
  await write();
  const at = endedAtMs === undefined ? {} : { fromMs: endedAtMs, toMs: endedAtMs };
  const filter = { ...at, hint: JSON.stringify(id), matches: (request: KeptRequest) => request.id === id };
  let before: string | undefined;
  do {
    const { requests, next } = await search.find(filter, { limit: 1, maxBytes: maxSearchBytes }, before);
    if (requests[0]) return requests[0];
    before = next;
  } while (before !== undefined);
  return undefined;
};

async function* exportOf(
  { search, write, requests, baseUrl, version }: HistoryParts,
  filter: HistoryFilter,
  format: 'jsonl' | 'har',
  gate: Gate,
): AsyncGenerator<ReplyPart> {
  await write();
  const type = format === 'har' ? 'application/json; charset=utf-8' : 'application/jsonl; charset=utf-8';
  const disposition = `attachment; filename="requests.${format}"`;
  const headers = { 'content-type': type, 'content-disposition': disposition, 'cache-control': 'no-store' };
  yield { type: 'head', status: 200, headers };
  if (format === 'har') yield { type: 'data', data: harStart(version) };
  let before: string | undefined;
  let count = 0;
  do {
    const limits = { limit: Math.min(maxPage, maxExport - count), maxBytes: maxSearchBytes };
    const found = await search.find(filter, limits, before);
    for (const request of found.requests) {
      await gate.opened;
      if (format === 'jsonl') yield { type: 'data', data: `${JSON.stringify(request)}\n` };
      else {
        const capture = request.captured ? (await requests.find(request.id)).capture : undefined;
        yield { type: 'data', data: `${count === 0 ? '' : ','}\n${harEntry(request, baseUrl(), capture)}` };
      }
      count += 1;
    }
    before = found.next;
  } while (before !== undefined && count < maxExport);
  if (format === 'har') yield { type: 'data', data: harEnd };
}

/** Reads the filter of a query. Throws an `invalid-request` fault that names the parameter. */
export const readFilter = (params: URLSearchParams, nowMs: number): HistoryFilter => {
  const asked = (name: string): string | undefined => params.get(name)?.trim() || undefined;
  const time = (name: string): number | undefined => {
    const text = asked(name);
    if (text === undefined) return undefined;
    return (
      readTime(text, nowMs) ??
      fail('invalid-request', `${name} must be a time as 2026-01-31T08:00Z, or how long ago, as 36h or 7d.`, {
        param: name,
      })
    );
  };
  const [fromMs, toMs] = [time('from'), time('to')];
  const status = statusTest(asked('status'));
  const [provider, client, model, session] = [asked('provider'), asked('client'), asked('model'), asked('session')];
  const [scenario, lossy] = [asked('scenario'), asked('lossy')];
  const text = asked('text')?.toLowerCase();
  return {
    ...(fromMs !== undefined && { fromMs }),
    ...(toMs !== undefined && { toMs }),
    ...hintOf(session ?? client),
    matches: (request) =>
      status(request) &&
      (provider === undefined || request.provider === provider) &&
      (scenario === undefined || request.scenario === scenario) &&
      (lossy === undefined || isLossy(request)) &&
      (client === undefined || request.client === client) &&
      (session === undefined || request.session === session) &&
      (model === undefined || isOfModel(request, model)) &&
      (text === undefined || hasText(request, text)),
  };
};

const isoTime = (atMs: number): string => new Date(atMs).toISOString();

const hintOf = (name: string | undefined): Pick<HistoryFilter, 'hint'> =>
  name === undefined ? {} : { hint: JSON.stringify(name) };

const isOfModel = (request: KeptRequest, model: string): boolean =>
  request.model === model || request.asked === model || `${request.provider},${request.model}` === model;

const statusTest = (status: string | undefined): ((request: KeptRequest) => boolean) => {
  if (status === undefined) return () => true;
  if (status === 'failed') return isFailed;
  if (status === 'ok') return (request) => !isFailed(request) && request.status < 400;
  if (/^[1-5]xx$/.test(status)) return (request) => String(request.status)[0] === status[0];
  return /^[1-5]\d\d$/.test(status)
    ? (request) => request.status === Number(status)
    : fail('invalid-request', 'status must be ok, failed, or a status such as 429 or 5xx.', { param: 'status' });
};

const isFailed = ({ status, fault }: KeptRequest): boolean => hasFailed(status, fault !== undefined);

const isLossy = ({ losses }: KeptRequest): boolean => losses.length > 0;

const hasText = (request: KeptRequest, text: string): boolean => {
  const { id, session, asked, provider, model, path, scenario, reason, pool, preset, client, fault } = request;
  const texts = [id, session, asked, provider, model, path, scenario, reason, pool, preset, client];
  return [...texts, fault?.kind, fault?.message].some((one) => one?.toLowerCase().includes(text));
};
