import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { lastValueFrom, toArray } from 'rxjs';
import { Exchange } from '../../../engine/exchange.ts';
import { dataOf } from '../../../engine/http/endpoint.ts';
import type { Usage } from '../../../engine/model/event.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { ClientProtocol, UpstreamProtocol } from '../../../engine/model/protocol.ts';
import { readUsage } from '../../../engine/operators/read-events.ts';
import { MarkedReader } from '../../../engine/operators/relay-reply.ts';
import { createPipeline } from '../../../engine/pipeline.ts';
import { playRecording } from '../../../engine/upstream/play-recording.ts';
import { chatClient, chatUpstream, plainDialect } from '../../../protocols/chat/index.ts';
import { messagesClient, messagesUpstream } from '../../../protocols/messages/index.ts';
import { responsesClient, responsesUpstream } from '../../../protocols/responses/index.ts';
import { incomingOf, replyContext } from '../../support/context.ts';
import { configOf, gatewayOf } from '../../support/gateway-of.ts';
import { decodeRecording, type Recording, recordingsOf } from '../../support/upstreams/recordings.ts';

/** What is read of chunks with this marker, if at most so many bytes may be held. */
const read = (marker: string | undefined, mostBytes: number, chunks: readonly string[]): readonly string[] => {
  const seen: string[] = [];
  const reader = new MarkedReader(marker, {
    reserve: (bytes) => bytes <= mostBytes,
    read: (chunk) => seen.push(chunk.toString()),
    complete: () => seen.push('end'),
    release: () => {},
  });
  for (const chunk of chunks) reader.next(Buffer.from(chunk));
  reader.complete();
  return seen;
};

const readings: readonly (readonly [title: string, ...Parameters<typeof read>, seen: readonly string[]])[] = [
  ['within the bound it is read to its end', undefined, 6, ['abc', 'def'], ['abc', 'def', 'end']],
  ['beyond the bound, neither the rest nor the end is read', undefined, 6, ['abc', 'defg', 'h', ''], ['abc']],
  ['without the marker nothing is read', 'xyz', 100, ['a', 'x', 'yx'], ['end']],
  ['what came before the marker comes first', 'xyz', 100, ['a', 'bxyzc', 'd'], ['a', 'bxyzc', 'd', 'end']],
  ['what came before the marker counts', 'xyz', 5, ['a', 'bxyzc', 'd'], []],
  ['long without the marker, it is given up', 'xyz', 100_000, ['a'.repeat(70_000), 'xyz', 'd'], []],
];
for (const [title, marker, most, chunks, seen] of readings) {
  test(`the reasoning of an answer: ${title}`, (t) => t.deepEqual(read(marker, most, chunks), seen));
}

/** Serves a recording to a client of the same format, in chunks; what the client gets and what is reported. */
const pass = async (
  t: ExecutionContext,
  format: string,
  client: ClientProtocol,
  recording: Recording,
  chunkBytes: number,
) => {
  const config = configOf({
    Providers: [{ name: 'p', baseUrl: 'http://127.0.0.1:1', apiKey: 'k', models: ['m'] }],
    transformers: [
      { name: format, provider: 'p', ...(client === responsesClient && { options: { api: 'responses' } }) },
    ],
  });
  const { bytes, streamed } = recording;
  const chunks = [];
  for (let from = 0; from < bytes.length; from += chunkBytes) {
    chunks.push({ atMs: 0, bytes: bytes.subarray(from, from + chunkBytes) });
  }
  const headers = { 'content-type': streamed ? 'text/event-stream' : 'application/json' };
  const answer = { status: 200, headers, headMs: 0, chunks, fault: undefined };
  const gateway = { ...gatewayOf(t, config), upstreams: playRecording(answer, 0) };
  const said = [{ role: 'user', content: 'hi' }];
  const asksUsage = streamed && client === chatClient && { stream_options: { include_usage: true } };
  const body = { model: 'p,m', stream: streamed, max_tokens: 9, messages: said, input: 'hi', ...asksUsage };
  let usage: Usage | undefined;
  let passed: unknown;
  const exchange = new Exchange({
    incoming: incomingOf({ ...body, [client === responsesClient ? 'messages' : 'input']: undefined }),
    client,
    listener: {
      counted: (tokens) => {
        usage = tokens;
      },
      answered: (relays) => {
        passed = relays;
      },
    },
  });
  const parts = await lastValueFrom(createPipeline(gateway)(exchange).pipe(toArray()));
  const data = parts.map((part) => (part.type === 'data' ? dataOf(part) : part.type === 'whole' ? part.body : ''));
  return { passed, usage, bytes: Buffer.concat(data.map((one) => Buffer.from(one))) };
};

