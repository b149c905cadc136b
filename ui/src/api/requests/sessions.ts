import type { Session, SessionDetail, SessionList } from '../../../../engine/features/record/schema.ts';
import { call } from '../call.ts';

export type { Session };

/** Filters of sessions; the gateway filters before it limits their number. */
interface SessionQuery {
  /** Since when they were used: `24h`. */
  readonly from: string;
  readonly client?: string | undefined;
  readonly status?: 'failed' | undefined;
  readonly text?: string | undefined;
  /** Only those of so many requests. */
  readonly least: number;
}

/** The sessions that pass, the newest first. */
export const listSessions = (query: SessionQuery, signal?: AbortSignal): Promise<SessionList> =>
  call('/api/sessions', { query: { ...query, limit: 200 }, signal });

/** One session, with its requests. Fails with status 404 when none are known. */
export const readSession = (id: string, signal?: AbortSignal): Promise<SessionDetail> =>
  call(`/api/sessions/${encodeURIComponent(id)}`, { signal });
