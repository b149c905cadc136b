import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import type { Losses } from '../loss.ts';
import { leastRoom } from './output-refusal.ts';
import { outputPaths, taughtFields } from './taught-fields.ts';

/** A refusal of a provider's model, and the resulting change of requests to it. */
export type Lesson =
  /** Left out; with `beside`, only where that is sent too. */
  | { readonly does: 'leave'; readonly field: string; readonly beside?: string | undefined }
  /** Replaced by the nearest of these values. */
  | { readonly does: 'replace'; readonly field: string; readonly allowed: readonly string[] }
  /** Raised or lowered to this range; of a list, its length. */
  | {
      readonly does: 'bound';
      readonly field: string;
      readonly min?: number | undefined;
      readonly max?: number | undefined;
    }
  /** Sent under another name. */
  | { readonly does: 'rename'; readonly field: string; readonly to: string }
  /** Maximum of an answer, in tokens. */
  | { readonly does: 'limit'; readonly field: 'max_tokens'; readonly max: number }
  /**
   * What prompt and answer may have together, in tokens. `perToken`: the host's tokens for one of the estimate, as seen with a prompt
   * of the estimate `at`.
   */
  | {
      readonly does: 'fit';
      readonly field: 'max_tokens';
      readonly window: number;
      readonly perToken: number;
      readonly at: number;
    }
  /** A name that the betas lack, in their header or the body's list; `*`: all of them. */
  | { readonly does: 'beta'; readonly field: string };

/** A call, as it is changed. */
export interface TaughtCall {
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
}

/** Changes a call by what was taught. Returns the same objects if nothing applies. `estimate`: the prompt's tokens. */
export const applyLessons = (
  call: TaughtCall,
  lessons: readonly Lesson[],
  estimate: number,
  losses?: Losses,
): TaughtCall => lessons.reduce((changed, lesson) => applyLesson(changed, lesson, estimate, losses), call);

const why = 'the provider has refused it';

const applyLesson = (call: TaughtCall, lesson: Lesson, estimate: number, losses?: Losses): TaughtCall => {
  const { body } = call;
  const edit = (change: (value: Json) => Json | undefined, note: (value: Json) => string | undefined): TaughtCall => {
    let changed = body;
    for (const path of pathsOf(lesson.field)) {
      changed = changeAt(changed, path.split('.'), (value) => {
        const next = change(value);
        if (next === undefined) losses?.drop(lossOf(path), why);
        else if (next !== value) losses?.approximate(lossOf(path), note(next));
        return next;
      });
    }
    return changed === body ? call : { ...call, body: changed };
  };
  switch (lesson.does) {
    case 'leave':
      if (lesson.beside !== undefined && sentAt(body, lesson.beside) === undefined) return call;
      return edit(
        () => undefined,
        () => why,
      );
    case 'replace':
      return edit(
        (value) => nearest(lesson.field, value, lesson.allowed),
        (value) => `${String(value)}: ${why}`,
      );
    case 'bound':
      return edit(
        (value) => bounded(value, lesson),
        () => why,
      );
    case 'rename': {
      const value = body[lesson.field];
      if (value === undefined || body[lesson.to] !== undefined) return call;
      const { [lesson.field]: _, ...others } = body;
      return { ...call, body: { ...others, [lesson.to]: value } };
    }
    case 'limit':
      return lowerTo(call, lesson.max, losses);
    case 'fit': {
      const room = roomIn(lesson, estimate);
      return room < leastRoom(lesson.window) ? call : lowerTo(call, room, losses);
    }
    case 'beta':
      return withoutBeta(call, lesson.field, losses);
    default:
      return lesson satisfies never;
  }
};

/** Tokens from which on a prompt tells how a host counts. */
const tellingPrompt = 1_000;

/** Tokens that a prompt may have beyond the estimate: the host's template and its names of tools. */
const spare = (window: number): number => Math.min(window >> 4, Math.max(256, window >> 6));

/** Tokens that are left for the answer, with some to spare for a prompt other than the one that was refused. */
const roomIn = ({ window, perToken, at }: Extract<Lesson, { does: 'fit' }>, estimate: number): number => {
  if (estimate === at) return window - Math.round(estimate * perToken);
  // A short prompt says little about how the host counts long ones.
  const prompt = Math.ceil(estimate * (at < tellingPrompt ? Math.max(1, perToken) : perToken));
  return window - prompt - Math.ceil(prompt / 50) - spare(window);
};

/** The output limit that a body has, in tokens. */
export const outputLimitIn = (body: JsonObject): number | undefined => {
  let found: number | undefined;
  for (const path of outputPaths) {
    changeAt(body, path.split('.'), (value) => {
      if (typeof value === 'number') found ??= value;
      return value;
    });
  }
  return found;
};

/** The least budget of reasoning in tokens. Source: Anthropic API reference, "Extended thinking". */
const leastBudget = 1_024;

