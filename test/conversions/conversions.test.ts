import test from 'ava';
import fc from 'fast-check';
import type { ModelEvent } from '../../engine/model/event.ts';
import { isJsonObject, type JsonObject, parseJson, writeJson } from '../../engine/model/json/json.ts';
import { Losses } from '../../engine/model/loss.ts';
import { runWhole } from '../../engine/model/machine.ts';
import type { ClientProtocol, UpstreamProtocol } from '../../engine/model/protocol.ts';
import { foldReply, isFault } from '../../engine/model/reply.ts';
import type { ModelRequest } from '../../engine/model/request.ts';
import { type ClientWire, clientWires } from '../../engine/model/wire/client-wires.ts';
import { sseText } from '../../engine/model/wire/sse.ts';
import { ToolNames } from '../../engine/model/wire/tool-names.ts';
import { chatClient, chatUpstream, plainDialect } from '../../protocols/chat/index.ts';
import { messagesClient, messagesUpstream } from '../../protocols/messages/index.ts';
import { responsesClient, responsesUpstream } from '../../protocols/responses/index.ts';
import { formats } from '../../transformers/index.ts';
import { exactArgs } from '../support/arbitraries/exact-args.ts';
import { callReplies, histories, quoted } from '../support/call-bodies.ts';
import { plainRequest, replyContext } from '../support/context.ts';
import type { Facts, FactUsage } from '../support/facts.ts';
import { readChatReply, readChatStream } from '../support/readers/chat.ts';
import { readMessagesReply, readMessagesStream } from '../support/readers/messages.ts';
import { readResponsesReply, readResponsesStream } from '../support/readers/responses.ts';
import { decodeRecording, type Recording, recordingsOf, usageOf } from '../support/upstreams/recordings.ts';

/** Every recorded answer, in each client protocol: a well-formed stream, and a whole reply, that tell the recorded facts. */
interface Client {
  readonly protocol: ClientProtocol;
  readonly readStream: (text: string) => Facts;
  readonly readReply: (body: unknown) => Facts;
  /** The protocol's words for why an answer ends. */
  readonly stops: Readonly<Record<Stop, string>>;
  /** What stands for token counts that the upstream didn't give: some protocols can't leave them out. */
  readonly noUsage: FactUsage | undefined;
}

const zeros: FactUsage = { prompt: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 };

type Stop = 'declined' | 'end' | 'sequence' | 'length' | 'tools' | 'filtered' | 'pause' | 'compaction';

const clients: Readonly<Record<ClientWire, Client>> = {
  messages: {
    protocol: messagesClient,
    readStream: readMessagesStream,
    readReply: readMessagesReply,
    noUsage: zeros,
    stops: {
      end: 'end_turn',
      sequence: 'stop_sequence',
      length: 'max_tokens',
      tools: 'tool_use',
      declined: 'refusal',
      filtered: 'refusal',
      pause: 'pause_turn',
      compaction: 'compaction',
    },
  },
  chat: {
    protocol: chatClient,
    readStream: readChatStream,
    readReply: readChatReply,
    noUsage: undefined,
    stops: {
      end: 'stop',
      sequence: 'stop',
      length: 'length',
      tools: 'tool_calls',
      declined: 'stop',
      filtered: 'content_filter',
      pause: 'stop',
      compaction: 'stop',
    },
  },
  responses: {
    protocol: responsesClient,
    readStream: readResponsesStream,
    readReply: readResponsesReply,
    noUsage: zeros,
    stops: {
      end: 'completed',
      sequence: 'completed',
      length: 'max_output_tokens',
      tools: 'completed',
      declined: 'completed',
      filtered: 'content_filter',
      pause: 'completed',
      compaction: 'completed',
    },
  },
};

const stopWords: Readonly<Record<string, Stop>> = {
  end_turn: 'end',
  stop: 'end',
  completed: 'end',
  stop_sequence: 'sequence',
  max_tokens: 'length',
  length: 'length',
  incomplete: 'length',
  tool_use: 'tools',
  tool_calls: 'tools',
  function_call: 'tools',
  content_filter: 'filtered',
  refusal: 'filtered',
  pause_turn: 'pause',
  compaction: 'compaction',
  STOP: 'end',
  MAX_TOKENS: 'length',
  SAFETY: 'filtered',
};

