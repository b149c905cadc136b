import { catchError, map, type Observable, of } from 'rxjs';
import type { Exchange, Ready } from '../exchange.ts';
import { bodyText } from '../model/call-body.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../model/json/json.ts';
import type { UpstreamProtocol } from '../model/protocol.ts';
import type { ModelRequest } from '../model/request.ts';
import { prepare } from '../pipeline.ts';
import type { Gateway } from '../routing/gateway.ts';
import { type PlanTap, tapPlan } from '../routing/plan/tap-plan.ts';
import { maskedKeys } from '../upstream/keys/command-keys.ts';

/** Whether the call of a request begins with that of the turn before. */
export interface CacheablePrefix {
  readonly grows: boolean;
  /** The first difference of the upstream's body; `null`: none. */
  readonly at: string | null;
  /** The step that made the difference: a stage or a format; `null`: none. */
  readonly step: string | null;
}

/** The request after a stage. */
interface Step {
  readonly name: string;
  /** The path of its entry in the configuration. */
  readonly entry: string;
  readonly before: ModelRequest;
  readonly request: ModelRequest;
}

/** The stages in their order. */
type Steps = Step[];

/** A request that is prepared with notes of its steps. */
export class TappedRequest {
  readonly steps: Steps = [];
  readonly gateway: Gateway;

  constructor(gateway: Gateway) {
    const request: PlanTap['request'] = ({ name, about: { entry = '' } }, before, after) => {
      this.steps.push({ name, entry, before, request: after });
    };
    const planFor: Gateway['planFor'] = (key) => tapPlan(gateway.planFor(key), { request, frozen: true });
    this.gateway = { ...gateway, commandKeys: maskedKeys(), planFor };
  }
}

/**
 * Compares a call with that of the same conversation before its last turn, which has to be its beginning: vendors cache prompts by their
 * prefix, and some bind reasoning to it. `undefined`: the conversation has no turn before, or its call can't be made.
 */
export const cacheablePrefix = (
  exchangeFor: (body: JsonObject) => Exchange,
  body: JsonObject,
  ready: Ready,
  later: TappedRequest,
): Observable<CacheablePrefix | undefined> => {
  const before = turnBefore(body, ready.client.turns);
  if (!before) return of(undefined);
  const earlier = new TappedRequest(later.gateway);
  // The destination is the same, whatever rules would say of the shorter conversation.
  const { provider, model } = ready.resolution;
  const at = { ...before, model: `${provider.name},${model}` };
  return of(exchangeFor(at)).pipe(
    prepare(earlier.gateway),
    map((one) => compare(one, ready, earlier.steps, later.steps.slice(0, later.steps.length - earlier.steps.length))),
    catchError(() => of(undefined)),
  );
};

/** The body of the turn before the last: the conversation up to where the model spoke last. */
const turnBefore = (body: JsonObject, list: string): JsonObject | undefined => {
  const items = body[list];
  if (!Array.isArray(items)) return undefined;
  const start = items.findLastIndex((item, index) => speaks(item) && index > 0 && !speaks(items[index - 1]));
  return start > 0 ? { ...body, [list]: items.slice(0, start) } : undefined;
};

/** Whether the model wrote the item. */
const speaks = (item: Json | undefined): boolean =>
  isJsonObject(item) &&
  (item.role === 'assistant' || (typeof item.type === 'string' && /^(?:reasoning|[a-z_]{1,40}_call)$/.test(item.type)));

const compare = (earlier: Ready, later: Ready, before: Steps, after: Steps): CacheablePrefix => {
  const at = differenceOf(bodyOf(earlier), bodyOf(later), later.plan.upstream.prompt);
  if (at === undefined) return { grows: true, at: null, step: null };
  const stage = before.find(({ request }, index) => {
    const other = after[index]?.request;
    return other && requestDiffers(request, other);
  });
  return { grows: false, at, step: stage?.name ?? later.plan.format.name };
};

const bodyOf = ({ call }: Ready): JsonObject => {
  const body = parseJson(bodyText(call.body));
  return isJsonObject(body) ? body : {};
};

const differenceOf = (
  earlier: JsonObject,
  later: JsonObject,
  { front, list }: UpstreamProtocol['prompt'],
): string | undefined => {
  const member = front.find((name) => textOf(earlier[name]) !== textOf(later[name]));
  if (member !== undefined) return member;
  const [items, others] = [earlier[list], later[list]].map((value) => (Array.isArray(value) ? value : []));
  const index = items?.findIndex((item, place) => textOf(item) !== textOf(others?.[place])) ?? -1;
  return index < 0 ? undefined : `${list}[${index}]`;
};

const requestDiffers = (earlier: ModelRequest, later: ModelRequest): boolean =>
  textOf([earlier.system, earlier.tools]) !== textOf([later.system, later.tools]) ||
  earlier.turns.some((turn, index) => textOf(turn) !== textOf(later.turns[index]));

/** A value as compared: marks for a cache aren't part of what it holds, and a text in parts is the same as the text. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (name, member: unknown) => {
    if (marks.has(name)) return undefined;
    return name === 'content' && typeof member === 'string' ? [{ type: 'text', text: member }] : member;
  }) ?? '';

const marks: ReadonlySet<string> = new Set(['cache', 'cache_control', 'prompt_cache_breakpoint', 'prefix']);
