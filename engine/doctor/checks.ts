import type { Reply } from '../model/reply.ts';
import type { Effort, ModelRequest } from '../model/request.ts';
import type { Cure } from './change.ts';
import {
  calls,
  counts,
  findsLimit,
  isCity,
  isReply,
  judgeOutcome,
  keepsRules,
  obeys,
  readsCache,
  refusesModel,
  speed,
  type Verdict,
} from './judge.ts';
import type { ProbeOutcome } from './outcome.ts';
import {
  loopAfter,
  madeUpCall,
  picture,
  question,
  reasoningTokens,
  textPart,
  toolOf,
  toolQuestion,
  twoToolsQuestion,
  userTurn,
} from './requests.ts';

/** The cure of a deviation: a change, or kinds of changes that depend on the call. */
export type CureKind =
  | Cure
  /** A host that the provider is like, of those that its format knows. */
  | 'hosts'
  /** A family that the model belongs to, of those that its format knows. */
  | 'families'
  /** Leaves out of the body the field that the refusal names. */
  | 'told'
  /** All that is examined is left out of it. */
  | 'leave'
  /** Whether streams are asked for their usage. */
  | 'stream-usage';

/** The answers so far, by check. */
type Earlier = (name: CheckName) => Reply | undefined;

export interface DoctorCheck {
  readonly name: CheckName;
  /** The request, for users. */
  readonly about: string;
  readonly asks: (earlier: Earlier) => ModelRequest;
  /** The same without what is examined: what isn't sent isn't judged. Absent: all of it is examined. */
  readonly plain?: (earlier: Earlier) => ModelRequest;
  /** Another model than the examined one. */
  readonly model?: string;
  readonly judge: (outcome: ProbeOutcome) => Verdict;
  /** Tried in this order, until one heals it. */
  readonly cures: readonly CureKind[];
}

export type CheckName =
  | 'stream'
  | 'wire format'
  | 'usage'
  | 'speed'
  | 'whole answer'
  | 'instructions'
  | 'two texts'
  | 'picture'
  | 'tool'
  | 'two tools'
  | 'wire format of calls'
  | 'one at a time'
  | 'forced tool'
  | 'tool loop'
  | 'long ids'
  | 'schema dialect'
  | 'strict tool'
  | 'JSON schema'
  | 'temperature'
  | 'two sampling fields'
  | 'penalty'
  | 'verbosity'
  | 'stop words'
  | 'reasoning off'
  | `effort ${'low' | 'high' | 'max'}`
  | 'reasoning and a tool'
  | 'reasoning loop'
  | 'sampling and reasoning'
  | 'output limit'
  | 'long prompt'
  | 'cache'
  | 'errors';

const hi = 'Please say hello, and nothing else.';
const plainly = () => question(hi);

const lacks = (lack: Extract<Cure, { to: 'lacks' }>['lack']): Cure => ({ to: 'lacks', lack });
const body = (patch: Extract<Cure, { to: 'body' }>['patch']): Cure => ({ to: 'body', patch });

const effort = (word: Effort): Partial<ModelRequest> => ({ maxTokens: reasoningTokens, reasoning: { effort: word } });

const effortCheck = (word: 'low' | 'high' | 'max'): DoctorCheck => ({
  name: `effort ${word}`,
  about: `a reasoning effort: ${word}`,
  asks: () => question(hi, effort(word)),
  plain: () => question(hi, { maxTokens: reasoningTokens }),
  judge: (outcome) => judgeOutcome(outcome, isReply),
  cures: ['told', 'hosts', 'leave'],
});

/** A field beside a plain question. */
const field = (
  name: CheckName,
  about: string,
  more: Partial<ModelRequest>,
  cures: readonly CureKind[],
): DoctorCheck => ({
  name,
  about,
  asks: () => question(hi, more),
  plain: plainly,
  judge: (outcome) => judgeOutcome(outcome, isReply),
  cures,
});

const toolLoop = (first: Pick<Reply, 'blocks'> | undefined, asked: ModelRequest, id: string): ModelRequest =>
  loopAfter(asked, first?.blocks.some(({ type }) => type === 'tool-call') ? first : madeUpCall(id));

const thoughtful = (more: Partial<ModelRequest> = {}): ModelRequest => ({
  ...toolQuestion(effort('low')),
  turns: [userTurn(textPart('Please think about it, and then use the tool to get the weather in Łódź.'))],
  ...more,
});

/** A prompt that is long enough to be cached, about 2,000 tokens. */
const long = 'This sentence is one of many in a long manual, whose contents do not matter. '.repeat(120);
const cached = (words: string) => question(words, { system: [{ type: 'text', text: long, cache: {} }] });

