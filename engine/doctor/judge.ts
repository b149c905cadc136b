import type { FaultKind } from '../model/fault.ts';
import { isJsonObject, parseJson } from '../model/json/json.ts';
import type { Reply, ReplyBlock } from '../model/reply.ts';
import { lessonsIn } from '../model/upstream-error/lessons-in.ts';
import type { ProbeOutcome, RefusedProbe, Replied } from './outcome.ts';

/** The verdict on an outcome. */
export type Verdict =
  /** As it should be. `says`: what is worth knowing. */
  | { readonly type: 'sound'; readonly detail?: string }
  /** The provider deviates. */
  | { readonly type: 'deviation'; readonly detail: string }
  /** It can't be told. */
  | { readonly type: 'open'; readonly detail: string };

export const sound = (detail?: string): Verdict => ({ type: 'sound', ...(detail !== undefined && { detail }) });
const deviation = (says: string): Verdict => ({ type: 'deviation', detail: says });
export const open = (detail: string): Verdict => ({ type: 'open', detail });

/** Faults that say nothing of what was asked. */
const passing: ReadonlySet<FaultKind> = new Set([
  'upstream-rate-limit',
  'upstream-overloaded',
  'upstream-unreachable',
  'upstream-timeout',
  'upstream-billing',
  'upstream-auth',
  'misconfigured',
]);

/** Judges an outcome; `judge` is asked of whole answers. */
export const judgeOutcome = (outcome: ProbeOutcome, judge: (replied: Replied) => Verdict): Verdict => {
  switch (outcome.type) {
    case 'unsent':
      return sound(`not sent: ${outcome.fault.message}`);
    case 'refused':
      return judgeRefused(outcome);
    case 'replied':
      return judge(outcome);
    default:
      return outcome satisfies never;
  }
};

const judgeRefused = ({ fault }: RefusedProbe): Verdict =>
  passing.has(fault.kind) ? open(fault.message) : deviation(fault.message);

const saysSomething = ({ blocks }: Reply): boolean =>
  blocks.some((block) => 'text' in block && block.text.trim() !== '') || callsIn({ blocks }).length > 0;

/** There is an answer. */
export const isReply = ({ reply }: Replied): Verdict => {
  if (saysSomething(reply)) return sound();
  return reply.finish === 'length' ? open('reasoning used up all tokens') : deviation('the answer is empty');
};

/** The answer keeps the rules of its wire format. The decoders bear more than the rules allow. */
export const keepsRules = ({ violations: [first, ...more] }: Replied): Verdict => {
  if (first === undefined) return sound();
  return deviation(
    `${first}${more.length > 0 ? `, and ${more.length} more` : ''}; the answer can be read all the same`,
  );
};

/** The provider counts tokens. */
export const counts = ({ reply: { usage } }: Replied): Verdict => {
  const missing = [
    ...((usage.input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0) > 0 ? [] : ['input']),
    ...((usage.output ?? 0) > 0 ? [] : ['output']),
  ];
  if (missing.length > 0) return deviation(`no count of ${missing.join(' and ')} tokens`);
  const reasoning = usage.reasoning === undefined ? '' : `, ${usage.reasoning} of them reasoning`;
  return sound(`${usage.output} tokens of output${reasoning}`);
};

type Call = Extract<ReplyBlock, { type: 'tool-call' }>;

const callsIn = ({ blocks }: Pick<Reply, 'blocks'>): readonly Call[] =>
  blocks.filter((block) => block.type === 'tool-call');

/** Texts in which models of several families write their calls, if the server doesn't read them. */
const leakedCall = /<tool_call>|<function=|\[TOOL_CALLS\]|<\|tool_call|<\|python_tag\|>|<｜tool/;

/** The calls have arguments that can be read. */
export const calls =
  ({ least = 1, most = Number.POSITIVE_INFINITY }: { readonly least?: number; readonly most?: number } = {}) =>
  ({ reply, pieces }: Replied): Verdict => {
    const made = callsIn(reply);
    for (const { name, json } of made) {
      if (!isJsonObject(parseJson(json.trim() === '' ? '{}' : json)))
        return deviation(`the arguments of ${name} are no JSON object: ${json.slice(0, 80)}`);
    }
    if (made.length > most) return deviation(`${made.length} calls, although one at a time is asked for`);
    if (made.length >= least)
      return sound(`${made.length === 1 ? '1 call' : `${made.length} calls`} in ${pieces} pieces`);
    if (reply.finish === 'length') return open('reasoning used up all tokens');
    const said = reply.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
    if (leakedCall.test(said)) return deviation('the call stands in the text: the server does not read it');
    return open('the model calls nothing');
  };

/** A call was forced. */
export const obeys = (replied: Replied): Verdict => {
  const verdict = calls()(replied);
  const isIgnored = verdict.type === 'open' && replied.reply.finish !== 'length';
  return isIgnored ? deviation('accepted, and ignored: no call is made') : verdict;
};

/** The answer is a JSON object with a city. */
export const isCity = ({ reply }: Replied): Verdict => {
  const said = reply.blocks.map((block) => (block.type === 'text' ? block.text : '')).join('');
  const value = parseJson(said);
  if (isJsonObject(value) && typeof value.city === 'string') return sound();
  return reply.finish === 'length'
    ? open('reasoning used up all tokens')
    : deviation('accepted, and ignored: the answer is no such JSON');
};

/** The second of two requests with one beginning reads it from the cache. Not all vendors have one. */
export const readsCache = ({ reply: { usage } }: Replied): Verdict =>
  (usage.cacheRead ?? 0) > 0 ? sound(`${usage.cacheRead} tokens read from the cache`) : sound('no cache is shown');

const word = /\p{L}\p{L}\p{L}/u;

/** An unknown model is refused, with words. */
export const refusesModel = (outcome: ProbeOutcome): Verdict => {
  if (outcome.type === 'replied') return sound('it answers under any name');
  if (outcome.type === 'unsent') return sound(`not sent: ${outcome.fault.message}`);
  const { fault, text } = outcome;
  if (passing.has(fault.kind)) return open(fault.message);
  if (fault.kind === 'upstream-garbled' || fault.status === undefined)
    return deviation(`an error without a status of its own: ${fault.message}`);
  if (fault.status >= 500) return deviation(`status ${fault.status} for an unknown model: it is tried again in vain`);
  return !word.test(text)
    ? deviation(`status ${fault.status} without words`)
    : sound(`status ${fault.status}, ${fault.kind.replace('upstream-', '')}`);
};

/** A limit beyond all windows is taken, or refused with words that the gateway reads and obeys. */
export const findsLimit = (outcome: ProbeOutcome): Verdict => {
  const verdict = judgeOutcome(outcome, isReply);
  if (verdict.type !== 'deviation' || outcome.type !== 'refused') return verdict;
  const [lesson] = lessonsIn(outcome.fault, outcome.sent, outcome.sent.estimate);
  if (lesson?.does === 'fit') return sound(`a window of ${lesson.window} tokens, in words that are understood`);
  return deviation(lesson?.does === 'limit' ? verdict.detail : `its words are not understood: ${verdict.detail}`);
};

/** The speed of the answer. */
export const speed = ({ reply: { usage }, firstMs, lastMs }: Replied): Verdict => {
  const seconds = (lastMs - firstMs) / 1_000;
  const rate = usage.output !== undefined && seconds > 0.05 ? `, ${Math.round(usage.output / seconds)} tokens/s` : '';
  return sound(`first bytes after ${Math.round(firstMs)} ms${rate}`);
};
