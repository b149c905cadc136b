import Type from 'typebox';
import { jsonOperation, readNumber } from '../../../../admin/endpoint.ts';
import { fail } from '../../../model/fault.ts';
import { maxSummaries } from '../../record/pending-lines.ts';
import { SessionDetail, SessionList } from '../../record/schema.ts';
import { sessionsOf } from '../sessions.ts';
import type { SharedHistory } from '../shared-history.ts';
import { type HistoryParts, readCursor, readFilter, readLine } from './history.ts';

/** Dependencies of the endpoints of sessions. */
interface SessionParts {
  readonly history: Pick<HistoryParts, 'stored' | 'nowMs'>;
  /** Requests in memory, which alone have titles. */
  readonly requests: Pick<SharedHistory, 'list'>;
}

/** The most requests that `least` may ask for. */
const maxLeast = 1_000_000;

/** Requests of one session. */
const maxDetail = 1_000;

const maxSessions = 200;

/** Conversations, summed up from the history of requests. */
export const sessionOperations = (parts: SessionParts) => {
  const { stored, nowMs } = parts.history;
  return {
    sessions: jsonOperation({
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
        before: Type.String({ description: 'The `next` of an earlier answer.' }),
      },
      async answer({ query }) {
        const asked = new URLSearchParams(query);
        const limit = readNumber(asked, 'limit', 1, maxSessions, 50);
        const params = new URLSearchParams({ from: '24h' });
        for (const name of ['from', 'to', 'client']) {
          const value = asked.get(name);
          if (value) params.set(name, value);
        }
        const status = asked.get('status') ?? '';
        if (status !== '' && status !== 'failed')
          fail('invalid-request', 'status must be failed.', { param: 'status' });
        const text = (asked.get('text') ?? '').toLowerCase();
        const {
          ids,
          parts: found,
          ...others
        } = await stored.ask('sessions', {
          filter: readFilter(params, nowMs()),
          least: readNumber(asked, 'least', 1, maxLeast, 1),
          failed: status === 'failed',
          text,
          titled: text === '' ? [] : await titledWith(parts, text),
          limit,
          before: readCursor(asked),
        });
        return { ...others, sessions: sessionsOf(found), next: others.next ?? null };
      },
    }),
    session: jsonOperation({
      summary: 'One session, with its requests',
      says: 'Its sums and its requests; the newest 1,000.',
      reply: SessionDetail,
      async answer(_, { id = '' }) {
        const filter = readFilter(new URLSearchParams({ session: id }), nowMs());
        const query = { filter, least: 1, failed: false, text: '', titled: [], limit: 1 };
        const { parts: found, truncated } = await stored.ask('sessions', query);
        const [session] = sessionsOf(found);
        if (!session) return fail('not-found', 'There is no session of that id, or not any more.');
        const { lines, next } = await stored.ask('page', { filter, sort: 'time', limit: maxDetail }, true);
        return {
          session,
          requests: lines.flatMap(readLine).toSorted((one, other) => one.startedAt - other.startedAt),
          truncated: truncated || next !== undefined,
        };
      },
    }),
  };
};

/** Sessions with a captured request whose title, which is in memory alone, has this text. */
const titledWith = async ({ requests }: SessionParts, text: string): Promise<readonly string[]> => {
  const listed = (await requests.list(0, maxSummaries)).requests;
  return listed.flatMap(({ session, title }) => (session && title?.toLowerCase().includes(text) ? session : []));
};
