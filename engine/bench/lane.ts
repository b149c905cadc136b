import type { UpstreamPlan } from './upstream/plan.ts';
import type { Pair, Wire } from './wire.ts';

/** Lanes that are served by the same start of the gateways. */
export interface LaneGroup {
  /** What the provider speaks whom a bare model name reaches. */
  readonly upstream: Wire;
  readonly lanes: readonly Lane[];
}

/** One way from a client to a provider. */
export interface Lane {
  /** `messages→chat`, `responses→chat, WebSocket`. */
  readonly name: string;
  readonly pair: Pair;
  readonly webSocket: boolean;
  /** The model that clients ask for; absent: `askedModel`. */
  readonly model?: string;
  /** A recorded request and its answer, in place of the simulated ones. */
  readonly recorded?: { readonly path: string; readonly body: string; readonly plan: UpstreamPlan };
}
