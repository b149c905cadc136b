import { call } from './call.ts';
import type { Outcome } from './config.ts';

/** The processes of the service. */
interface ServiceState {
  readonly pid: number;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly restarts: number;
  /** The configuration's folder. */
  readonly home: string;
  readonly baseUrl: string;
  readonly providers: readonly string[];
  readonly workers: readonly { readonly pid: number; readonly startedAt: string }[];
  /** The process that gave this answer. */
  readonly answeredBy: number;
}

/** One name that a request may ask for. */
export interface ListedModel {
  readonly id: string;
  readonly owned_by?: string;
}

/** What the service tells of itself. */
export const readService = (signal?: AbortSignal): Promise<ServiceState> => call('/api/service', { signal });

/** Puts new processes in the place of those that serve; no stream is cut. */
export const restartService = (): Promise<Outcome> => call('/api/restart', { method: 'POST' });

/** Every name that a request may ask for. */
export const listModels = async (signal?: AbortSignal): Promise<readonly ListedModel[]> =>
  (await call<{ readonly data: readonly ListedModel[] }>('/v1/models', { signal })).data;
