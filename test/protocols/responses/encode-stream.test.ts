import test from 'ava';
import type { ReplyContext } from '../../../engine/model/context.ts';
import type { ModelEvent } from '../../../engine/model/event.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { packSignature } from '../../../engine/model/reasoning/signature.ts';
import { foldReply, isFault } from '../../../engine/model/reply.ts';
import { sseText } from '../../../engine/model/wire/sse.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { packCallSignature } from '../../../protocols/responses/call-signature.ts';
import { decodeRequest } from '../../../protocols/responses/decode-request/decode-request.ts';
import { encodeReply } from '../../../protocols/responses/encode-reply/encode-reply.ts';
import { encodeStream } from '../../../protocols/responses/encode-reply/encode-stream.ts';
import { replyContext } from '../../support/context.ts';
import { checkEvents, recordsOf } from '../../support/events.ts';
import { readResponsesReply, readResponsesStream } from '../../support/readers/responses.ts';

const start: ModelEvent = { type: 'message-start', id: 'up_1', model: 'served' };
const stop = (finish: Extract<ModelEvent, { type: 'message-stop' }>['finish'] = 'end'): ModelEvent => ({
  type: 'message-stop',
  finish,
  usage: { input: 3, cacheRead: 4, cacheWrite: 2, output: 5, reasoning: 1 },
});

type Body = Extract<ModelEvent, { type: 'block-start' }>['block'];
type Delta =
  | { readonly type: 'text-delta' | 'thinking-delta'; readonly text: string }
  | { readonly type: 'input-delta'; readonly json: string }
  | { readonly type: 'signature-delta'; readonly signature: { readonly format: string; readonly data: string } }
  | { readonly type: 'citation-delta'; readonly citation: Extract<ModelEvent, { type: 'citation-delta' }>['citation'] }
  | { readonly type: 'opaque-delta'; readonly raw: JsonObject };

/** Blocks with their deltas → the events of a whole answer, but for its ends. */
const blocks = (...all: readonly (readonly [Body, ...Delta[]])[]): ModelEvent[] =>
  all.flatMap(([block, ...deltas], index): ModelEvent[] => [
    { type: 'block-start', index, block },
    ...deltas.map((delta) => ({ ...delta, index })),
    { type: 'block-stop', index },
  ]);

const words = (text: string): Delta => ({ type: 'text-delta', text });
const thought = (text: string): Delta => ({ type: 'thinking-delta', text });
const json = (text: string): Delta => ({ type: 'input-delta', json: text });
const seal = (format: string, data: string): Delta => ({ type: 'signature-delta', signature: { format, data } });
const call = (id: string, name = 'f'): Body => ({ type: 'tool-call', id, name });

const clientBody: JsonObject = {
  model: 'asked',
  input: 'hi',
  instructions: 'i',
  temperature: 0.5,
  metadata: { a: 'b' },
  max_output_tokens: 9,
  tools: [
    { type: 'function', name: 'f' },
    { type: 'custom', name: 'patch' },
    { type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'local' }] },
  ],
};
const context = (body = clientBody): ReplyContext => replyContext({ clientBody: body, request: decodeRequest(body) });

interface Told {
  readonly text: string;
  readonly output: readonly JsonObject[];
  readonly response: JsonObject;
  readonly types: readonly string[];
  readonly losses: readonly string[];
}

/** Runs the stream, holds it against the grammar and the whole reply, and gives what it told. */
const tell = (events: readonly ModelEvent[], asked = clientBody): Told => {
  const given = context(asked);
  checkEvents(events);
  const text = sseText(runWhole(encodeStream, given, events));
  const facts = readResponsesStream(text);
  const records = recordsOf(Buffer.from(text)).map(({ data }) => JSON.parse(data));
  const { response } = records.at(-1);
  const reply = foldReply(events);
  if (!isFault(reply)) {
    const body = encodeReply(reply, context(asked));
    if (JSON.stringify(body) !== JSON.stringify(response))
      throw new Error(`whole and stream differ:\n${JSON.stringify(body)}\n${JSON.stringify(response)}`);
    if (JSON.stringify(readResponsesReply(body)) !== JSON.stringify(facts)) throw new Error('facts differ');
  }
  const types = records.map(({ type }) => String(type).replace('response.', ''));
  const losses = given.losses.list.map(({ path, outcome }) => `${outcome} ${path}`);
  return { text, output: response.output, response, types, losses };
};

const id = replyContext().id;

