import type { Outcome, UpstreamRow as Upstream } from '../../../admin/schema.ts';
import { call } from './call.ts';

export type { Upstream };

/** A key that is left alone for a while. */
export type KeyRest = NonNullable<Upstream['keys'][number]['rest']>;

/** The lesson of a refusal. */
export type Taught = Upstream['taught'][number];

/** Forgets what a provider's refusals have taught of a field. */
export const forgetTaught = (provider: string, { model, field }: Taught): Promise<Outcome> =>
  call('/api/upstreams/taught', { method: 'DELETE', query: { provider, model, field } });

/** The state of the providers. */
export const readUpstreams = async (signal?: AbortSignal): Promise<readonly Upstream[]> =>
  (await call<{ readonly upstreams: readonly Upstream[] }>('/api/upstreams', { signal })).upstreams;
