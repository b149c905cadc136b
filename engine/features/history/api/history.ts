import Type from 'typebox';
import { adminOperation, done, gated, jsonOperation, readNumber } from '../../../../admin/endpoint.ts';
import { Outcome } from '../../../../admin/schema.ts';
import type { ReplyPart } from '../../../http/endpoint.ts';
import { fail } from '../../../model/fault.ts';
import { parseJson } from '../../../model/json/json.ts';
import { reader } from '../../../model/schema.ts';
import type { Gate } from '../../../runtime/backpressure.ts';
import { type ClassSpan, type RequestFilter, sorts } from '../../../store/questions.ts';
import { type Classed, classBounds } from '../../../store/shapes.ts';
import { readTime } from '../../record/read-time.ts';
import {
  HistoryExtent,
  HistoryFacets,
  HistoryFailures,
  HistoryHistogram,
  HistoryPage,
  HistorySums,
  KeptRequest,
} from '../../record/schema.ts';
import type { SharedHistory } from '../shared-history.ts';
import type { StoredRequests } from '../stored-requests.ts';
import { harEnd, harEntry, harStart } from './har.ts';

/** Dependencies of the endpoints of the kept requests. */
export interface HistoryParts {
  /** Persisted requests; without `HISTORY`, those in memory. */
  readonly stored: StoredRequests;
  /** Finds captures; removes what is kept. */
  readonly requests: Pick<SharedHistory, 'find' | 'clear'>;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** For the addresses in a HAR. */
  readonly baseUrl: () => string;
  /** The service's own. */
  readonly version: string;
}

const maxPage = 500;

/** Requests of one export. */
const maxExport = 100_000;

const maxBars = 500;
const maxGroups = 200;

const classQuery = (what: string, name: Classed) =>
  Type.String({
    description: `${what}: a class of the facet as \`${classBounds[name][2]}\`, several as \`${classBounds[name][1]}-${classBounds[name][3]}\`, or \`${classBounds[name][2]}-\` for all from there on.`,
  });

const filterQuery = {
  from: Type.String({ description: 'A time (`2026-01-31T08:00Z`), or how long ago (`36h`, `7d`).' }),
  to: Type.String({ description: 'The end; default: now.' }),
  model: Type.String({ description: 'The model asked for or used, or `provider,model`.' }),
  provider: Type.String(),
  scenario: Type.String({ description: 'The rule that matched.' }),
  preset: Type.String(),
  lossy: Type.Enum(['true'], { description: 'Only those with a field that was dropped or approximated.' }),
  status: Type.String({ description: '`ok`, `failed`, or a status: `429`, `5xx`.' }),
  client: Type.String({ description: 'The name of a client of `CLIENTS`.' }),
  session: Type.String({ description: 'The id of a session.' }),
  text: Type.String({
    description: 'A part of an id, name, path, reason or fault; upper and lower case are the same.',
  }),
  duration: classQuery('Milliseconds to the end', 'duration'),
  firstByte: classQuery('Milliseconds to the first byte', 'firstByte'),
  cost: classQuery('Billionths of a USD', 'cost'),
  tools: classQuery('Called tools whose results it brought', 'tools'),
};

