import type { Routed } from '../exchange.ts';
import type { Loss } from '../model/loss.ts';
import type { Headers } from '../model/protocol.ts';

/** What every SSE answer says of itself: proxies on the way are neither to buffer nor to rewrite it. */
export const streamHeaders: Headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

export const jsonHeaders: Headers = { 'content-type': 'application/json; charset=utf-8' };

/** Those of an upstream's headers that tell a client about limits and waiting. */
export const limitHeaders = (headers: Headers): Headers => {
  const kept: Record<string, string> = {};
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && limitHeader.test(name)) kept[name] = value;
  }
  return kept;
};

const limitHeader = /^(?:retry-after(?:-ms)?|x-should-retry|x-ratelimit-.+|[a-z]+-ratelimit-.+)$/;

/** Who served, by which rule, and what was lost on the way there. */
export const routeHeaders = ({ resolution, context }: Routed): Headers => {
  const { provider, model, scenario } = resolution;
  const route = { 'x-switchyard-route': `${provider.name},${model};${scenario}` };
  return context.losses.size === 0 ? route : { ...route, 'x-switchyard-loss': lossHeader(context.losses.list) };
};

const maxLossHeader = 1_024;

/** Losses in at most 1 KiB: `dropped: top_k, seed; approximated: temperature; +12`, where the number counts what had no room. */
export const lossHeader = (losses: readonly Loss[]): string => {
  const kept: Record<Loss['outcome'], string[]> = { dropped: [], approximated: [] };
  let room = maxLossHeader - 'dropped: ; approximated: ; +999999'.length;
  let left = 0;
  for (const { outcome, path } of losses) {
    room -= path.length + 2;
    if (room < 0) left += 1;
    else kept[outcome].push(path);
  }
  const lists = Object.entries(kept).filter(([, paths]) => paths.length > 0);
  const texts = lists.map(([outcome, paths]) => `${outcome}: ${paths.join(', ')}`);
  return [...texts, ...(left > 0 ? [`+${left}`] : [])].join('; ');
};
