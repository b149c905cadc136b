import Type from 'typebox';
import { sessionPart, sessionsOf } from '../../engine/features/history/sessions.ts';
import { maxSummaries } from '../../engine/features/record/record-lines.ts';
import { type Session, SessionDetail, SessionList } from '../../engine/features/record/schema.ts';
import type { DocumentedRoute } from '../../engine/http/documented-route.ts';
import { fail } from '../../engine/model/fault.ts';
import { jsonRoute, readNumber } from '../endpoint.ts';
import { readFilter } from './history.ts';
import { findNewest, type NewestParts, NewestRequests } from './newest.ts';

/** Requests that one question looks at. */
const maxRequests = 10_000;

/** Requests of one session. */
const maxDetail = 1_000;

const maxSessions = 200;

/**
 * Conversations, summed up from the history of requests.
 *
 * - `GET /api/sessions`: those with requests in a span of time.
 * - `GET /api/sessions/{id}`: one, with its requests.
 */
export const sessionRoutes = (parts: NewestParts): readonly DocumentedRoute[] => {
  const newest = new NewestRequests(parts, maxRequests, sessionPart);
  return [
    jsonRoute('GET', '/api/sessions', {
      summary: 'The sessions: requests of one conversation each',
      says: 'Their sums, of the requests in this time.',
      reply: SessionList,
      query: {
        from: Type.String({
          default: '24h',
          description: 'A time (`2026-01-31T08:00Z`), or how long ago (`36h`, `7d`).',
        }),
        to: Type.String({ description: 'The end; default: now.' }),
        client: Type.String({ description: 'The name of a client of `CLIENTS`.' }),
        status: Type.Enum(['failed'], { description: 'Only those with a failed request.' }),
        least: Type.Integer({ minimum: 1, default: 1, description: 'Only those of so many requests.' }),
        text: Type.String({
          description:
            "A part of an id, a client, a model, a tool, or a captured request's title; upper and lower case are the same.",
        }),
        limit: Type.Integer({ minimum: 1, maximum: maxSessions, default: 50 }),
      },
      async answer({ query }) {
        const asked = new URLSearchParams(query);
        const limit = readNumber(asked, 'limit', 1, maxSessions, 50);
        const params = new URLSearchParams({ from: '24h' });
        for (const name of ['from', 'to', 'client']) {
          const value = asked.get(name);
          if (value) params.set(name, value);
        }
        const filter = { hint: '"session":', ...readFilter(params, parts.history.nowMs()) };
        const { requests, truncated } = await newest.ask(params.toString(), filter);
        const least = readNumber(asked, 'least', 1, maxRequests, 1);
        const status = asked.get('status') ?? '';
        if (status !== '' && status !== 'failed')
          fail('invalid-request', 'status must be failed.', { param: 'status' });
        const text = (asked.get('text') ?? '').toLowerCase();
        const titles = text === '' ? new Map<string, string>() : await titlesOf(parts);
        const fitting = sessionsOf(requests).filter(
          (session) =>
            (status === '' || session.failed > 0) &&
            (text === '' || wordsOf(session, titles.get(session.id)).toLowerCase().includes(text)),
        );
        return {
          sessions: fitting.filter((session) => session.requests >= least).slice(0, limit),
          single: fitting.filter((session) => session.requests === 1).length,
          truncated,
        };
      },
    }),
    jsonRoute('GET', '/api/sessions/:id', {
      summary: 'One session, with its requests',
      says: 'Its sums and its requests; the newest 1,000.',
      reply: SessionDetail,
      async answer(_, { id = '' }) {
        const filter = readFilter(new URLSearchParams({ session: id }), parts.history.nowMs());
        const { requests, truncated } = await findNewest(parts, filter, maxDetail);
        const [session] = sessionsOf(requests.map(sessionPart));
        if (!session) return fail('not-found', 'There is no session of that id, or not any more.');
        return { session, requests: requests.toSorted((one, other) => one.startedAt - other.startedAt), truncated };
      },
    }),
  ];
};

/** The titles of captured requests, which are in memory alone, by their sessions. */
const titlesOf = async ({ requests }: NewestParts): Promise<ReadonlyMap<string, string>> => {
  const listed = (await requests.list(0, maxSummaries)).requests;
  return new Map(listed.flatMap(({ session, title }) => (session && title ? [[session, title] as const] : [])));
};

const wordsOf = ({ id, client = '', models, tools }: Session, title = ''): string =>
  [title, id, client, ...models.map(({ model }) => model), ...tools.map(({ name }) => name)].join(' ');
