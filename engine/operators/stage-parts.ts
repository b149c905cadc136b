import type { Routed } from '../exchange.ts';
import type { Gateway } from '../routing/gateway.ts';
import type { NodeDetails } from '../routing/plan/graph.ts';

/** The node of a stage. */
export interface StageOf {
  readonly id: string;
  readonly name: string;
  readonly position: number;
  readonly about: Pick<NodeDetails, 'entry' | 'asks' | 'timeoutMs' | 'onError'>;
}

/** The parts of a gateway that stages' contexts use. */
export type StageGateway = Pick<Gateway, 'config' | 'modelFacts' | 'stageMemories' | 'upstreams'>;

/** Time limit of a stage, in milliseconds. */
export const limitOf = ({ about }: StageOf, { config }: StageGateway): number =>
  about.timeoutMs ?? config.timeouts.stageMs;

/** Lifetime of a stage in an attempt: until the request is over, or the stage is left out. */
export class StageLife {
  readonly #routed: Routed;
  #endings: (() => void)[] = [];
  #isEnded = false;

  constructor(routed: Routed) {
    this.#routed = routed;
  }

  get isOver(): boolean {
    return this.#isEnded || this.#routed.isOver;
  }

  /** Calls `handler`, maybe twice, when it is over. */
  whenOver(handler: () => void): void {
    this.#endings.push(handler);
    this.#routed.whenOver(handler);
  }

  /** The stage is left out. */
  end(): void {
    this.#isEnded = true;
    for (const handler of this.#endings) handler();
    this.#endings = [];
  }
}
