import { isJsonObject, type Json, type JsonObject } from '../model/json/json.ts';
import { hasFailed } from '../model/status.ts';
import { UseSums } from './client-use.ts';
import type { Kind } from './kinds.ts';
import { shapeOf } from './shapes.ts';
import type { CountedRequest } from './usage.ts';

/** A request as the tables have it. */
interface Row {
  readonly kind: Kind;
  readonly session: string | undefined;
  readonly endedMs: number;
  /** What it adds to the sums of its series, which its kind tells. */
  readonly counted: CountedRequest;
  /** Its limits allowed it, so it is part of its client's use. */
  readonly admitted: boolean;
  /** The columns of `requests` but `id`, `kind` and `session`, in `rowColumns`' order. */
  readonly values: readonly (string | number | null)[];
}

/** Columns of `requests`. */
export const rowColumns = [
  'ended',
  'shape',
  'duration',
  'first_byte',
  'cost',
  'tokens',
  'started',
  'turns',
  'input',
  'cache_read',
  'cache_write',
  'output',
  'reasoning',
  'request',
  'tools',
  'reason',
  'fault',
] as const;

/** Reads the line of a request, a `KeptRequest` as JSON text; `undefined` for anything else. */
export const rowOf = (line: string): Row | undefined => {
  const request = parsed(line);
  if (!isJsonObject(request)) return undefined;
  const [ended, started, status] = [request.endedAt, request.startedAt, request.status].map(numberIn);
  const [duration, id] = [numberIn(request.durationMs), textIn(request.id)];
  if (ended === undefined || started === undefined || status === undefined || duration === undefined || !id)
    return undefined;
  const fault = isJsonObject(request.fault) ? request.fault : undefined;
  const usage = isJsonObject(request.usage) ? request.usage : none;
  const [input, cacheRead, cacheWrite] = [usage.input, usage.cacheRead, usage.cacheWrite].map((one) => countIn(one));
  const [output, reasoning] = [usage.output, usage.reasoning].map((one) => countIn(one));
  const cost = countIn(request.cost, mostCost);
  const tools = Array.isArray(request.tools) ? request.tools.map(String) : [];
  const failed = hasFailed(status, fault !== undefined);
  const firstByte = numberIn(request.firstByteMs);
  const lossy = Array.isArray(request.losses) && request.losses.length > 0;
  return {
    kind: {
      protocol: textIn(request.protocol),
      provider: textIn(request.provider),
      model: textIn(request.model),
      asked: textIn(request.asked),
      client: textIn(request.client),
      preset: textIn(request.preset),
      scenario: textIn(request.scenario),
      pool: textIn(request.pool),
      path: textIn(request.path),
      status,
      failed,
    },
    session: textIn(request.session) || undefined,
    endedMs: ended,
    counted: countedOf(request, { failed, duration, firstByte }),
    admitted: request.admitted === true && textIn(request.client) !== '',
    values: [
      ended,
      shapeOf({ duration, firstByte, cost, tools: tools.length, lossy, failed }),
      duration,
      firstByte ?? null,
      cost ?? null,
      (input ?? 0) + (cacheRead ?? 0) + (cacheWrite ?? 0) + (output ?? 0),
      started,
      numberIn(request.turns) ?? null,
      input ?? null,
      cacheRead ?? null,
      cacheWrite ?? null,
      output ?? null,
      reasoning ?? null,
      id,
      tools.length > 0 ? JSON.stringify(tools) : null,
      textIn(request.reason) || null,
      fault ? `${textIn(fault.kind)}: ${textIn(fault.message)}` : null,
    ],
  };
};

/** Without the digits that a double can't hold, which cost as much again: counts are smaller, and the line is kept as it came. */
const parsed = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

/** What the requests of a batch of lines add to the use of their clients. */
export const usedIn = (lines: string): UseSums => {
  const sums = new UseSums();
  for (const line of lines.split('\n')) {
    const row = line === '' ? undefined : rowOf(line);
    if (row) addUse(sums, row);
  }
  return sums;
};

/** Adds what a request adds to the use of its client. */
export const addUse = (sums: UseSums, { kind, endedMs, admitted, counted }: Row): void => {
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0, cost = 0, unpriced = 0 } = counted.sums;
  if (admitted)
    sums.addAt(endedMs, kind.client, { requests: 1, input: input + cacheRead + cacheWrite, output, cost, unpriced });
};

/** What a request adds to the sums. */
const countedOf = (
  request: JsonObject,
  {
    failed,
    duration,
    firstByte,
  }: { readonly failed: boolean; readonly duration: number; readonly firstByte: number | undefined },
): CountedRequest => {
  const usage = isJsonObject(request.usage) ? request.usage : none;
  const [input, cacheRead, cacheWrite] = [usage.input, usage.cacheRead, usage.cacheWrite].map((one) => countIn(one));
  const [output, reasoning] = [usage.output, usage.reasoning].map((one) => countIn(one));
  const [cost, atDefault] = [request.cost, request.defaultCost].map((one) => countIn(one, mostCost));
  const isCharged = request.charged === true;
  const isEstimated = request.estimated === true;
  const isPartial = (input ?? cacheRead ?? cacheWrite) === undefined || output === undefined;
  const isCompared = cost !== undefined && atDefault !== undefined;
  const losses = Array.isArray(request.losses) ? request.losses.length : 0;
  return {
    sums: {
      requests: 1,
      errors: failed ? 1 : 0,
      retries: countIn(request.retries) ?? 0,
      losses: losses + (countIn(request.lossesOmitted) ?? 0),
      input: input ?? 0,
      cacheRead: cacheRead ?? 0,
      cacheWrite: cacheWrite ?? 0,
      output: output ?? 0,
      reasoning: reasoning ?? 0,
      cost: cost ?? 0,
      unpriced: isCharged && cost === undefined ? 1 : 0,
      saved: isCompared ? atDefault - cost : 0,
      uncompared: isCharged && !isCompared ? 1 : 0,
      uncounted: isCharged && (isEstimated || isPartial) ? 1 : 0,
    },
    times: { firstByte, duration, overhead: numberIn(request.overheadMs) },
  };
};

/** The most tokens and billionths of a USD that one request counts: an upstream's figures may be any number, and sums must stay exact. */
const mostTokens = 2 ** 32;
const mostCost = 2 ** 44;

const countIn = (value: Json | undefined, most = mostTokens): number | undefined => {
  const count = numberIn(value);
  return count === undefined || count < 0 ? undefined : Math.min(most, Math.round(count));
};

const none: JsonObject = {};

const numberIn = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
