import type { Config } from '../config/config.ts';
import type { Destination } from '../config/sections/destination.ts';
import { type Answered, fill, type Ready, type Reconciled, type Routed } from '../exchange.ts';
import { bodyText, type CallBody } from '../model/call-body.ts';
import type { Fault } from '../model/fault.ts';
import { isJsonObject, type JsonObject, parseJson, writeJson } from '../model/json/json.ts';
import { applyLessons, type Lesson, outputLimitIn } from '../model/upstream-error/lesson.ts';
import { lessonsIn, misses, refusesOutput } from '../model/upstream-error/lessons-in.ts';
import { leastRoom } from '../model/upstream-error/output-refusal.ts';
import type { TaughtMemory } from '../routing/taught.ts';

/** Whether a provider's refusals teach. */
export const learns = ({ learn }: Pick<Config, 'learn'>, { provider }: Pick<Destination, 'provider'>): boolean =>
  provider.learn ?? learn ?? true;

interface Made {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: CallBody;
}

/** A call as its provider's refusals have taught, with the losses. The same call if none of them is about it. */
export const withLessons = (routed: Reconciled, made: Made, memory: TaughtMemory): Made => {
  const { context, plan, resolution } = routed;
  const lessons = memory.lessons(resolution);
  const body = objectIn(made.body);
  const losses = context.losses.at(plan.format.name);
  const changed = applyLessons({ body, headers: made.headers }, lessons, context.inputEstimate, losses);
  const asked = outputLimitIn(body) ?? 0;
  const doubted = memory
    .of(resolution)
    .filter(({ lesson }) => {
      if (lessons.includes(lesson)) return isHeld(lesson, context.inputEstimate, asked);
      return applyLessons(changed, [lesson], context.inputEstimate) !== changed;
    })
    .map(({ lesson }) => lesson.field);
  fill(routed, { doubted });
  return { headers: changed.headers, body: changed.body === body ? made.body : writeJson(changed.body) };
};

/** Whether a prompt is too long for a window that was taught: the provider judges, and its answer would show that it's larger. */
const isHeld = (lesson: Lesson, estimate: number, asked: number): boolean =>
  lesson.does === 'fit' && asked > 0 && lesson.window - estimate * lesson.perToken < leastRoom(lesson.window);

const objectIn = (body: CallBody): JsonObject => {
  const value = parseJson(bodyText(body));
  return isJsonObject(value) ? value : {};
};

/** Statuses of a request that is refused for what it says. */
const statuses: ReadonlySet<number> = new Set([400, 422]);

/**
 * Takes what a refusal teaches into the memory. Returns the remedy if the request is to be sent once more: once per request, before the
 * first byte. What a second refusal teaches is left for the next request.
 */
export const learnFrom =
  (config: Pick<Config, 'learn'>, memory: TaughtMemory) =>
  (ready: Ready, fault: Fault, status: number): Fault['remedy'] => {
    if (!statuses.has(status) || !learns(config, ready.resolution)) return undefined;
    const { resolution, call, context, taughtBy } = ready;
    // The same words again: what was taught by them is of no use. Another destination's are its own.
    if (taughtBy?.message === fault.message && taughtBy.plan === ready.plan) {
      for (const lesson of taughtBy.lessons) memory.forget(resolution, lesson);
      return undefined;
    }
    const wrong = memory.lessons(resolution).filter((lesson) => misses(fault, lesson));
    for (const lesson of wrong) memory.forget(resolution, lesson);
    const sent = { body: objectIn(call.body), headers: call.headers };
    const lessons = wrong.length > 0 ? [] : lessonsIn(fault, sent, context.inputEstimate);
    for (const lesson of lessons) memory.learn(resolution, lesson);
    if (taughtBy || (wrong.length === 0 && lessons.length === 0)) return undefined;
    fill(ready, { taughtBy: { message: fault.message, plan: ready.plan, lessons } });
    return 'taught';
  };

/** A refusal of an output limit isn't an overflow: a shorter conversation wouldn't help. */
export const outputFault = (ready: Ready, fault: Fault): Fault => {
  if (fault.kind !== 'upstream-context') return fault;
  const refused = refusesOutput(fault, { body: objectIn(ready.call.body) });
  return refused ? { ...fault, kind: 'upstream-invalid' } : fault;
};

/** Drops what an answer shows to be wrong: the provider has accepted a field that it refused earlier. */
export const forgetDisproved = (routed: Routed & Partial<Answered>, memory: TaughtMemory): void => {
  const { doubted, resolution } = routed;
  if (!doubted || doubted.length === 0) return;
  for (const { lesson } of memory.of(resolution)) {
    if (doubted.includes(lesson.field)) memory.forget(resolution, lesson);
  }
};