test('a text, event by event', (t) => {
  const { text, types } = tell([start, ...blocks([{ type: 'text' }, words('a"\n'), words('b')]), stop()]);
  t.deepEqual(types, [
    'created',
    'in_progress',
    'output_item.added',
    'content_part.added',
    'output_text.delta',
    'output_text.delta',
    'output_text.done',
    'content_part.done',
    'output_item.done',
    'completed',
  ]);
  t.true(
    text.includes(
      `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_${id}0000","output_index":0,"content_index":0,"delta":"a\\"\\n","logprobs":[]}\n\n`,
    ),
  );
});

test("the response object repeats the request's parameters", (t) => {
  const { response } = tell([start, stop()]);
  t.like(response, {
    id: `resp_${id}`,
    object: 'response',
    created_at: 1_700_000_000,
    status: 'completed',
    model: 'served',
    instructions: 'i',
    temperature: 0.5,
    top_p: 1,
    metadata: { a: 'b' },
    max_output_tokens: 9,
    tool_choice: 'auto',
    store: false,
    previous_response_id: null,
    output: [],
  });
  t.deepEqual(response.tools, clientBody.tools);
  t.deepEqual(response.usage, {
    input_tokens: 9,
    input_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: 14,
  });
});

test('members that the request left out have their defaults', (t) => {
  const body: JsonObject = { model: 'm', input: 'hi' };
  const { response } = tell([start, stop()], body);
  t.like(response, {
    background: false,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: {},
    parallel_tool_calls: true,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: 'default',
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    truncation: 'disabled',
    user: null,
  });
  const given = { ...body, user: 'u', truncation: 'auto', top_logprobs: 3, parallel_tool_calls: false, temperature: 0 };
  t.like(tell([start, stop()], given).response, {
    user: 'u',
    truncation: 'auto',
    top_logprobs: 3,
    parallel_tool_calls: false,
    temperature: 0,
  });
});

test('a complete response has its completion time and the penalties', (t) => {
  const { response } = tell([start, stop()]);
  t.like(response, { completed_at: 1_700_000_002, presence_penalty: 0, frequency_penalty: 0 });
  const cut = tell([start, stop('length')]).response;
  t.is(cut.completed_at, null);
  const given = replyContext({ clientBody: { ...clientBody, presence_penalty: 0.5, frequency_penalty: -1 } });
  const text = sseText(runWhole(encodeStream, given, [start, stop()]));
  t.is(text.match(/"presence_penalty":0\.5/g)?.length, 3);
  t.is(text.match(/"frequency_penalty":-1/g)?.length, 3);
  t.is(text.match(/"completed_at":null/g)?.length, 2);
});

test('usage that the upstream never gave: details are there, the prompt is estimated', (t) => {
  const given = replyContext({ inputEstimate: 7 });
  const text = sseText(runWhole(encodeStream, given, [start, { type: 'message-stop', finish: 'end', usage: {} }]));
  t.deepEqual(readResponsesStream(text).usage, { prompt: 7, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 });
});

test("an upstream of the same protocol keeps the answer's id", (t) => {
  const { response } = tell([{ type: 'message-start', id: 'resp_up', model: '' }, stop()]);
  t.is(response.id, 'resp_up');
  t.is(response.model, 'm');
});

