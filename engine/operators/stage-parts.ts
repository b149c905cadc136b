import type { Gateway } from '../routing/gateway.ts';
import type { NodeDetails } from '../routing/plan/graph.ts';

/** The node of a stage. */
export interface StageOf {
  readonly id: string;
  readonly name: string;
  readonly position: number;
  readonly about: Pick<NodeDetails, 'entry' | 'asks' | 'timeoutMs'>;
}

/** What stages' contexts need of a gateway. */
export type StageGateway = Pick<Gateway, 'config' | 'modelFacts' | 'stageMemories'>;

/** How long a stage may take, in milliseconds. */
export const limitOf = ({ about }: StageOf, { config }: StageGateway): number =>
  about.timeoutMs ?? config.timeouts.stageMs;
