import type { UpstreamRow as Upstream } from '../../../admin/schema.ts';
import { call } from './call.ts';

export type { Upstream };

/** A key that is left alone for a while. */
export type KeyRest = NonNullable<Upstream['keys'][number]['rest']>;

/** How the providers stand. */
export const readUpstreams = async (signal?: AbortSignal): Promise<readonly Upstream[]> =>
  (await call<{ readonly upstreams: readonly Upstream[] }>('/api/upstreams', { signal })).upstreams;
