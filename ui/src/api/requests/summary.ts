import type { KeptRequest, RequestSummary } from '../../../../engine/features/record/schema.ts';

export type { KeptRequest, RequestSummary };

/** Whether it was answered with an error, or its response broke off; not if the client left. */
export const hasFailed = ({ status, fault }: Pick<RequestSummary, 'status' | 'fault'>): boolean =>
  status !== 499 && (status >= 400 || fault !== undefined);

/** When it ended, in milliseconds since 1970. */
export const endOf = ({ startedAt, durationMs }: Pick<RequestSummary, 'startedAt' | 'durationMs'>): number =>
  Math.round(startedAt + durationMs);
