import { call } from './call.ts';

/** A key that is left alone for a while. */
export interface KeyRest {
  readonly why: 'limited' | 'refused' | 'forbidden';
  /** For so many milliseconds more. */
  readonly forMs: number;
}

/** How a provider stands, in the process that answered. */
export interface Upstream {
  readonly provider: string;
  /** Requests at work. */
  readonly live: number;
  readonly retrying: number;
  readonly connections: { readonly inUse: number; readonly idle: number };
  readonly queue: { readonly length: number; readonly refused: number };
  /** By their place in the list, from 1 on. */
  readonly keys: readonly { readonly number: number; readonly rest: KeyRest | null }[];
  readonly models: readonly {
    readonly model: string;
    readonly breaker: 'closed' | 'open' | 'half-open';
    /** In a row. */
    readonly faults: number;
    /** Milliseconds until a request may try. */
    readonly waitMs: number;
    readonly resting: readonly (KeyRest & { readonly number: number })[];
  }[];
}

/** How the providers stand. */
export const readUpstreams = async (signal?: AbortSignal): Promise<readonly Upstream[]> =>
  (await call<{ readonly upstreams: readonly Upstream[] }>('/api/upstreams', { signal })).upstreams;
