import test from 'ava';
import type { ModelEvent } from '../../../engine/model/event.ts';
import type { Json } from '../../../engine/model/json/json.ts';
import { Losses } from '../../../engine/model/loss.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import { geminiUpstream } from '../../../protocols/gemini/index.ts';
import { replyContext } from '../../support/context.ts';
import { checkEvents } from '../../support/events.ts';

const { decodeStream } = geminiUpstream();

const feed = (bodies: readonly Json[], context = replyContext()): ModelEvent[] =>
  runWhole(
    decodeStream,
    context,
    bodies.map((body) => ({ event: '', data: typeof body === 'string' ? body : JSON.stringify(body) })),
  );

/** Events in a few words each. */
const brief = (events: readonly ModelEvent[]): string => events.map(word).join(' ');

const word = (event: ModelEvent): string => {
  switch (event.type) {
    case 'message-start':
      return 'start';
    case 'block-start': {
      const { block } = event;
      if (block.type === 'tool-call')
        return `${event.index}:call(${block.id},${block.name},${block.signature?.data ?? '-'})`;
      if (block.type === 'redacted-thinking') return `${event.index}:sealed(${block.signature.data})`;
      return `${event.index}:${block.type}`;
    }
    case 'text-delta':
    case 'thinking-delta':
      return `"${event.text}"`;
    case 'signature-delta':
      return `<${event.signature.format}/${event.signature.data}>`;
    case 'input-delta':
      return event.json;
    case 'citation-delta':
      return event.citation.type === 'url'
        ? `@${event.citation.url}[${event.citation.start}-${event.citation.end}]`
        : '@';
    case 'block-stop':
      return `/${event.index}`;
    case 'message-stop':
      return event.finish;
    case 'error':
      return `error(${event.fault.kind})`;
    default:
      return event.type;
  }
};

const body = (parts: readonly Json[], more: { readonly [name: string]: Json } = {}): Json => ({
  candidates: [{ content: { role: 'model', parts }, ...more }],
});
const ended = (parts: readonly Json[], finishReason = 'STOP'): Json => body(parts, { finishReason });
const call = (name: string, args?: Json, more: { readonly [name: string]: Json } = {}): Json => ({
  functionCall: args === undefined ? { name } : { name, args },
  ...more,
});
const made = (count: number): string => `call_0123456789abcdef01234567_${count}`;