/** Ended requests that are kept on disk, of all processes of the service and of earlier ones. */
export const keptOperations = (parts: HistoryParts) => {
  const { stored } = parts;
  const filterIn = (query: string): RequestFilter => readFilter(new URLSearchParams(query), parts.nowMs());
  return {
    history: jsonOperation({
      summary: 'The requests that are kept on disk',
      says: 'Their summaries, those that ended last first, or the highest by a figure. Without `HISTORY`, those in memory.',
      reply: HistoryPage,
      query: {
        ...filterQuery,
        sort: Type.Enum(sorts, { default: 'time', description: 'Those without the figure are left out.' }),
        limit: Type.Integer({ minimum: 1, maximum: maxPage, default: 100 }),
        before: Type.String({ description: 'The `next` of an earlier answer.' }),
      },
      async answer({ query }) {
        const params = new URLSearchParams(query);
        const limit = readNumber(params, 'limit', 1, maxPage, 100);
        const sort = sorts.find((known) => known === (params.get('sort') || 'time'));
        if (!sort) return fail('invalid-request', `sort must be one of ${sorts.join(', ')}.`, { param: 'sort' });
        const before = readCursor(params);
        const page = await stored.ask('page', { filter: filterIn(query), sort, limit, before });
        return { requests: page.lines.flatMap(readLine), next: page.next ?? null, days: stored.days };
      },
    }),
    facets: jsonOperation({
      summary: 'How many requests there are of each value',
      says: 'Each facet counts what passes the other filters.',
      reply: HistoryFacets,
      query: filterQuery,
      answer: ({ query }) => stored.ask('facets', filterIn(query)),
    }),
    histogram: jsonOperation({
      summary: 'How many requests there are over time',
      says: 'Bars of equal length, from the first request or `from` to the last or `to`.',
      reply: HistoryHistogram,
      query: { ...filterQuery, bars: Type.Integer({ minimum: 1, maximum: maxBars, default: 60 }) },
      async answer({ query }) {
        const bars = readNumber(new URLSearchParams(query), 'bars', 1, maxBars, 60);
        const found = await stored.ask('histogram', { filter: filterIn(query), bars });
        return {
          barMs: found.barMs,
          bars: found.bars.map(({ fromMs, p95Ms, ...bar }) => ({
            from: fromMs,
            ...bar,
            ...(p95Ms !== undefined && { p95Ms }),
          })),
        };
      },
    }),
    failures: jsonOperation({
      summary: 'The failed requests by message',
      says: 'How many there are of each, and of which models.',
      reply: HistoryFailures,
      query: { ...filterQuery, limit: Type.Integer({ minimum: 1, maximum: maxGroups, default: 50 }) },
      async answer({ query }) {
        const limit = readNumber(new URLSearchParams(query), 'limit', 1, maxGroups, 50);
        const groups = await stored.ask('failures', { filter: filterIn(query), limit });
        return {
          failures: groups.map(({ firstMs, lastMs, ...group }) => ({ ...group, firstAt: firstMs, lastAt: lastMs })),
        };
      },
    }),
    sums: jsonOperation({
      summary: 'Tokens and cost of the requests by client and model',
      says: 'Of the requests that pass the filters.',
      reply: HistorySums,
      query: filterQuery,
      async answer({ query }) {
        const sums = await stored.ask('clientModels', filterIn(query));
        const named = (name: string): string | null => (name === '' ? null : name);
        return {
          sums: sums.map(({ client, provider, model, ...sum }) => ({
            client: named(client),
            provider: named(provider),
            model: named(model),
            ...sum,
          })),
        };
      },
    }),
    extent: jsonOperation({
      summary: 'How much is kept on disk',
      says: 'The number of requests, and when the first and the last one ended.',
      reply: HistoryExtent,
      async answer() {
        const { requests, bytes, fromMs, toMs } = await stored.ask('extent', null);
        const span = fromMs !== undefined && toMs !== undefined && { from: isoTime(fromMs), to: isoTime(toMs) };
        return { requests, bytes, ...span, days: stored.days };
      },
    }),
    clearHistory: jsonOperation({
      summary: 'Deletes the requests that are kept on disk',
      says: 'They are gone, and so are the list of recent requests and the captures. Usage keeps its sums.',
      reply: Outcome,
      async answer() {
        await parts.requests.clear('everything');
        return done('The history was deleted.');
      },
    }),
    export: adminOperation({
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
  };
};

const keptReader = reader(KeptRequest);

/** A line of the store; another program may have changed it. */
export const readLine = (line: string): readonly KeptRequest[] => {
  const value = parseJson(line);
  return keptReader.matches(value) ? [value] : [];
};

/** Reads the `next` of an earlier answer. */
export const readCursor = (params: URLSearchParams): string | undefined => {
  const before = params.get('before') || undefined;
  return before === undefined || cursorForm.test(before)
    ? before
    : fail('invalid-request', 'before must be the `next` of an earlier answer.', { param: 'before' });
};

const cursorForm = /^\d{1,16}(?:\.\d{1,16})?_\d{1,16}$/;

/** Finds the newest kept request with this id; `endedAtMs`: the one that ended then. */
export const findKept = async (
  { stored }: Pick<HistoryParts, 'stored'>,
  id: string,
  endedAtMs: number | undefined,
): Promise<KeptRequest | undefined> => {
  const line = await stored.ask('find', { id, endedAtMs });
  return line === undefined ? undefined : readLine(line)[0];
};

async function* exportOf(
  { stored, requests, baseUrl, version }: HistoryParts,
  filter: RequestFilter,
  format: 'jsonl' | 'har',
  gate: Gate,
): AsyncGenerator<ReplyPart> {
  const type = format === 'har' ? 'application/json; charset=utf-8' : 'application/jsonl; charset=utf-8';
  const disposition = `attachment; filename="requests.${format}"`;
  const headers = { 'content-type': type, 'content-disposition': disposition, 'cache-control': 'no-store' };
  yield { type: 'head', status: 200, headers };
  if (format === 'har') yield { type: 'data', data: harStart(version) };
  let before: string | undefined;
  let count = 0;
  do {
    const limit = Math.min(maxPage, maxExport - count);
    const found = await stored.ask('page', { filter, sort: 'time', limit, before }, before !== undefined);
    for (const request of found.lines.flatMap(readLine)) {
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
export const readFilter = (params: URLSearchParams, nowMs: number): RequestFilter => {
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
  const status = asked('status');
  if (status !== undefined && !statusForm.test(status))
    fail('invalid-request', 'status must be ok, failed, or a status such as 429 or 5xx.', { param: 'status' });
  const classes = (name: Classed): ClassSpan | undefined => readClasses(name, asked(name));
  return {
    fromMs: time('from'),
    toMs: time('to'),
    model: asked('model'),
    provider: asked('provider'),
    client: asked('client'),
    scenario: asked('scenario'),
    preset: asked('preset'),
    session: asked('session'),
    text: asked('text'),
    status,
    lossy: asked('lossy') !== undefined,
    duration: classes('duration'),
    firstByte: classes('firstByte'),
    cost: classes('cost'),
    tools: classes('tools'),
  };
};

const statusForm = /^(?:ok|failed|[1-5]xx|[1-5]\d\d)$/;

/** Reads `1000`, `1000-10000` or `1000-`: the lower ends of the first and the last class. */
const readClasses = (name: Classed, text: string | undefined): ClassSpan | undefined => {
  if (text === undefined) return undefined;
  const bounds: readonly number[] = classBounds[name];
  const [from = '', to] = text.split('-');
  const first = bounds.indexOf(Number(from || Number.NaN));
  const last = to === undefined ? first : to === '' ? bounds.length - 1 : bounds.indexOf(Number(to));
  return first >= 0 && last >= first
    ? { first, last }
    : fail(
        'invalid-request',
        `${name} must be one of ${bounds.join(', ')}, or two of them as ${bounds[1]}-${bounds[3]}.`,
        {
          param: name,
        },
      );
};

const isoTime = (atMs: number): string => new Date(atMs).toISOString();