/** A call is a call, whatever the vendor's word. */
const stopOf = ({ expected }: Recording): Stop => {
  const word = stopWords[expected.stop_reason ?? ''] ?? 'end';
  if (expected.refusal) return 'declined';
  if (expected.prompt_feedback) return 'filtered';
  return word === 'end' && expected.tool_calls.length > 0 ? 'tools' : word;
};

const vendor = (name: string): UpstreamProtocol => {
  const format = formats.get(name);
  if (!format) throw new Error(`no format ${name}`);
  return format.protocol({ baseUrl: new URL('http://localhost'), options: {}, model: 'm', relays: undefined });
};

const upstreams: Readonly<Record<string, UpstreamProtocol>> = {
  anthropic: messagesUpstream,
  'openai-chat': chatUpstream(plainDialect),
  'openai-responses': responsesUpstream,
  deepseek: vendor('deepseek'),
  openrouter: vendor('openrouter'),
  groq: vendor('groq'),
  gemini: vendor('gemini'),
};

/** The parts of one summary are set apart by an empty line, which recordings leave out. */
const tight = (text: string): string => text.replaceAll('\n\n', '');

const learnt = ({ text, reasoning, refusal, toolCalls, stop, usage, model, error }: Facts) => ({
  // A protocol without refusals shows one as text.
  words: refusal + text,
  reasoning: tight(reasoning),
  calls: toolCalls.map(({ name, input }) => ({ name, input })),
  stop,
  usage,
  model,
  error,
});

const recorded = (recording: Recording, client: Client) => {
  const { expected } = recording;
  // One vendor's models may leave their reasoning between tags in the text.
  const [, inside = '', behind = expected.text] = /^<think>([\s\S]*)<\/think>\s*([\s\S]*)$/.exec(expected.text) ?? [];
  const calls = expected.function_call ? [expected.function_call] : expected.tool_calls;
  return {
    words: (expected.refusal ?? '') + behind,
    reasoning: tight((expected.reasoning_summary ?? '') + expected.reasoning + inside.trimStart()),
    calls: calls.map((call) => ({ name: call.name, input: call.arguments })),
    stop: client.stops[stopOf(recording)],
    usage: usageOf(recording) ?? client.noUsage,
    model: expected.model,
    error: undefined,
  };
};

for (const [format, upstream] of Object.entries(upstreams)) {
  for (const recording of recordingsOf(format).filter(({ status }) => status === 200)) {
    for (const name of clientWires) {
      const client = clients[name];
      test(`${format}/${recording.name} → ${name}: the recorded facts, streamed and whole`, (t) => {
        const request = { ...plainRequest, streamUsage: true };
        const context = replyContext({ request, clientBody: { stream_options: { include_usage: true } } });
        const events = decodeRecording(recording, upstream, context);
        const streamed = client.readStream(sseText(runWhole(client.protocol.encodeStream, context, events)));
        const reply = foldReply(events);
        if (isFault(reply)) {
          t.is(streamed.error, reply.message);
          t.truthy(recording.expected.error ?? recording.expected.error_event, 'the recording is of an error');
          return;
        }
        const expected: unknown = recorded(recording, client);
        t.deepEqual(learnt(streamed) as unknown, expected);
        t.deepEqual(learnt(client.readReply(client.protocol.encodeReply(reply, context))) as unknown, expected);
        if (recording.expected.function_call) return;
        const given = streamed.toolCalls.map(({ id }) => id);
        // A vendor may give no ids; clients can't do without.
        const ids = recording.expected.tool_calls.map(({ id }, index) => id ?? given[index]);
        t.deepEqual<unknown, unknown>(given, ids);
        t.true(given.every((id) => id !== '') && new Set(given).size === given.length, 'each call has its own id');
      });
    }
  }
}