const cases: readonly (readonly [title: string, bodies: readonly Json[], expected: string])[] = [
  ['pieces of text make one block', [body([{ text: 'a' }]), ended([{ text: 'b' }])], 'start 0:text "a" "b" /0 end'],
  [
    'thoughts, then text',
    [body([{ text: 't', thought: true }]), ended([{ text: 'a' }])],
    'start 0:thinking "t" /0 1:text "a" /1 end',
  ],
  [
    'a signed thought is sealed, and ends its block',
    [body([{ text: 't', thought: true, thoughtSignature: 'S' }]), ended([{ text: 'u', thought: true }])],
    'start 0:thinking "t" <gemini/S> /0 1:thinking "u" /1 end',
  ],
  [
    'a call comes whole, with an id of ours',
    [ended([call('f', { x: 1 })])],
    `start 0:call(${made(0)},f,-) {"x":1} /0 tool-call`,
  ],
  [
    "the vendor's own id stays; no arguments are no delta",
    [ended([{ functionCall: { name: 'f', id: '96c1su3s', args: {} } }, call('g')])],
    `start 0:call(96c1su3s,f,-) /0 1:call(${made(1)},g,-) /1 tool-call`,
  ],
  [
    "a call's signature is the call's",
    [ended([{ text: 'a' }, call('f', { x: [] }, { thoughtSignature: 'S' }), call('f')])],
    `start 0:text "a" /0 1:call(${made(0)},f,S) {"x":[]} /1 2:call(${made(1)},f,-) /2 tool-call`,
  ],
  [
    'the finish reason comes late, with an empty text',
    [body([call('f')]), ended([{ text: '' }])],
    `start 0:call(${made(0)},f,-) /0 tool-call`,
  ],
  ['a call that was cut stays cut', [ended([call('f')], 'MAX_TOKENS')], `start 0:call(${made(0)},f,-) /0 length`],
  [
    'a call that a filter followed is a call',
    [ended([call('f')], 'SAFETY')],
    `start 0:call(${made(0)},f,-) /0 tool-call`,
  ],
  [
    'the signature of an empty text seals the text before it',
    [body([{ text: 'a' }]), ended([{ text: '', thoughtSignature: 'S' }])],
    'start 0:text "a" /0 1:sealed(S) /1 end',
  ],
  [
    'the signature of the first piece waits for the text to end',
    [body([{ text: 'a', thoughtSignature: 'S' }]), ended([{ text: 'b' }])],
    'start 0:text "a" "b" /0 1:sealed(S) /1 end',
  ],
  [
    'two signed texts are never one',
    [
      ended([
        { text: 'a', thoughtSignature: 'S' },
        { text: 'b', thoughtSignature: 'T' },
      ]),
    ],
    'start 0:text "a" /0 1:sealed(S) /1 2:text "b" /2 3:sealed(T) /3 end',
  ],
  [
    'a second signature without text stands alone',
    [
      ended([
        { text: 'a', thoughtSignature: 'S' },
        { text: '', thoughtSignature: 'T' },
      ]),
    ],
    'start 0:text "a" /0 1:sealed(S) /1 2:sealed(T) /2 end',
  ],
  [
    'a signature behind a call stands alone',
    [ended([call('f'), { thoughtSignature: 'S' }])],
    `start 0:call(${made(0)},f,-) /0 1:sealed(S) /1 tool-call`,
  ],
  [
    'what only this format knows is passed on whole',
    [ended([{ inlineData: { mimeType: 'image/png', data: 'AA==' } }, { text: 'a' }])],
    'start 0:opaque /0 1:text "a" /1 end',
  ],
  ['no content at all', [{ candidates: [{ content: {}, finishReason: 'SAFETY' }] }], 'start filtered'],
  ['no parts, and length', [ended([], 'MAX_TOKENS')], 'start length'],
  ['a blocked prompt', [{ promptFeedback: { blockReason: 'OTHER' } }], 'start filtered'],
  [
    'an unusable call is an error',
    [body([{ text: 'a' }]), ended([], 'MALFORMED_FUNCTION_CALL')],
    'start 0:text "a" error(upstream-error)',
  ],
  ['an unknown word is an error', [ended([{ text: 'a' }], 'SOMETHING_NEW')], 'start 0:text "a" error(upstream-error)'],
  ['the first finish reason counts', [ended([{ text: 'a' }], 'MAX_TOKENS'), ended([])], 'start 0:text "a" /0 length'],
  ['a cut stream is an error', [body([{ text: 'a' }])], 'start 0:text "a" error(upstream-cut)'],
  ['an empty stream is an error', [], 'error(upstream-cut)'],
  [
    'an error inside the stream ends it',
    [
      body([{ text: 'a' }]),
      { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } },
      ended([{ text: 'b' }]),
    ],
    'start 0:text "a" error(upstream-overloaded)',
  ],
  [
    'what is no JSON ends it',
    [body([{ text: 'a' }]), '{"candidates": [', ended([])],
    'start 0:text "a" error(upstream-garbled)',
  ],
  ['what is no reply ends it', [{ candidates: [{ content: { parts: [{ text: 7 }] } }] }], 'error(upstream-garbled)'],
  ['a call without a name ends it', [ended([{ functionCall: { args: {} } }])], 'error(upstream-garbled)'],
  ['bodies in an array', [[body([{ text: 'a' }]), ended([{ text: 'b' }])]], 'start 0:text "a" "b" /0 end'],
  ['an error in an array', [[{ error: { code: 429, message: 'slow down' } }]], 'error(upstream-rate-limit)'],
];

for (const [title, bodies, expected] of cases) {
  test(title, (t) => {
    const events = feed(bodies);
    t.is(brief(events), expected);
    t.notThrows(() => checkEvents(events));
  });
}

test('the head has the id, the model and what the prompt cost so far', (t) => {
  const usageMetadata = { promptTokenCount: 10, cachedContentTokenCount: 4, totalTokenCount: 10 };
  const [start] = feed([{ ...Object(ended([])), responseId: 'r', modelVersion: 'gemini-9', usageMetadata }]);
  t.deepEqual(start, { type: 'message-start', id: 'r', model: 'gemini-9', usage: { input: 6, cacheRead: 4 } });
  const [plain] = feed([ended([])], replyContext({ model: 'asked' }));
  t.deepEqual(plain, { type: 'message-start', id: '', model: 'asked', usage: undefined });
});

test('usage: the last word counts, cached tokens are not counted twice, thoughts are output', (t) => {
  const first = { promptTokenCount: 5, thoughtsTokenCount: 1 };
  const last = {
    promptTokenCount: 100,
    cachedContentTokenCount: 60,
    toolUsePromptTokenCount: 7,
    candidatesTokenCount: 20,
    thoughtsTokenCount: 30,
    serviceTier: 'flex',
  };
  const events = feed([
    { ...Object(body([{ text: 'a' }])), usageMetadata: first },
    { ...Object(ended([])), usageMetadata: last },
  ]);
  const stop = events.at(-1);
  t.deepEqual(stop?.type === 'message-stop' ? stop.usage : undefined, {
    input: 47,
    cacheRead: 60,
    output: 50,
    reasoning: 30,
    webSearches: undefined,
    serviceTier: 'flex',
  });
});

