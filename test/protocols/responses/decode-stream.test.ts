import test from 'ava';
import type { ReplyContext } from '../../../engine/model/context.ts';
import type { ModelEvent } from '../../../engine/model/event.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import { decodeRequest } from '../../../protocols/responses/decode-request/decode-request.ts';
import { responsesUpstream } from '../../../protocols/responses/index.ts';
import { replyContext } from '../../support/context.ts';
import { checkEvents } from '../../support/events.ts';

const { decodeStream, decodeReply } = responsesUpstream;

const decode = (events: readonly JsonObject[], context: ReplyContext = replyContext()): ModelEvent[] => {
  const records = events.map((event) => ({ event: String(event.type ?? ''), data: JSON.stringify(event) }));
  const out = runWhole(decodeStream, context, records);
  checkEvents(out);
  return out;
};

const brief = (events: readonly ModelEvent[]): string => events.map(briefEvent).join(' ');

const briefEvent = (event: ModelEvent): string => {
  switch (event.type) {
    case 'message-start':
      return `start:${event.id}`;
    case 'block-start':
      return event.block.type === 'tool-call' ? `[call:${event.block.id}:${event.block.name}` : `[${event.block.type}`;
    case 'text-delta':
    case 'thinking-delta':
      return event.text;
    case 'input-delta':
      return event.json;
    case 'signature-delta':
      return `sig:${event.signature.data}`;
    case 'citation-delta':
      return `cite:${event.citation.type}`;
    case 'opaque-delta':
      return `raw:${event.raw.type}`;
    case 'block-stop':
      return ']';
    case 'message-stop':
      return `stop:${event.finish}`;
    case 'error':
      return `error:${event.fault.kind}`;
    default:
      return event satisfies never;
  }
};

const created: JsonObject = { type: 'response.created', response: { id: 'r', model: 'm' } };
const completed = (output: readonly JsonObject[] = [], more: JsonObject = {}): JsonObject => ({
  type: 'response.completed',
  response: { id: 'r', model: 'm', status: 'completed', output, ...more },
});
const added = (output_index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.added',
  output_index,
  item,
});
const done = (output_index: number, item: JsonObject): JsonObject => ({
  type: 'response.output_item.done',
  output_index,
  item,
});
const on = (output_index: number, type: string, more: JsonObject): JsonObject => ({
  type: `response.${type}`,
  output_index,
  ...more,
});
const fn = (more: JsonObject = {}): JsonObject => ({
  type: 'function_call',
  id: 'fc_1',
  call_id: 'c1',
  name: 'f',
  arguments: '',
  ...more,
});
const message = (content: readonly JsonObject[] = []): JsonObject => ({ type: 'message', id: 'msg_1', content });
const text = (words: string, more: JsonObject = {}): JsonObject => ({ type: 'output_text', text: words, ...more });
const note = { type: 'url_citation', url: 'https://h', start_index: 0, end_index: 1 };

