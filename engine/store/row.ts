import { isJsonObject, type Json, type JsonObject, parseJson } from '../model/json/json.ts';
import { hasFailed } from '../model/status.ts';
import type { Kind } from './kinds.ts';
import { shapeOf } from './shapes.ts';

/** A request as the tables have it. */
interface Row {
  readonly kind: Kind;
  readonly session: string | undefined;
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
  const request = parseJson(line);
  if (!isJsonObject(request)) return undefined;
  const [ended, started, status] = [request.endedAt, request.startedAt, request.status].map(numberIn);
  const [duration, id] = [numberIn(request.durationMs), textIn(request.id)];
  if (ended === undefined || started === undefined || status === undefined || duration === undefined || !id)
    return undefined;
  const fault = isJsonObject(request.fault) ? request.fault : undefined;
  const usage = isJsonObject(request.usage) ? request.usage : none;
  const [input, cacheRead, cacheWrite] = [usage.input, usage.cacheRead, usage.cacheWrite].map(numberIn);
  const [output, reasoning, cost] = [usage.output, usage.reasoning, request.cost].map(numberIn);
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

const none: JsonObject = {};

const numberIn = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

const textIn = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
