import Type from 'typebox';
import { sessionsOf } from '../../engine/features/history/sessions.ts';
import { SessionDetail, SessionList } from '../../engine/features/record/schema.ts';
import type { DocumentedRoute } from '../../engine/http/documented-route.ts';
import { fail } from '../../engine/model/fault.ts';
import { jsonRoute, readNumber } from '../endpoint.ts';
import { findNewest, type NewestParts, readFilter } from './history.ts';

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
export const sessionRoutes = (parts: NewestParts): readonly DocumentedRoute[] => [
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
      const { requests, truncated } = await findNewest(
        parts,
        { hint: '"session":', ...readFilter(params, parts.history.nowMs()) },
        maxRequests,
      );
      return { sessions: sessionsOf(requests).slice(0, limit), truncated };
    },
  }),
  jsonRoute('GET', '/api/sessions/:id', {
    summary: 'One session, with its requests',
    says: 'Its sums and its requests; the newest 1,000.',
    reply: SessionDetail,
    async answer(_, { id = '' }) {
      const filter = readFilter(new URLSearchParams({ session: id }), parts.history.nowMs());
      const { requests, truncated } = await findNewest(parts, filter, maxDetail);
      const [session] = sessionsOf(requests);
      if (!session) return fail('not-found', 'There is no session of that id, or not any more.');
      return { session, requests: requests.toSorted((one, other) => one.startedAt - other.startedAt), truncated };
    },
  }),
];
