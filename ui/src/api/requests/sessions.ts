import type { Session, SessionDetail, SessionList } from '../../../../engine/features/record/schema.ts';
import { call } from '../call.ts';

export type { Session };

/** The sessions that were used since so long ago: `24h`. */
export const listSessions = (from: string, signal?: AbortSignal): Promise<SessionList> =>
  call('/api/sessions', { query: { from, limit: 200 }, signal });

/** One session, with its requests. Fails with status 404 when none are known. */
export const readSession = (id: string, signal?: AbortSignal): Promise<SessionDetail> =>
  call(`/api/sessions/${encodeURIComponent(id)}`, { signal });