/** The JSON Schema that agents' tools have: lists of types, unions, numbers with bounds. */
const richSchema = {
  type: 'object',
  properties: {
    city: { type: ['string', 'null'], description: 'The city.' },
    when: { anyOf: [{ type: 'string' }, { type: 'integer', minimum: 0 }] },
    parts: { type: 'array', items: { type: 'string', enum: ['sun', 'rain'] } },
  },
  required: ['city'],
  additionalProperties: false,
};

/** More than any model gives. */
const tooMuch = 10_000_000;

/** The checks, in order. */
export const checks: readonly DoctorCheck[] = [
  {
    name: 'stream',
    about: 'a streamed answer, in the order of its format',
    asks: plainly,
    judge: (outcome) => judgeOutcome(outcome, isReply),
    cures: ['stream-usage', 'told'],
  },
  {
    name: 'wire format',
    about: 'its records, by the rules of the wire format',
    asks: plainly,
    judge: (outcome) => judgeOutcome(outcome, keepsRules),
    cures: [],
  },
  {
    name: 'usage',
    about: 'its counts of tokens',
    asks: plainly,
    judge: (outcome) => judgeOutcome(outcome, counts),
    cures: ['stream-usage'],
  },
  {
    name: 'speed',
    about: 'how fast it comes',
    asks: plainly,
    judge: (outcome) => judgeOutcome(outcome, speed),
    cures: [],
  },
  {
    name: 'whole answer',
    about: 'an answer that is not streamed, with its counts',
    asks: () => question(hi, { stream: false }),
    judge: (outcome) =>
      judgeOutcome(outcome, (replied) => {
        const verdict = isReply(replied);
        return verdict.type === 'sound' ? counts(replied) : verdict;
      }),
    cures: ['families', 'hosts'],
  },
  {
    name: 'instructions',
    about: 'instructions in front, and in the middle of a conversation',
    asks: () =>
      question(hi, {
        system: [
          { type: 'text', text: 'You are terse.' },
          { type: 'text', text: 'You are polite.' },
        ],
        turns: [
          userTurn(textPart('Good morning.')),
          { role: 'assistant', parts: [textPart('Good morning!')] },
          { role: 'system', parts: [{ type: 'text', text: 'From now on, answer in English.' }] },
          userTurn(textPart(hi)),
        ],
      }),
    judge: (outcome) => judgeOutcome(outcome, isReply),
    cures: ['families', 'hosts'],
  },
  {
    name: 'two texts',
    about: 'a question in two texts',
    asks: () => question('', { turns: [userTurn(textPart('This is a test.'), textPart(hi))] }),
    judge: (outcome) => judgeOutcome(outcome, isReply),
    cures: ['families', 'hosts'],
  },
  {
    name: 'picture',
    about: 'a tiny picture',
    asks: () => question('', { turns: [userTurn(textPart('Please look at this, and name its colour.'), picture)] }),
    plain: () => question('', { turns: [userTurn(textPart('Please look at this, and name its colour.'))] }),
    judge: (outcome) => judgeOutcome(outcome, isReply),
    cures: [{ to: 'input', kinds: ['text'] }],
  },
  {
    name: 'tool',
    about: 'a tool, and the pieces of its arguments',
    asks: () => toolQuestion(),
    judge: (outcome) => judgeOutcome(outcome, calls()),
    cures: [{ to: 'stage', name: 'enhancetool' }, 'hosts'],
  },
  {
    name: 'two tools',
    about: 'two calls in one answer',
    asks: () => twoToolsQuestion(),
    judge: (outcome) => judgeOutcome(outcome, calls()),
    cures: [body({ parallel_tool_calls: false }), { to: 'stage', name: 'enhancetool' }, 'hosts'],
  },
  {
    name: 'wire format of calls',
    about: 'its records, by the rules of the wire format',
    asks: () => twoToolsQuestion(),
    judge: (outcome) => judgeOutcome(outcome, keepsRules),
    cures: [],
  },
  {
    name: 'forced tool',
    about: 'a call that is required',
    asks: () => toolQuestion({ toolChoice: { type: 'tool', name: 'get_weather' } }),
    plain: () => toolQuestion(),
    judge: (outcome) => judgeOutcome(outcome, obeys),
    cures: [lacks('forcedToolChoice')],
  },
  {
    name: 'one at a time',
    about: 'at most one call',
    asks: () => toolQuestion({ parallelToolCalls: false }),
    plain: () => toolQuestion(),
    judge: (outcome) => judgeOutcome(outcome, calls({ most: 1 })),
    cures: ['told', 'leave', 'hosts'],
  },
  {
    name: 'tool loop',
    about: 'its own call back, with a result',
    asks: (earlier) => toolLoop(earlier('tool'), toolQuestion(), 'call_1'),
    judge: (outcome) => judgeOutcome(outcome, isReply),
    cures: ['families', 'hosts'],
  },
  {
    name: 'long ids',
    about: "another vendor's call, with an id of 64 characters",
    asks: () => toolLoop(undefined, toolQuestion(), `call_${'abcdefghij'.repeat(6).slice(0, 59)}`),
    judge: (outcome) => judgeOutcome(outcome, isReply),
    cures: ['families', 'hosts'],
  },
  {
    name: 'schema dialect',
    about: 'a tool whose schema has lists of types and unions',
    asks: () => toolQuestion({ tools: [toolOf('get_weather', richSchema)] }),
    plain: () => toolQuestion(),
    judge: (outcome) => judgeOutcome(outcome, calls({ least: 0 })),
    cures: ['families', 'hosts'],
  },
  {
    name: 'strict tool',
    about: 'a tool that is strict',
    asks: () =>
      toolQuestion({
        tools: toolQuestion().tools.map((tool) => (tool.type === 'function' ? { ...tool, strict: true } : tool)),
      }),
    plain: () => toolQuestion(),
    judge: (outcome) => judgeOutcome(outcome, calls({ least: 0 })),
    cures: ['families', 'hosts'],
  },
  {
    name: 'JSON schema',
    about: 'an answer as JSON of a schema',
    asks: () =>
      question('Name a city in Poland as JSON: {"city": "…"}.', {
        output: {
          type: 'json-schema',
          name: 'city',
          strict: true,
          schema: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
        },
      }),
    plain: () => question('Name a city in Poland as JSON: {"city": "…"}.'),
    judge: (outcome) => judgeOutcome(outcome, isCity),
    cures: ['told', 'leave', 'hosts'],
  },
  field('temperature', 'a temperature', { temperature: 0.3 }, [lacks('sampling'), 'told', 'leave']),
  field('two sampling fields', 'a temperature beside `top_p`', { temperature: 0.3, topP: 0.9 }, [
    'told',
    lacks('sampling'),
    'leave',
  ]),
  field('penalty', 'a presence penalty', { presencePenalty: 0.5 }, ['told', 'leave']),
  field('verbosity', 'how long answers are', { verbosity: 'low' }, ['told', 'leave']),
  field('stop words', 'a stop word', { stop: ['END'] }, ['told', 'leave']),
  effortCheck('low'),
  effortCheck('high'),
  {
    name: 'reasoning off',
    about: 'reasoning that is switched off',
    asks: () => question(hi, { reasoning: { mode: 'off', effort: 'none' } }),
    plain: plainly,
    judge: (outcome) => judgeOutcome(outcome, isReply),
    cures: [lacks('reasoningOff'), 'told', 'hosts', 'leave'],
  },
  effortCheck('max'),
  {
    name: 'reasoning and a tool',
    about: 'a call after reasoning',
    asks: () => thoughtful(),
    plain: () => thoughtful({ reasoning: undefined }),
    judge: (outcome) => judgeOutcome(outcome, calls()),
    cures: ['told', 'hosts', 'leave'],
  },
  {
    name: 'reasoning loop',
    about: 'its own reasoning back, with a call and a result',
    asks: (earlier) => toolLoop(earlier('reasoning and a tool'), thoughtful(), 'call_1'),
    judge: (outcome) => judgeOutcome(outcome, isReply),
    cures: ['families', 'hosts'],
  },
  {
    name: 'sampling and reasoning',
    about: 'a temperature beside a reasoning effort',
    asks: () => question(hi, { ...effort('low'), temperature: 0.3 }),
    plain: () => question(hi, effort('low')),
    judge: (outcome) => judgeOutcome(outcome, isReply),
    cures: ['told', lacks('sampling'), 'leave'],
  },
  {
    name: 'output limit',
    about: 'an output limit beyond all windows, and the words of its refusal',
    asks: () => question(hi, { maxTokens: tooMuch }),
    judge: findsLimit,
    cures: [],
  },
  {
    name: 'long prompt',
    about: 'a prompt of about 2,000 tokens',
    asks: () => cached('Please say good morning, and nothing else.'),
    judge: (outcome) => judgeOutcome(outcome, isReply),
    cures: [],
  },
  {
    name: 'cache',
    about: 'another prompt that begins so',
    asks: () => cached(hi),
    judge: (outcome) => judgeOutcome(outcome, readsCache),
    cures: [],
  },
  {
    name: 'errors',
    about: 'the error for an unknown model',
    asks: plainly,
    model: 'junctor-doctor-no-such-model',
    judge: refusesModel,
    cures: [],
  },
];

/** Parts that aren't examined, with the reason. */
export const unexamined: readonly string[] = [
  'a prompt that is too long: it would cost a whole window of tokens',
  'cancelled answers: only the bill shows whether the provider goes on',
  'members and headers of a client that go to its own vendor unchanged, such as betas',
];