const outputs: readonly (readonly [string, ModelEvent[], readonly JsonObject[]])[] = [
  [
    'texts in a row share one message',
    blocks(
      [{ type: 'text' }, words('a')],
      [{ type: 'text' }],
      [{ type: 'text' }, words('b')],
      [{ type: 'refusal' }, words('c')],
    ),
    [
      {
        id: `msg_${id}0000`,
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [
          { type: 'output_text', text: 'a', annotations: [], logprobs: [] },
          { type: 'output_text', text: 'b', annotations: [], logprobs: [] },
          { type: 'refusal', refusal: 'c' },
        ],
      },
    ],
  ],
  ['an empty text says nothing', blocks([{ type: 'text' }]), []],
  ['thinking without text or seal says nothing', blocks([{ type: 'thinking' }]), []],
  [
    'thinking, its own seal and a foreign one',
    blocks(
      [{ type: 'thinking' }, thought('a'), thought('b'), seal('responses', 'gAAA')],
      [{ type: 'thinking' }, thought('c'), seal('messages', 'sig')],
      [{ type: 'thinking' }, thought('d')],
    ),
    [
      {
        id: `rs_${id}0000`,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'ab' }],
        encrypted_content: 'gAAA',
      },
      {
        id: `rs_${id}0001`,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'c' }],
        encrypted_content: packSignature({ format: 'messages', data: 'sig' }),
      },
      { id: `rs_${id}0002`, type: 'reasoning', summary: [{ type: 'summary_text', text: 'd' }] },
    ],
  ],
  [
    'a seal without text, and a redacted one',
    blocks(
      [{ type: 'thinking' }, seal('messages', 'sig')],
      [{ type: 'redacted-thinking', signature: { format: 'messages', data: 'red' } }],
    ),
    [
      {
        id: `rs_${id}0000`,
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: '' }],
        encrypted_content: packSignature({ format: 'messages', data: 'sig' }),
      },
      {
        id: `rs_${id}0001`,
        type: 'reasoning',
        summary: [],
        encrypted_content: packSignature({ format: 'messages', data: 'red' }),
      },
    ],
  ],
  [
    'calls: with arguments, without any, without an id',
    blocks([call('c1'), json('{"a"'), json(':1}')], [call('c2')], [call('')]),
    [
      {
        id: `fc_${id}0000`,
        type: 'function_call',
        status: 'completed',
        arguments: '{"a":1}',
        call_id: 'c1',
        name: 'f',
      },
      { id: `fc_${id}0001`, type: 'function_call', status: 'completed', arguments: '{}', call_id: 'c2', name: 'f' },
      {
        id: `fc_${id}0002`,
        type: 'function_call',
        status: 'completed',
        arguments: '{}',
        call_id: `call_${id}0002`,
        name: 'f',
      },
    ],
  ],
  [
    "a custom tool's input is the bare text; a tool of a namespace has its own name",
    blocks([call('c1', 'patch'), json('{"inp'), json('ut":"*** \\u00'), json('e9\\n"}')], [call('c2', 'n__local')]),
    [
      {
        id: `ctc_${id}0000`,
        type: 'custom_tool_call',
        status: 'completed',
        call_id: 'c1',
        name: 'patch',
        input: '*** é\n',
      },
      {
        id: `fc_${id}0001`,
        type: 'function_call',
        status: 'completed',
        arguments: '{}',
        call_id: 'c2',
        name: 'local',
        namespace: 'n',
      },
    ],
  ],
  [
    "a call's own signature goes ahead of it",
    blocks([{ type: 'tool-call', id: 'c1', name: 'f', signature: { format: 'gemini', data: 'sig' } }]),
    [
      {
        id: `rs_${id}0000`,
        type: 'reasoning',
        summary: [],
        encrypted_content: packCallSignature({ callId: 'c1', signature: { format: 'gemini', data: 'sig' } }),
      },
      { id: `fc_${id}0001`, type: 'function_call', status: 'completed', arguments: '{}', call_id: 'c1', name: 'f' },
    ],
  ],
  [
    'citations with and without a place',
    blocks([
      { type: 'text' },
      { type: 'citation-delta', citation: { type: 'url', url: 'https://a', title: 'A' } },
      words('abc'),
      { type: 'citation-delta', citation: { type: 'url', url: 'https://b', start: 1, end: 2 } },
    ]),
    [
      {
        id: `msg_${id}0000`,
        type: 'message',
        status: 'completed',
        role: 'assistant',
        content: [
          {
            type: 'output_text',
            text: 'abc',
            annotations: [
              { type: 'url_citation', url: 'https://b', title: 'https://b', start_index: 1, end_index: 2 },
              { type: 'url_citation', url: 'https://a', title: 'A', start_index: 0, end_index: 3 },
            ],
            logprobs: [],
          },
        ],
      },
    ],
  ],
  [
    'a hosted call keeps its own form and events',
    blocks([
      { type: 'opaque', wire: 'responses', raw: { type: 'web_search_call', id: 'ws_1', status: 'in_progress' } },
      {
        type: 'opaque-delta',
        raw: { type: 'response.web_search_call.searching', sequence_number: 77, output_index: 9, item_id: 'ws_1' },
      },
      {
        type: 'opaque-delta',
        raw: { type: 'response.output_item.done', item: { type: 'web_search_call', id: 'ws_1', status: 'completed' } },
      },
    ]),
    [{ type: 'web_search_call', id: 'ws_1', status: 'completed' }],
  ],
];

for (const [title, events, expected] of outputs) {
  test(`output: ${title}`, (t) => {
    const { output, losses } = tell([start, ...events, stop()]);
    t.deepEqual(output, expected);
    t.deepEqual(losses, []);
  });
}

