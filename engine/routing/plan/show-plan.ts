import type { JsonObject } from '../../model/json/json.ts';
import type { GraphEdge, GraphNode } from './graph.ts';
import type { Plan } from './plan.ts';

/** A plan for users: its graph without the functions. Holds no secrets. */
export const showPlan = (
  { client, provider, model, choice, graph, fault }: Plan,
  routes: readonly string[],
): JsonObject => ({
  client: client.wire,
  provider: provider.name,
  model,
  routes,
  format: { name: choice.format.name, because: choice.because, entry: choice.entry },
  passThrough: { request: { ...graph.requestPassThrough }, reply: { ...graph.replyPassThrough } },
  fault: fault?.message ?? null,
  nodes: graph.nodes.map(showNode),
  edges: graph.edges.map(showEdge),
});

const showNode = ({ work: _, about, ...node }: GraphNode): JsonObject => ({ ...node, ...about });

const showEdge = (edge: GraphEdge): JsonObject => ({ ...edge });