/** A vendor's word for the tier that it used, and the one that each client's closed set has for it; absent: none. */
const tiers: readonly (readonly [word: string, told: Readonly<Record<string, string | undefined>>])[] = [
  ['standard', { messages: 'standard', chat: 'default', responses: 'default' }],
  ['default', { messages: 'standard', chat: 'default', responses: 'default' }],
  ['on_demand', { messages: 'standard', chat: 'default', responses: 'default' }],
  ['performance', { messages: 'priority', chat: 'priority', responses: 'priority' }],
  ['priority', { messages: 'priority', chat: 'priority', responses: 'priority' }],
  ['flex', { chat: 'flex', responses: 'flex' }],
  ['batch', { messages: 'batch', responses: 'default' }],
  ['a word of tomorrow', { responses: 'default' }],
  ['constructor', { responses: 'default' }],
];

const tierIn = (text: string): string | undefined => /"service_tier":"([^"]*)"(?!.*"service_tier")/s.exec(text)?.[1];

for (const [word, told] of tiers) {
  for (const name of clientWires) {
    const { protocol } = clients[name];
    test(`service tier "${word}" → ${name}: a word that its clients know, or none, streamed and whole`, (t) => {
      const context = replyContext();
      const events: ModelEvent[] = [
        { type: 'message-start', id: 'i', model: 'm' },
        { type: 'message-stop', finish: 'end', usage: { output: 1, serviceTier: word } },
      ];
      t.is(tierIn(sseText(runWhole(protocol.encodeStream, context, events))), told[name]);
      const reply = foldReply(events);
      if (isFault(reply)) return t.fail(reply.message);
      t.is(tierIn(JSON.stringify(protocol.encodeReply(reply, context))), told[name]);
    });
  }
}

const image = (mediaType: string): ModelRequest => ({
  ...plainRequest,
  turns: [{ role: 'user', parts: [{ type: 'image', source: { kind: 'base64', mediaType, data: 'AA==' } }] }],
});

/** Vendors that accept no images. */
const withoutImages: readonly string[] = ['deepseek'];

for (const [format, upstream] of Object.entries(upstreams)) {
  if (withoutImages.includes(format)) continue;
  for (const [written, plain] of [
    ['image/jpg', 'image/jpeg'],
    ['IMAGE/PNG', 'image/png'],
    ['image/Jpeg; charset=binary', 'image/jpeg'],
  ] as const) {
    test(`${format}: a picture of the type "${written}" goes out as ${plain}`, (t) => {
      const context = { names: new ToolNames(), losses: new Losses('test'), replyIsRelayed: false };
      const body = upstream.encodeRequest({ ...image(written), model: 'llama-4-vision' }, context);
      t.regex(JSON.stringify(body), new RegExp(`"(?:data:)?${plain}[;"]`));
    });
  }
}

const parsed = (text: string): JsonObject => {
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new Error(`no object: ${text}`);
  return value;
};

/** The arguments stand in the text as they are, or once more in quotes. */
const holds = (text: string, args: string): boolean => text.includes(args) || text.includes(quoted(args).slice(1, -1));

for (const [format, upstream] of Object.entries(upstreams)) {
  for (const name of clientWires) {
    const { protocol } = clients[name];
    test(`${name} → ${format} → ${name}: the numbers in arguments keep all their digits`, (t) => {
      fc.assert(
        fc.property(exactArgs, (args) => {
          const request = protocol.decodeRequest(parsed(histories[name](args)));
          const encoding = { names: new ToolNames(), losses: new Losses('test'), replyIsRelayed: false };
          for (const passed of [request, structuredClone(request)]) {
            t.true(holds(writeJson(upstream.encodeRequest(passed, encoding)), args), 'in the history');
          }

          const written = callReplies[upstream.wire]?.(args);
          if (!written) throw new Error(`no reply of ${upstream.wire}`);
          const context = replyContext({ names: new ToolNames() });
          const records = written.records.map((data) => ({ event: '', data }));
          for (const events of [
            upstream.decodeReply(parsed(written.whole), context),
            runWhole(upstream.decodeStream, context, records),
          ]) {
            const reply = foldReply(events);
            if (isFault(reply)) throw new Error(reply.message);
            t.true(holds(writeJson(protocol.encodeReply(reply, context)), args), 'in a whole reply');
            t.true(holds(sseText(runWhole(protocol.encodeStream, context, events)), args), 'in a stream');
          }
        }),
        { numRuns: 30 },
      );
    });
  }
}