test("a custom tool's input streams as it arrives", (t) => {
  const events: ModelEvent[] = [
    start,
    ...blocks([call('c', 'patch'), json('{"input":"ab'), json('cd'), json('"}')]),
    stop(),
  ];
  const { types } = tell(events);
  t.is(types.filter((type) => type === 'custom_tool_call_input.delta').length, 2);
});

test('blocks and citations that only others know are losses', (t) => {
  const { output, losses } = tell([
    start,
    ...blocks(
      [{ type: 'opaque', wire: 'messages', raw: { type: 'server_tool_use' } }],
      [
        { type: 'text' },
        words('a'),
        { type: 'citation-delta', citation: { type: 'opaque', wire: 'messages', value: { type: 'char_location' } } },
      ],
    ),
    stop('pause'),
  ]);
  t.is(output.length, 1);
  t.deepEqual(losses, ['dropped output.server_tool_use', 'dropped output.content.annotations', 'approximated status']);
});

const ends: readonly (readonly [Extract<ModelEvent, { type: 'message-stop' }>['finish'], Body, string, string])[] = [
  ['end', { type: 'text' }, 'completed', 'completed'],
  ['stop-sequence', { type: 'text' }, 'completed', 'completed'],
  ['tool-call', { type: 'text' }, 'completed', 'completed'],
  ['length', { type: 'text' }, 'max_output_tokens', 'incomplete'],
  ['context-full', { type: 'text' }, 'max_output_tokens', 'incomplete'],
  ['filtered', { type: 'text' }, 'content_filter', 'incomplete'],
  ['filtered', { type: 'refusal' }, 'completed', 'completed'],
];

for (const [finish, block, expected, status] of ends) {
  test(`an end by ${finish} after ${block.type}`, (t) => {
    const { text, output } = tell([start, ...blocks([block, words('a')]), stop(finish)]);
    t.is(readResponsesStream(text).stop, expected);
    t.is(output[0]?.status, status);
  });
}

test('a call that the token limit cut is incomplete; the one before it is not', (t) => {
  const { output } = tell([start, ...blocks([call('1'), json('{}')], [call('2'), json('{"a')]), stop('length')]);
  t.deepEqual(
    output.map(({ status }) => status),
    ['completed', 'incomplete'],
  );
});

const failure: ModelEvent = { type: 'error', fault: { kind: 'upstream-overloaded', message: 'busy' } };
const breaks: readonly (readonly [string, readonly ModelEvent[], number])[] = [
  ['before anything', [failure], 0],
  ['after the start', [start, failure], 0],
  ['after a block', [start, ...blocks([{ type: 'text' }, words('a')]), failure], 1],
  ['inside a call', [start, ...blocks([call('1')], [call('2'), json('{"a')]).slice(0, -1), failure], 1],
];

for (const [title, events, done] of breaks) {
  test(`a failure ${title} becomes an error event and response.failed`, (t) => {
    const { text, output, types } = tell(events);
    const facts = readResponsesStream(text);
    t.is(facts.stop, 'failed');
    t.is(facts.error, 'busy');
    t.is(output.length, done);
    t.deepEqual(types.slice(-2), ['error', 'failed']);
  });
}

test('during a silence response.in_progress is repeated with the next sequence number', (t) => {
  const out: SseRecord[] = [];
  const running = encodeStream.start(context());
  running.progress?.(out);
  t.deepEqual(out, [], 'not before the answer has begun');
  for (const event of [start, ...blocks([{ type: 'text' }, words('a')])]) running.step(event, out);
  running.progress?.(out);
  running.step(stop('end'), out);
  running.end(out);
  const records = out.map(({ data }) => JSON.parse(data));
  t.deepEqual(
    records.map(({ sequence_number }) => sequence_number),
    records.map((_, index) => index),
  );
  t.is(records.filter(({ type }) => type === 'response.in_progress').length, 2);
  t.deepEqual(records.findLast(({ type }) => type === 'response.in_progress').response.id, records[0].response.id);
});

test('each piece of a long call is one event', (t) => {
  const deltas = (count: number): ModelEvent[] => [
    start,
    { type: 'block-start', index: 0, block: call('1') },
    ...Array.from({ length: count }, (): ModelEvent => ({ type: 'input-delta', index: 0, json: '"x' })),
    { type: 'block-stop', index: 0 },
    stop('tool-call'),
  ];
  const events = deltas(50_000);
  const out = runWhole(encodeStream, context(), events);
  t.is(out.length, 50_000 + 6);
});
