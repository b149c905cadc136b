import { type Answered, fill, type Ready, type Reconciled, type Routed } from '../exchange.ts';
import { bodyText, type CallBody } from '../model/call-body.ts';
import type { Fault, FaultKind } from '../model/fault.ts';
import { isJsonObject, type JsonObject, parseJson, writeJson } from '../model/json/json.ts';
import { applyLessons, type Lesson, outputLimitIn, type TaughtCall } from '../model/upstream-error/lesson.ts';
import { lessonsIn, misses, refusesOutput } from '../model/upstream-error/lessons-in.ts';
import { leastRoom } from '../model/upstream-error/output-refusal.ts';
import type { Gateway } from '../routing/gateway.ts';
import { learns, type TaughtMemory } from '../routing/taught.ts';

interface Made {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: CallBody;
}

/** A call as its provider's refusals have taught, with the losses. The same call if none of them is about it. */
export const withLessons = (routed: Reconciled, made: Made, memory: TaughtMemory): Made => {
  const { context, plan, resolution } = routed;
  const lessons = memory.inForce(resolution).map(({ lesson }) => lesson);
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

/** Kinds of such a fault, if it came in an answer's place, without a status. A host that says only words has the last one. */
const kinds: ReadonlySet<FaultKind> = new Set(['upstream-invalid', 'upstream-context', 'upstream-error']);

const isRefusal = ({ kind, status, settled }: Fault): boolean =>
  !settled && (status === undefined ? kinds.has(kind) : statuses.has(status));

/**
 * Takes what a failed attempt teaches into the memory, whether a status or the answer itself reported it. Returns the fault, with the
 * `retryAs` if the request is to be sent once more: once per request, before the first byte. What a second refusal teaches is left for the
 * next request.
 */
export const learnFrom = (
  { config, taught: memory }: Pick<Gateway, 'config' | 'taught'>,
  routed: Routed & Partial<Ready>,
  refused: Fault,
): Fault => {
  const { call } = routed;
  if (!call || call === routed.judged || refused.retryAs || !isRefusal(refused)) return refused;
  fill(routed, { judged: call });
  const sent = { body: objectIn(call.body), headers: call.headers };
  const fault = outputFault(refused, sent);
  return learns(config, routed.resolution.provider) && teaches(memory, routed, fault, sent)
    ? { ...fault, kind: 'upstream-invalid', retryAs: 'taught' }
    : fault;
};

/** Whether the request is to be sent once more. */
const teaches = (memory: TaughtMemory, routed: Routed, fault: Fault, sent: TaughtCall): boolean => {
  const { resolution, context, taughtBy, plan } = routed;
  const { message } = fault;
  // The same words again: what was taught by them is of no use. Another destination's are its own.
  if (taughtBy?.message === message && taughtBy.plan === plan) {
    for (const lesson of taughtBy.lessons) memory.forget(resolution, lesson);
    return false;
  }
  const wrong = memory.inForce(resolution).filter(({ lesson }) => misses(fault, lesson));
  for (const { lesson } of wrong) memory.forget(resolution, lesson);
  const lessons = wrong.length > 0 ? [] : lessonsIn(fault, sent, context.inputEstimate);
  for (const lesson of lessons) memory.learn(resolution, lesson, message);
  if (taughtBy || (wrong.length === 0 && lessons.length === 0)) return false;
  fill(routed, { taughtBy: { message, plan, lessons } });
  return true;
};

/** A refusal of an output limit isn't an overflow: a shorter conversation wouldn't help. */
const outputFault = (fault: Fault, sent: TaughtCall): Fault =>
  fault.kind === 'upstream-context' && refusesOutput(fault, sent) ? { ...fault, kind: 'upstream-invalid' } : fault;

/** Drops what an answer shows to be wrong: the provider has accepted a field that it refused earlier. */
export const forgetDisproved = (routed: Routed & Partial<Answered>, memory: TaughtMemory): void => {
  const { doubted, resolution } = routed;
  if (!doubted || doubted.length === 0) return;
  for (const { lesson } of memory.of(resolution)) {
    if (doubted.includes(lesson.field)) memory.forget(resolution, lesson);
  }
};
