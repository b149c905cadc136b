import type { Gateway } from '../routing/gateway.ts';

/** The node of a stage. */
export interface StageOf {
  readonly id: string;
  readonly name: string;
  readonly position: number;
  readonly about: { readonly entry?: string; readonly asks?: readonly string[] };
}

/** What stages' contexts need of a gateway. */
export type StageGateway = Pick<Gateway, 'config' | 'modelFacts' | 'stageMemories'>;
