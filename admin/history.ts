import Type from 'typebox';
import { fail } from '../engine/model/fault.ts';
import type { HistoryFilter, HistorySearch } from '../engine/observe/history/files/search-history.ts';
import { hasFailed } from '../engine/observe/history/history.ts';
import { HistoryPage, type KeptRequest } from '../engine/observe/history/schema.ts';
import { readTime } from '../engine/observe/usage/report.ts';
import { type DocumentedRoute, jsonRoute } from './endpoint.ts';

/** Dependencies of the endpoints of the kept requests. */
export interface HistoryParts {
  readonly search: HistorySearch;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Has all processes of the service write what has ended. */
  readonly write: () => Promise<void>;
}

/** Bytes that one search looks at; the next one goes on there. */
const maxSearchBytes = 16 << 20;

const maxPage = 500;

const filterQuery = {
  from: Type.String({ description: 'A time (`2026-01-31T08:00Z`), or how long ago (`36h`, `7d`).' }),
  to: Type.String({ description: 'The end; default: now.' }),
  model: Type.String({ description: 'The model asked for or used, or `provider,model`.' }),
  provider: Type.String(),
  status: Type.String({ description: '`ok`, `failed`, or a status: `429`, `5xx`.' }),
  client: Type.String({ description: 'The name of a client of `CLIENTS`.' }),
  text: Type.String({
    description: 'A part of an id, name, path, reason or fault; upper and lower case are the same.',
  }),
};

/** `GET /api/history`: ended requests that are kept on disk, of all processes of the service and of earlier ones. */
export const historyRoutes = ({ search, nowMs, write }: HistoryParts): readonly DocumentedRoute[] => [
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
      const limits = { limit: readLimit(params.get('limit')), maxBytes: maxSearchBytes };
      const filter = readFilter(params, nowMs());
      await write();
      const { requests, next = null } = await search.find(filter, limits, params.get('before') ?? undefined);
      return { requests, next };
    },
  }),
];

const readLimit = (text: string | null): number => {
  const limit = /^\d{1,4}$/.test(text ?? '100') ? Number(text ?? 100) : 0;
  return limit >= 1 && limit <= maxPage
    ? limit
    : fail('invalid-request', `limit must be a whole number from 1 to ${maxPage}.`, { param: 'limit' });
};

/** Reads the filter of a query. Throws an `invalid-request` fault that names the parameter. */
const readFilter = (params: URLSearchParams, nowMs: number): HistoryFilter => {
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
  const [provider, client, model] = [asked('provider'), asked('client'), asked('model')];
  const text = asked('text')?.toLowerCase();
  return {
    ...(fromMs !== undefined && { fromMs }),
    ...(toMs !== undefined && { toMs }),
    ...(client !== undefined && { hint: JSON.stringify(client) }),
    matches: (request) =>
      status(request) &&
      (provider === undefined || request.provider === provider) &&
      (client === undefined || request.client === client) &&
      (model === undefined || isOfModel(request, model)) &&
      (text === undefined || hasText(request, text)),
  };
};

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

const hasText = (request: KeptRequest, text: string): boolean => {
  const { id, asked, provider, model, path, scenario, reason, pool, preset, client, fault } = request;
  return [id, asked, provider, model, path, scenario, reason, pool, preset, client, fault?.kind, fault?.message].some(
    (one) => one?.toLowerCase().includes(text),
  );
};
