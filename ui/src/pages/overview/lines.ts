import type { Graph } from '../../api/config/graph.ts';
import type { Protocol } from '../../api/protocols.ts';
import type { Activity, LineActivity } from '../../api/requests/activity.ts';
import type { RequestSummary } from '../../api/requests/requests.ts';
import type { Tone } from '../../parts/text/badge.tsx';
import { median } from './median.ts';

/** A model of a provider, as a target of requests. */
export interface Destination {
  readonly provider: string;
  readonly model: string;
  /** Routes that lead there; empty: reached by name only. */
  readonly routes: readonly string[];
  /** The pools of which it is a member. */
  readonly pools: Graph['pools'];
  /** Its graph for each client protocol, where known. */
  readonly graphs: readonly Graph[];
  /** Why it can't serve requests. */
  readonly fault: string | undefined;
}

/** The traffic on one or several lines. */
export interface Traffic {
  readonly requests: number;
  readonly errors: number;
  readonly losses: number;
  readonly active: number;
  /** Over the last ten seconds. */
  readonly perSecond: number;
  /** Medians of the last requests. */
  readonly durationMs: number | undefined;
  readonly firstByteMs: number | undefined;
  /** The gateway's own part of it. */
  readonly overheadMs: number | undefined;
}

/** `provider,model`. */
export const nameOf = ({ provider, model }: { readonly provider: string; readonly model: string }): string =>
  `${provider},${model}`;

/** All configured destinations in the order of the routes, then those requested by name. */
export const destinationsOf = (graphs: readonly Graph[], activity: Activity | undefined): readonly Destination[] => {
  const found = new Map<string, Destination>();
  for (const graph of graphs) {
    const { provider, model, routes, pools, fault } = graph;
    const known = found.get(nameOf(graph));
    found.set(nameOf(graph), {
      provider,
      model,
      routes,
      pools,
      graphs: [...(known?.graphs ?? []), graph],
      fault: known?.fault ?? fault ?? undefined,
    });
  }
  for (const line of activity?.lines ?? []) {
    const { provider, model } = line;
    if (!found.has(nameOf(line)))
      found.set(nameOf(line), { provider, model, routes: [], pools: [], graphs: [], fault: undefined });
  }
  return [...found.values()];
};

/** How requests get there, for users. */
export const waysTo = ({ routes, pools }: Destination): string =>
  [...routes, ...pools.map(({ name }) => `pool ${name}`)].join(', ') || 'by name';

/** The traffic on the lines of one protocol, to one destination, or on all lines. */
export const trafficOn = (
  activity: Activity | undefined,
  requests: readonly RequestSummary[],
  { protocol, to }: { readonly protocol?: Protocol | undefined; readonly to?: Destination },
): Traffic => {
  const isOn = (line: { readonly protocol: Protocol; readonly provider?: string; readonly model?: string }): boolean =>
    (protocol === undefined || line.protocol === protocol) &&
    (to === undefined || (line.provider === to.provider && line.model === to.model));
  const lines = (activity?.lines ?? []).filter(isOn);
  const ended = requests.filter((request) => isOn(request));
  const sum = (pick: (line: LineActivity) => number): number => lines.reduce((total, line) => total + pick(line), 0);
  return {
    requests: sum((line) => line.requests),
    errors: sum((line) => line.errors),
    losses: sum((line) => line.losses),
    active: sum((line) => line.active),
    perSecond: sum((line) => line.perSecond),
    durationMs: median(ended.map(({ durationMs }) => durationMs)),
    firstByteMs: median(ended.flatMap(({ firstByteMs }) => (firstByteMs === undefined ? [] : [firstByteMs]))),
    overheadMs: median(ended.flatMap(({ overheadMs }) => (overheadMs === undefined ? [] : [overheadMs]))),
  };
};

/** The status of a line: red if a quarter of its requests failed, amber if some did. */
export const toneOf = ({ requests, errors }: Traffic, fault?: string): Tone => {
  if (fault !== undefined) return 'bad';
  if (requests === 0) return 'plain';
  if (errors * 4 >= requests) return 'bad';
  return errors > 0 ? 'warn' : 'ok';
};