test("a function's name is that of the request's tool", (t) => {
  const names = new ToolNames();
  const wire = names.wire('mcp: search', /^[a-z]+$/, 64);
  t.is(
    brief(feed([ended([call(wire)])], replyContext({ names }))),
    `start 0:call(${made(0)},mcp: search,-) /0 tool-call`,
  );
});

test('the message of a failure reaches the client', (t) => {
  const events = feed([body([], { finishReason: 'UNEXPECTED_TOOL_CALL', finishMessage: 'no such tool' })]);
  const last = events.at(-1);
  t.is(last?.type === 'error' ? last.fault.message : '', 'The model failed with UNEXPECTED_TOOL_CALL: no such tool');
});

test('why a prompt was blocked is kept', (t) => {
  const last = feed([{ promptFeedback: { blockReason: 'JAILBREAK', blockReasonMessage: 'no' } }]).at(-1);
  t.deepEqual(last?.type === 'message-stop' ? last.extra : undefined, {
    wire: 'gemini',
    fields: { promptFeedback: { blockReason: 'JAILBREAK', blockReasonMessage: 'no' } },
  });
});

const grounding = (supports: readonly Json[]): { readonly [name: string]: Json } => ({
  finishReason: 'STOP',
  groundingMetadata: {
    webSearchQueries: ['q', ''],
    groundingChunks: [{ web: { uri: 'u0', title: 'zero' } }, { web: { uri: 'u1' } }, { web: {} }],
    groundingSupports: supports,
  },
});
const support = (startIndex: number, endIndex: number, chunks: readonly number[], text?: string): Json => ({
  segment: { ...(startIndex > 0 && { startIndex }), endIndex, ...(text !== undefined && { text }) },
  groundingChunkIndices: chunks,
});

// '69°F' is 5 bytes long, '😀' 4.
const cited: readonly (readonly [title: string, bodies: readonly Json[], expected: string])[] = [
  [
    'offsets in bytes become UTF-16 units',
    [
      body([{ text: '69°F ' }]),
      body([{ text: '😀 ok' }], grounding([support(0, 5, [0], '69°F'), support(6, 10, [1, 0], '😀')])),
    ],
    'start 0:text "69°F " "😀 ok" @u0[0-4] @u1[5-7] @u0[5-7] /0 end',
  ],
  [
    'a segment that is not that text has no place',
    [body([{ text: 'abc' }], grounding([support(0, 2, [0], 'xy')]))],
    'start 0:text "abc" @u0[undefined-undefined] /0 end',
  ],
  [
    'a segment beyond the text has no end',
    [body([{ text: 'abc' }], grounding([support(1, 99, [0])]))],
    'start 0:text "abc" @u0[undefined-undefined] /0 end',
  ],
  [
    'places count from the beginning of their block; those of a closed one are unknown',
    [
      ended([{ text: 'abc' }, call('f'), { text: 'def' }]),
      body([], grounding([support(0, 2, [0], 'ab'), support(3, 5, [1], 'de')])),
    ],
    `start 0:text "abc" /0 1:call(${made(0)},f,-) /1 2:text "def" @u0[undefined-undefined] @u1[0-2] /2 tool-call`,
  ],
  [
    'sources that come twice are told once',
    [
      body([{ text: 'abc' }], grounding([support(0, 2, [0], 'ab')])),
      body([call('f'), { text: 'def' }], grounding([support(0, 2, [0], 'ab'), support(3, 5, [1], 'de')])),
    ],
    `start 0:text "abc" @u0[0-2] /0 1:call(${made(0)},f,-) /1 2:text "def" @u1[0-2] /2 tool-call`,
  ],
  [
    'sources that support nothing in particular',
    [body([{ text: 'abc' }], grounding([]))],
    'start 0:text "abc" @u0[undefined-undefined] @u1[undefined-undefined] /0 end',
  ],
  [
    'a chunk that is not there',
    [body([{ text: 'abc' }], grounding([support(0, 1, [7, 2])]))],
    'start 0:text "abc" /0 end',
  ],
];

for (const [title, bodies, expected] of cited) {
  test(`grounding: ${title}`, (t) => {
    const events = feed(bodies);
    t.is(brief(events), expected);
    t.notThrows(() => checkEvents(events));
    const last = events.at(-1);
    t.is(last?.type === 'message-stop' ? last.usage.webSearches : undefined, 1);
  });
}

test('grounding without a text to cite is a loss', (t) => {
  const losses = new Losses('gemini');
  feed([body([call('f')], grounding([support(0, 3, [0])]))], replyContext({ losses }));
  t.deepEqual(
    losses.list.map(({ path, outcome }) => [path, outcome]),
    [['groundingMetadata', 'dropped']],
  );
  const none = new Losses('gemini');
  feed([ended([{ text: 'abc' }])], replyContext({ losses: none }));
  t.is(none.size, 0);
});
