import type { Plan } from './plan.ts';

/** A plan for users: its graph without the functions. Holds no secrets. */
export const showPlan = ({ client, provider, model, choice, graph, fault }: Plan, routes: readonly string[]) => ({
  client: client.wire,
  provider: provider.name,
  model,
  routes,
  format: {
    name: choice.format.name,
    because: choice.because,
    ...(choice.entry !== undefined && { entry: choice.entry }),
  },
  passThrough: { request: graph.requestPassThrough, reply: graph.replyPassThrough },
  fault: fault?.message ?? null,
  nodes: graph.nodes.map(({ work: _, about, ...node }) => ({ ...node, ...about })),
  edges: graph.edges,
});