const wires: readonly (readonly [string, string, ClientProtocol, UpstreamProtocol])[] = [
  ['anthropic', 'anthropic', messagesClient, messagesUpstream],
  ['openai-chat', 'openai', chatClient, chatUpstream(plainDialect)],
  ['openai-responses', 'openai', responsesClient, responsesUpstream],
];
for (const [recordings, format, client, upstream] of wires) {
  const whole = recordingsOf(recordings).filter(({ status, expected }) => status === 200 && !expected.error_event);
  for (const recording of whole) {
    test(`a recorded answer passes unchanged, and its usage is reported: ${recordings}/${recording.name}`, async (t) => {
      const events = decodeRecording(recording, upstream, replyContext());
      const expected = events.reduce<Usage>((usage, event) => readUsage(event, usage), {});
      for (const chunkBytes of [997, 60_000]) {
        const { passed, usage, bytes } = await pass(t, format, client, recording, chunkBytes);
        t.like(passed, { reply: true });
        t.deepEqual(usage, expected);
        // What follows the terminal record is left out.
        t.true(bytes.equals(recording.bytes.subarray(0, bytes.length)));
        t.true(bytes.length + 64 > recording.bytes.length);
      }
    });
  }
}

const sse = (event: JsonObject): string =>
  `${event.type === undefined ? '' : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`;

const streamed = (records: readonly string[]): Recording => {
  const [some] = recordingsOf('openai-chat').filter((recording) => recording.streamed);
  if (!some) throw new Error('there is no recording');
  return { ...some, bytes: Buffer.from(records.join('')) };
};

/** Texts that look like usage, or like the end of an answer. */
const hostile = fc
  .array(
    fc.constantFrom(
      ...['"usage":{"prompt_tokens":7}', '"usage": {', '[DONE]', 'message_stop', '\n\ndata: ', '"', '\\', 'żółw', '}'],
      'long '.repeat(300),
    ),
    { maxLength: 5 },
  )
  .map((pieces) => pieces.join(''));

const counts = fc.record({ input: fc.nat(), output: fc.nat() });

const chatRecords = (texts: readonly string[], { input, output }: { input: number; output: number }) => [
  ...texts.map((content) => sse({ choices: [{ index: 0, delta: { content }, finish_reason: null }], usage: null })),
  sse({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
  sse({ choices: [], usage: { prompt_tokens: input, completion_tokens: output }, service_tier: 'flex' }),
  'data: [DONE]\n\n',
];

const messagesRecords = (texts: readonly string[], { input, output }: { input: number; output: number }) => [
  sse({ type: 'message_start', message: { id: 'msg_1', model: 'm', content: [], usage: { input_tokens: input } } }),
  sse({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
  ...texts.map((text) => sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  sse({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: output } }),
  sse({ type: 'message_stop' }),
];

for (const [format, client, upstream, recordsOf] of [
  ['openai', chatClient, chatUpstream(plainDialect), chatRecords],
  ['anthropic', messagesClient, messagesUpstream, messagesRecords],
] as const) {
  test(`whatever a passing stream's texts and pieces, its usage is the decoder's: ${format}`, async (t) => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(hostile, { minLength: 1, maxLength: 30 }),
        counts,
        fc.integer({ min: 1, max: 3000 }),
        async (texts, both, size) => {
          const recording = streamed(recordsOf(texts, both));
          const expected = decodeRecording(recording, upstream, replyContext()).reduce<Usage>(
            (usage, event) => readUsage(event, usage),
            {},
          );
          const { usage, bytes } = await pass(t, format, client, recording, size);
          t.deepEqual(usage, expected);
          t.true(bytes.equals(recording.bytes));
        },
      ),
      { numRuns: 60 },
    );
  });
}

test('what a passing stream has reported counts, even if the stream breaks off', async (t) => {
  const [first = '', second = '', third = ''] = messagesRecords(['x'], { input: 11, output: 7 });
  const start = await pass(t, 'anthropic', messagesClient, streamed([first, second, third]), 60_000);
  t.deepEqual(start.usage, { input: 11 });
  const chunk = (completion_tokens: number): string =>
    sse({ choices: [{ index: 0, delta: { content: 'x' } }], usage: { prompt_tokens: 11, completion_tokens } });
  const each = await pass(t, 'openai', chatClient, streamed([chunk(1), chunk(2)]), 60_000);
  t.deepEqual(each.usage, { input: 11, output: 2 });
});

test('the usage in a record that is too long to be held is read, unless it is beyond what is read', async (t) => {
  for (const [length, expected] of [
    [2 << 20, 11],
    [5 << 20, undefined],
  ] as const) {
    const output = [{ type: 'image_generation_call', id: 'i', result: 'x'.repeat(length) }];
    const response = {
      id: 'r',
      model: 'm',
      status: 'completed',
      output,
      usage: { input_tokens: 11, output_tokens: 7 },
    };
    const recording = streamed([sse({ type: 'response.completed', response })]);
    const { usage, bytes } = await pass(t, 'openai', responsesClient, recording, 60_000);
    t.is(usage?.input, expected);
    t.true(bytes.equals(recording.bytes));
  }
});

test('a passing record that is nested too deeply to be decoded passes, and nothing throws at the end', async (t) => {
  const deep = 200_000;
  const nested = `${'['.repeat(deep)}${']'.repeat(deep)}`;
  const records = [
    `data: {"choices":[{"index":0,"delta":{"content":"x","annotations":${nested}}}]}`,
    'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}',
    'data: [DONE]',
  ];
  const recording = streamed(records.map((record) => `${record}\n\n`));
  const passed = await pass(t, 'openai', chatClient, recording, 60_000);
  t.true(passed.bytes.equals(recording.bytes));
});