const cases: readonly (readonly [string, readonly JsonObject[], string])[] = [
  [
    'arguments that only a done event brings',
    [
      added(0, fn()),
      on(0, 'function_call_arguments.done', { arguments: '{"a":1}' }),
      done(0, fn({ arguments: '{"a":1}' })),
    ],
    '[call:c1:f {"a":1} ] stop:tool-call',
  ],
  [
    'arguments that only the done item brings',
    [added(0, fn()), done(0, fn({ arguments: '{"a":1}' }))],
    '[call:c1:f {"a":1} ] stop:tool-call',
  ],
  ['an item that was never added', [done(0, fn({ arguments: '{}' }))], '[call:c1:f {} ] stop:tool-call'],
  [
    'arguments of which only a part was streamed',
    [added(0, fn()), on(0, 'function_call_arguments.delta', { delta: '{"a"' }), done(0, fn({ arguments: '{"a":1}' }))],
    '[call:c1:f {"a" :1} ] stop:tool-call',
  ],
  [
    'empty deltas say nothing',
    [added(0, fn()), on(0, 'function_call_arguments.delta', { delta: '' }), done(0, fn())],
    '[call:c1:f ] stop:tool-call',
  ],
  [
    'a name that comes late',
    [added(0, fn({ name: '' })), done(0, fn({ arguments: '{}' }))],
    '[call:c1:f {} ] stop:tool-call',
  ],
  [
    'a call without an id gets one',
    [added(1, fn({ id: '', call_id: '' }))],
    `[call:call_${replyContext().id}0001:f ] stop:tool-call`,
  ],
  [
    'calls whose fragments interleave stay apart: the first is live, the second waits',
    [
      added(0, fn()),
      added(1, fn({ call_id: 'c2' })),
      on(1, 'function_call_arguments.delta', { delta: 'B1' }),
      on(0, 'function_call_arguments.delta', { delta: 'A1' }),
      on(1, 'function_call_arguments.delta', { delta: 'B2' }),
      done(1, fn({ call_id: 'c2', arguments: 'B1B2' })),
      on(0, 'function_call_arguments.delta', { delta: 'A2' }),
      done(0, fn({ arguments: 'A1A2' })),
      added(2, fn({ call_id: 'c3' })),
      done(2, fn({ call_id: 'c3', arguments: 'C' })),
    ],
    '[call:c1:f A1 A2 ] [call:c2:f B1 B2 ] [call:c3:f C ] stop:tool-call',
  ],
  [
    'one that waits goes on live once it is its turn',
    [
      added(0, fn()),
      added(1, fn({ call_id: 'c2' })),
      on(1, 'function_call_arguments.delta', { delta: 'B1' }),
      done(0, fn({ arguments: 'A' })),
      on(1, 'function_call_arguments.delta', { delta: 'B2' }),
      done(1, fn({ call_id: 'c2', arguments: 'B1B2' })),
    ],
    '[call:c1:f A ] [call:c2:f B1 B2 ] stop:tool-call',
  ],
  [
    'item ids that change between events: the index counts',
    [
      added(0, message()),
      on(0, 'output_text.delta', { item_id: 'other', content_index: 0, delta: 'a' }),
      done(0, { ...message([text('a')]), id: 'third' }),
    ],
    '[text a ] stop:end',
  ],
  [
    'events without an index: the item id counts',
    [
      { type: 'response.output_item.added', item: message() },
      { type: 'response.output_text.delta', item_id: 'msg_1', delta: 'a' },
      { type: 'response.output_item.done', item: message([text('a')]) },
    ],
    '[text a ] stop:end',
  ],
  [
    'a custom call is wrapped, wherever its text is cut',
    [
      added(0, { type: 'custom_tool_call', call_id: 'c1', name: 'p', input: '' }),
      on(0, 'custom_tool_call_input.delta', { delta: '"x' }),
      on(0, 'custom_tool_call_input.delta', { delta: '\ud83d' }),
      on(0, 'custom_tool_call_input.delta', { delta: '\ude00' }),
      done(0, { type: 'custom_tool_call', call_id: 'c1', name: 'p', input: '"x😀\n' }),
    ],
    '[call:c1:p {"input":"\\"x \\ud83d \\ude00 \\n "} ] stop:tool-call',
  ],
  [
    'a custom call whose text only a done event brings',
    [
      added(0, { type: 'custom_tool_call', call_id: 'c1', name: 'p', input: '' }),
      on(0, 'custom_tool_call_input.done', { input: 'x' }),
      done(0, { type: 'custom_tool_call', call_id: 'c1', name: 'p' }),
    ],
    '[call:c1:p {"input":"x "} ] stop:tool-call',
  ],
  [
    'a custom call without text',
    [done(0, { type: 'custom_tool_call', call_id: 'c1', name: 'p' })],
    '[call:c1:p {"input":""} ] stop:tool-call',
  ],
  [
    'parts of a message are blocks; what is empty is none',
    [
      added(0, message()),
      on(0, 'output_text.delta', { content_index: 0, delta: 'a' }),
      on(0, 'refusal.delta', { content_index: 1, delta: 'no' }),
      done(0, message([text('a'), { type: 'refusal', refusal: 'no' }, text('')])),
    ],
    '[text a ] [refusal no ] stop:filtered',
  ],
  [
    'annotations are told once',
    [
      added(0, message()),
      on(0, 'output_text.delta', { content_index: 0, delta: 'a' }),
      on(0, 'output_text.annotation.added', { content_index: 0, annotation_index: 0, annotation: note }),
      done(0, message([text('a', { annotations: [note, { type: 'file_citation', file_id: 'f' }] })])),
    ],
    '[text a cite:url cite:opaque ] stop:end',
  ],
  [
    'parts of a summary are set apart; the seal is that of the done item',
    [
      added(0, { type: 'reasoning', summary: [], encrypted_content: 'early' }),
      on(0, 'reasoning_summary_text.delta', { summary_index: 0, delta: 'a' }),
      on(0, 'reasoning_summary_text.delta', { summary_index: 1, delta: 'b' }),
      done(0, { type: 'reasoning', summary: [{ text: 'a' }, { text: 'b' }], encrypted_content: 'late' }),
    ],
    '[thinking a \n\n b sig:late ] stop:end',
  ],
  [
    'reasoning that is only sealed',
    [done(0, { type: 'reasoning', summary: [], encrypted_content: 'x' })],
    '[redacted-thinking ] stop:end',
  ],
  [
    'reasoning that only the whole item holds',
    [
      added(0, { type: 'reasoning' }),
      on(0, 'reasoning_text.delta', { delta: 'a' }),
      on(0, 'reasoning_text.done', { text: 'ab' }),
      done(0, { type: 'reasoning', summary: [], content: [{ text: 'abc' }, { text: 'd' }] }),
    ],
    '[thinking a b c \n\n d sig: ] stop:end',
  ],
  ['reasoning that says nothing', [done(0, { type: 'reasoning', summary: [] })], 'stop:end'],
  [
    'open reasoning without a seal',
    [
      added(0, { type: 'reasoning' }),
      on(0, 'reasoning_text.delta', { content_index: 0, delta: 'a' }),
      done(0, { type: 'reasoning' }),
    ],
    '[thinking a sig: ] stop:end',
  ],
  [
    'hosted calls',
    [
      added(0, { type: 'web_search_call', id: 'ws_1' }),
      on(0, 'web_search_call.searching', { item_id: 'ws_1' }),
      done(0, { type: 'web_search_call', id: 'ws_1', status: 'completed' }),
    ],
    '[opaque raw:response.web_search_call.searching raw:response.output_item.done ] stop:end',
  ],
  [
    'events of an unknown kind are skipped, whatever they look like',
    [{ type: 'response.new_thing.delta', delta: { a: 1 } }, { type: 'keepalive' }],
    'stop:end',
  ],
];

