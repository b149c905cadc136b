import type { RoutingGraph } from './routing-graph.ts';

/** The nodes of all ways through one: what leads there, and where it leads. */
export const relatedTo = ({ nodes, links }: RoutingGraph, id: string): ReadonlySet<string> => {
  /** Stages stand for the destinations beside them. */
  const rowsOf = (one: string): readonly string[] => nodes.find((node) => node.id === one)?.rows ?? [one];
  const hops = [
    ...links.flatMap(({ from, to, row, isAsk }) =>
      from.startsWith('stages/') && !isAsk ? [] : rowsOf(from).map((start) => [start, row ?? to] as const),
    ),
    ...nodes.flatMap((node) =>
      node.id.startsWith('member/') ? [[`pool/${node.id.split('/')[1]}`, node.id] as const] : [],
    ),
  ];
  const follow = (side: 0 | 1): ReadonlySet<string> => {
    const found = new Set(rowsOf(id));
    // Those that are added on the way are visited, too.
    for (const one of found) for (const hop of hops) if (hop[side] === one) found.add(hop[side === 0 ? 1 : 0]);
    return found;
  };
  const ways = new Set([...follow(0), ...follow(1)]);
  return new Set([...ways, ...nodes.flatMap((node) => (node.rows?.some((row) => ways.has(row)) ? [node.id] : []))]);
};
