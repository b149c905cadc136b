import type { JsonObject } from '../model/json.ts';
import type { GraphEdge, GraphNode } from './graph.ts';
import type { Line } from './line.ts';

/** A line's graph for users: what runs, without the functions that do it. Holds no secret. */
export const showLine = (
  { client, provider, model, choice, graph, fault }: Line,
  routes: readonly string[],
): JsonObject => ({
  client: client.wire,
  provider: provider.name,
  model,
  routes,
  format: { name: choice.format.name, because: choice.because, entry: choice.entry },
  passThrough: { request: { ...graph.requestPassage }, reply: { ...graph.replyPassage } },
  fault: fault?.message ?? null,
  nodes: graph.nodes.map(showNode),
  edges: graph.edges.map(showEdge),
});

const showNode = ({ work: _, about, ...node }: GraphNode): JsonObject => ({ ...node, ...about });

const showEdge = (edge: GraphEdge): JsonObject => ({ ...edge });