for (const [title, events, expected] of cases) {
  test(title, (t) => t.is(brief(decode([created, ...events, completed()])), `start:r ${expected}`));
}

const ends: readonly (readonly [string, readonly JsonObject[], string])[] = [
  [
    'all at once, in the terminal event',
    [completed([message([text('a')]), fn({ arguments: '{}' })])],
    'start:r [text a ] [call:c1:f {} ] stop:tool-call',
  ],
  [
    'an item that was never done is completed from the terminal event',
    [created, added(0, fn()), completed([fn({ arguments: '{}' })])],
    'start:r [call:c1:f {} ] stop:tool-call',
  ],
  [
    'no output in the terminal event',
    [created, done(0, message([text('a')])), completed()],
    'start:r [text a ] stop:end',
  ],
  [
    'cut by length, even with a call',
    [
      created,
      done(0, fn({ arguments: '{' })),
      { type: 'response.incomplete', response: { incomplete_details: { reason: 'max_output_tokens' } } },
    ],
    'start:r [call:c1:f { ] stop:length',
  ],
  [
    'cut by a filter',
    [
      created,
      {
        type: 'response.incomplete',
        response: { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      },
    ],
    'start:r stop:filtered',
  ],
  [
    'failed',
    [
      created,
      { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error', message: 'x' } } },
    ],
    'start:r error:upstream-error',
  ],
  [
    'an error event, nested; what follows does not count',
    [
      created,
      { type: 'error', error: { type: 'insufficient_quota', code: 'insufficient_quota', message: 'x' } },
      { type: 'response.failed' },
    ],
    'start:r error:upstream-billing',
  ],
  [
    'an error event, flat',
    [created, { type: 'error', code: 'rate_limit_exceeded', message: 'x', param: null }],
    'start:r error:upstream-rate-limit',
  ],
  ['an error without type', [created, { error: { message: 'x' } }], 'start:r error:upstream-error'],
  [
    'a call that is never named',
    [created, done(0, fn({ name: '', arguments: '{}' })), completed()],
    'start:r error:upstream-garbled',
  ],
  ['cut off', [created, added(0, fn())], 'start:r [call:c1:f error:upstream-cut'],
  ['nothing at all', [], 'error:upstream-cut'],
  [
    'an event that cannot be read',
    [created, on(0, 'output_text.delta', { delta: 5 })],
    'start:r error:upstream-garbled',
  ],
  ['what comes after the end', [completed(), added(0, fn()), completed()], 'start:r stop:end'],
];

for (const [title, events, expected] of ends) test(`end: ${title}`, (t) => t.is(brief(decode(events)), expected));

test('[DONE] is skipped, other text that isn’t JSON is an error', (t) => {
  const run = (...data: readonly string[]) =>
    brief(
      runWhole(
        decodeStream,
        replyContext(),
        data.map((one) => ({ event: '', data: one })),
      ),
    );
  t.is(run(JSON.stringify(completed()), '[DONE]'), 'start:r stop:end');
  t.is(run('[DONE]'), 'error:upstream-cut');
  t.is(run('<html>'), 'error:upstream-garbled');
  t.is(run('[1]'), 'error:upstream-garbled');
});

test("names go back to the client's own", (t) => {
  const names = new ToolNames();
  names.wire('mcp.read file', /^[a-z_]+$/, 64);
  const request = decodeRequest({
    model: 'm',
    input: 'hi',
    tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: 'local' }] }],
  });
  const events = decode(
    [done(0, fn({ name: 'mcp_read_file' })), done(1, fn({ name: 'local', namespace: 'n' })), completed()],
    replyContext({ names, request }),
  );
  t.is(brief(events), 'start: [call:c1:mcp.read file ] [call:c1:n__local ] stop:tool-call');
});

