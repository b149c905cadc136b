import type { Routed } from '../exchange.ts';
import { fieldPattern, plainPath } from '../field-pattern.ts';
import type { Loss } from '../model/loss.ts';
import type { Headers } from '../model/protocol.ts';
import { attemptsHeaders } from './attempts-header.ts';

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

/** Who served, by which rule, after which failures, and what was lost on the way there. */
export const routeHeaders = ({ resolution, context, delivery }: Routed): Headers => {
  const { provider, model, scenario } = resolution;
  const route = { 'x-switchyard-route': `${provider.name},${model};${scenario}`, ...attemptsHeaders(delivery) };
  return context.losses.size === 0 ? route : { ...route, 'x-switchyard-loss': lossHeader(context.losses.list) };
};

const maxLossHeader = 1_024;
const maxLossPath = 128;

/**
 * Losses in at most 1 KiB of plain characters: `dropped: top_k, tools[].cache_control*3; approximated: temperature; +12`. Fields
 * that differ in their indices alone are told once, with their number; the last number counts what had no room.
 */
export const lossHeader = (losses: readonly Loss[]): string => {
  let room = maxLossHeader - 'dropped: ; approximated: ; +999999'.length;
  let left = 0;
  const texts = (['dropped', 'approximated'] as const).flatMap((outcome) => {
    const kept: string[] = [];
    for (const paths of alike(losses.filter((loss) => loss.outcome === outcome))) {
      const text = lossText(paths);
      room -= text.length + 2;
      if (room < 0) left += paths.size;
      else kept.push(text);
    }
    return kept.length > 0 ? [`${outcome}: ${kept.join(', ')}`] : [];
  });
  return [...texts, ...(left > 0 ? [`+${left}`] : [])].join('; ');
};

/** The paths, those of one pattern together. */
const alike = (losses: readonly Loss[]): Iterable<ReadonlySet<string>> => {
  const byPattern = new Map<string, Set<string>>();
  for (const { path } of losses) {
    const pattern = fieldPattern(path);
    const paths = byPattern.get(pattern);
    if (paths) paths.add(path);
    else byPattern.set(pattern, new Set([path]));
  }
  return byPattern.values();
};

/** Clients choose the names of fields: what isn't plain, or would read as the list's own punctuation, is replaced. */
const lossText = (paths: ReadonlySet<string>): string => {
  const [first = ''] = paths;
  const text = plainPath(paths.size > 1 ? fieldPattern(first) : first);
  const short = text.length > maxLossPath ? `${text.slice(0, maxLossPath - 2)}..` : text;
  return paths.size > 1 ? `${short}*${paths.size}` : short;
};
