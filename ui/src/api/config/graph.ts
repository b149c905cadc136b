import type { PlanGraph as Graph } from '../../../../admin/schema.ts';
import { call } from '../call.ts';
import type { Protocol } from '../protocols.ts';

export type { Graph };

/** A step of a request's way. */
export type GraphNode = Graph['nodes'][number];

/** What a node is there for. */
export type Step = GraphNode['step'];

/** The graphs of all configured routes, or of one destination. */
export const readGraphs = async (
  query: { readonly client?: Protocol; readonly provider?: string; readonly model?: string } = {},
  signal?: AbortSignal,
): Promise<readonly Graph[]> =>
  (await call<{ readonly graphs: readonly Graph[] }>('/api/graph', { query: { ...query }, signal })).graphs;