test('usage: cached and written tokens are subtracted from the input, never below zero', (t) => {
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 6, cache_write_tokens: 1 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 2 },
  };
  const stop = (more: JsonObject) => decode([completed([{ type: 'web_search_call', id: 'ws' }], more)]).at(-1);
  t.deepEqual(stop({ usage, service_tier: 'flex' }), {
    type: 'message-stop',
    finish: 'end',
    usage: { input: 3, cacheRead: 6, cacheWrite: 1, output: 5, reasoning: 2, webSearches: 1, serviceTier: 'flex' },
  });
  const odd = stop({ usage: { input_tokens: 1, input_tokens_details: { cached_tokens: 6 } } });
  t.is(odd?.type === 'message-stop' ? odd.usage.input : -1, 0);
});

const bodies: readonly (readonly [string, JsonObject, string])[] = [
  ['a whole reply', { id: 'r', status: 'completed', output: [message([text('a')])] }, 'start:r [text a ] stop:end'],
  ['one without status', { id: 'r', output: [] }, 'start:r stop:end'],
  [
    'an incomplete one',
    { id: 'r', status: 'incomplete', output: [], incomplete_details: { reason: 'max_output_tokens' } },
    'start:r stop:length',
  ],
  [
    'a failed one',
    { id: 'r', status: 'failed', output: [], error: { code: 'server_error', message: 'x' } },
    'start:r error:upstream-error',
  ],
  [
    'an error with status 200',
    { error: { message: 'x', code: 'rate_limit_exceeded' } },
    'start: error:upstream-rate-limit',
  ],
  ['one that is still at work', { id: 'r', status: 'queued', output: [] }, 'error:upstream-garbled'],
  ['something else', { choices: [] }, 'error:upstream-garbled'],
];

for (const [title, body, expected] of bodies) {
  test(`reply: ${title}`, (t) => t.is(brief(decodeReply(body, replyContext())), expected));
}

test('a content part of an unknown kind is a loss, and the rest is read', (t) => {
  const context = replyContext();
  const content = [
    { type: 'output_audio', data: 'x' },
    { type: 'output_text', text: 'a' },
  ];
  const body = { status: 'completed', output: [{ type: 'message', id: 'i', content }] };
  const events = decodeReply(body, context);
  t.true(events.some((event) => event.type === 'text-delta' && event.text === 'a'));
  t.deepEqual(
    context.losses.list.map(({ path }) => path),
    ['reply.content'],
  );
});