/** Lowers the output limit, and a budget of reasoning that wouldn't be below it. */
const lowerTo = (call: TaughtCall, max: number, losses?: Losses): TaughtCall => {
  let { body } = call;
  for (const path of outputPaths) {
    body = changeAt(body, path.split('.'), (value) => {
      if (typeof value !== 'number' || value <= max) return value;
      losses?.approximate(lossOf(path), `${max}, the most that fits`);
      return max;
    });
  }
  const { thinking } = body;
  if (
    body !== call.body &&
    isJsonObject(thinking) &&
    typeof thinking.budget_tokens === 'number' &&
    thinking.budget_tokens >= max
  ) {
    losses?.approximate('thinking.budget_tokens', 'it must be below the output limit');
    const { thinking: _, ...others } = body;
    body =
      max > leastBudget
        ? { ...body, thinking: { ...thinking, budget_tokens: Math.max(leastBudget, max >> 1) } }
        : others;
  }
  return body === call.body ? call : { ...call, body };
};

const bounded = (
  value: Json,
  { min = -Infinity, max = Infinity }: { readonly min?: number | undefined; readonly max?: number | undefined },
): Json => {
  if (Array.isArray(value)) return value.length > max ? value.slice(0, max) : value;
  return typeof value === 'number' ? Math.min(max, Math.max(min, value)) : value;
};

/** The allowed value next to the one sent; `undefined` if none stands for it: reasoning isn't switched off for a client that wants some. */
const nearest = (field: string, value: Json, allowed: readonly string[]): Json | undefined => {
  if (typeof value !== 'string' || allowed.includes(value)) return value;
  const order = fieldOf(field)?.order ?? [];
  const at = order.indexOf(value.toLowerCase());
  const usable = value === 'none' ? allowed : allowed.filter((word) => word !== 'none');
  const ranked = usable.filter((word) => order.includes(word));
  if (at < 0 || ranked.length === 0) return undefined;
  return ranked.reduce((best, word) =>
    Math.abs(order.indexOf(word) - at) < Math.abs(order.indexOf(best) - at) ? word : best,
  );
};

const fieldOf = (name: string) => taughtFields.find(({ names, paths }) => names[0] === name || paths.includes(name));

/** The gateway's name of a path, from which a loss gets the client's. */
const lossOf = (path: string): string => taughtFields.find(({ paths }) => paths.includes(path))?.loss ?? path;

const pathsOf = (name: string): readonly string[] => fieldOf(name)?.paths ?? [name];

/** Path of a field of the table in a body; `undefined`: it lacks it. */
export const sentAt = (body: JsonObject, name: string): string | undefined =>
  pathsOf(name).find((path) => changeAt(body, path.split('.'), () => undefined) !== body);

/** Changes the members at a path, in copies. `undefined` removes; an object that becomes empty goes with its last member. */
const changeAt = (
  object: JsonObject,
  [step = '', ...rest]: readonly string[],
  change: (value: Json) => Json | undefined,
): JsonObject => {
  const isList = step.endsWith('[]');
  const name = isList ? step.slice(0, -2) : step;
  if (!Object.hasOwn(object, name)) return object;
  const value = object[name];
  if (value === undefined) return object;
  const next = isList ? changeItems(value, rest, change) : changeValue(value, rest, change);
  if (next === value) return object;
  if (next === undefined || (!isList && rest.length > 0 && isJsonObject(next) && Object.keys(next).length === 0)) {
    const { [name]: _, ...others } = object;
    return others;
  }
  return { ...object, [name]: next };
};

const changeValue = (
  value: Json,
  rest: readonly string[],
  change: (value: Json) => Json | undefined,
): Json | undefined => {
  if (rest.length === 0) return change(value);
  return isJsonObject(value) ? changeAt(value, rest, change) : value;
};

const changeItems = (list: Json, rest: readonly string[], change: (value: Json) => Json | undefined): Json => {
  if (!Array.isArray(list)) return list;
  const items = list.map((item: Json) => (isJsonObject(item) ? changeAt(item, rest, change) : item));
  return items.some((item, index) => item !== list[index]) ? items : list;
};

/** The header with names of a vendor's betas. */
const betaHeaderIn = (headers: TaughtCall['headers']): string =>
  Object.keys(headers).find((name) => name.endsWith('-beta')) ?? '';

/** The body's list with names of a vendor's betas, where a host takes no header. */
const betaListIn = (body: TaughtCall['body']): string =>
  Object.keys(body).find((name) => name.endsWith('_beta') && Array.isArray(body[name])) ?? '';

/** The names of betas in a call. */
export const betasIn = ({ headers, body }: TaughtCall): readonly string[] => {
  const listed = body[betaListIn(body)];
  return [...(headers[betaHeaderIn(headers)] ?? '').split(','), ...(Array.isArray(listed) ? listed : [])]
    .map((name) => (typeof name === 'string' ? name.trim() : ''))
    .filter((name) => name !== '');
};

const withoutBeta = (call: TaughtCall, name: string, losses?: Losses): TaughtCall => {
  const sent = betasIn(call);
  const kept = name === '*' ? [] : sent.filter((one) => one !== name);
  if (kept.length === sent.length) return call;
  const header = betaHeaderIn(call.headers);
  const list = betaListIn(call.body);
  losses?.dropClientPath(`${header || list}: ${name === '*' ? sent.join(',') : name}`, why);
  if (header === '') {
    const { [list]: _, ...body } = call.body;
    return { ...call, body: kept.length > 0 ? { ...body, [list]: kept } : body };
  }
  const { [header]: _, ...headers } = call.headers;
  return { ...call, headers: kept.length > 0 ? { ...headers, [header]: kept.join(',') } : headers };
};
