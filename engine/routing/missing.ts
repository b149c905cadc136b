import type { Plan } from './plan/plan.ts';

/** Capabilities that an upstream may lack although its format has them: compaction of a conversation, counting of its tokens. */
type Capability = 'compaction' | 'counting';

/** Back-off before an upstream is asked for it again, in milliseconds. */
const askedAgainMs = 600_000;

/**
 * What upstreams have shown that they lack, by plan; they are asked again after a while. An entry is released with its plan, so there are as
 * many as plans, and a new configuration asks again.
 */
export class MissingCapabilities {
  readonly #untilMs: Readonly<Record<Capability, WeakMap<Plan, number>>> = {
    compaction: new WeakMap(),
    counting: new WeakMap(),
  };
  readonly #nowMs: () => number;

  /** `nowMs`: a monotonic clock, in milliseconds. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  has(plan: Plan, capability: Capability): boolean {
    return this.#nowMs() < (this.#untilMs[capability].get(plan) ?? Number.NEGATIVE_INFINITY);
  }

  add(plan: Plan, capability: Capability): void {
    this.#untilMs[capability].set(plan, this.#nowMs() + askedAgainMs);
  }
}
