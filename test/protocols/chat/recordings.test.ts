import test from 'ava';
import fc from 'fast-check';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { isJsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { Losses } from '../../../engine/model/loss.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { foldReply, isFault } from '../../../engine/model/reply.ts';
import { sseText } from '../../../engine/model/wire/sse.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import { chatClient, chatUpstream, plainDialect } from '../../../protocols/chat/index.ts';
import { plainRequest, replyContext } from '../../support/context.ts';
import { checkEvents, eventsOf } from '../../support/events.ts';
import type { Facts } from '../../support/facts.ts';
import { readChatReply, readChatStream } from '../../support/readers/chat.ts';
import { type Recording, recordings, requests } from './recordings.ts';

const upstream = chatUpstream(plainDialect);
const counting = () => replyContext({ request: { ...plainRequest, streamUsage: true } });
const good = recordings.filter(({ expected }) => expected.http_status === 200);
const streams = good.filter(({ streamed }) => streamed);

const decode = ({ streamed, bytes }: Recording): ModelEvent[] => {
  if (streamed) return eventsOf(upstream.decodeStream, [bytes], counting());
  const body = parseJson(Buffer.from(bytes).toString());
  return isJsonObject(body) ? upstream.decodeReply(body, counting()) : [];
};

/** The recorded facts in the form of the grammar's. The old form of calls comes out as a call of today. */
const factsOf = ({ expected }: Recording) => {
  const usage = isJsonObject(expected.usage) ? expected.usage : undefined;
  const input = isJsonObject(usage?.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const output = isJsonObject(usage?.completion_tokens_details) ? usage.completion_tokens_details : {};
  const counts = [usage?.total_tokens, usage?.prompt_tokens, usage?.completion_tokens].map(Number);
  const [total = 0, prompt = 0, completion = 0] = counts;
  // Some servers count reasoning beside the completion, so that only the total holds it.
  const isBeside = total - prompt - completion === output.reasoning_tokens;
  const calls = Array.isArray(expected.tool_calls) ? expected.tool_calls.filter(isJsonObject) : [];
  const legacy = isJsonObject(expected.function_call) ? expected.function_call : undefined;
  return {
    text: expected.text,
    reasoning: expected.reasoning,
    refusal: expected.refusal ?? '',
    toolCalls: legacy
      ? [{ id: 'call_0123456789abcdef012345670', name: legacy.name, input: legacy.arguments }]
      : calls.map((call) => ({ id: call.id, name: call.name, input: call.arguments })),
    stop: legacy ? 'tool_calls' : expected.stop_reason,
    usage: usage && {
      prompt: usage.prompt_tokens,
      cacheRead: input.cached_tokens ?? 0,
      cacheWrite: input.cache_write_tokens ?? 0,
      output: isBeside ? total - prompt : completion,
      reasoning: output.reasoning_tokens ?? 0,
    },
    signatures: [],
    model: expected.model,
    error: undefined,
  };
};

const withoutId = ({ id: _, ...facts }: Facts) => facts;

for (const recording of good) {
  test(`${recording.name}: the facts are those recorded`, (t) => {
    const events = decode(recording);
    checkEvents(events);
    const context = counting();
    const streamed = readChatStream(sseText(runWhole(chatClient.encodeStream, context, events)));
    const expected: unknown = factsOf(recording);
    const seen: unknown = withoutId(streamed);
    t.deepEqual(seen, expected);
    const reply = foldReply(events);
    if (isFault(reply)) return t.fail(reply.message);
    const whole = readChatReply(chatClient.encodeReply(reply, context));
    t.deepEqual(whole, streamed);
    const own = String(recording.expected.id).startsWith('chatcmpl-');
    t.is(whole.id, own ? String(recording.expected.id) : `chatcmpl-${context.id}`);
    t.is(context.losses.size, 0);
  });
}

for (const { name, bytes } of streams) {
  test(`${name}: the same events at any split`, (t) => {
    const whole = eventsOf(upstream.decodeStream, [bytes]);
    const single = Array.from(bytes, (byte) => Uint8Array.of(byte));
    t.deepEqual(eventsOf(upstream.decodeStream, single), whole, 'byte by byte');
    // Each position where that is quick, else a hundred of them.
    const step = bytes.length < 4000 ? 1 : Math.ceil(bytes.length / 100);
    const text = JSON.stringify(whole);
    for (let at = 1; at < bytes.length; at += step) {
      const events = eventsOf(upstream.decodeStream, [bytes.subarray(0, at), bytes.subarray(at)]);
      if (JSON.stringify(events) !== text) return t.fail(`cut at ${at}`);
    }
    const seed = Date.now() % 1_000_000_000;
    t.log(`seed ${seed}`);
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 20 });
    fc.assert(
      fc.property(cuts, (positions) => {
        const edges = [0, ...positions.sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((to, index) => bytes.subarray(edges[index] ?? 0, to));
        return JSON.stringify(eventsOf(upstream.decodeStream, chunks)) === text;
      }),
      { seed, numRuns: 6 },
    );
  });

  test(`${name}: cut off before its finish it is an error`, (t) => {
    const text = Buffer.from(bytes).toString();
    const finish = text.search(/"finish_reason":\s*"/);
    const start = text.lastIndexOf('data:', finish);
    const events = eventsOf(upstream.decodeStream, [Buffer.from(text.slice(0, start))]);
    checkEvents(events);
    const last = events.at(-1);
    t.is(last?.type === 'error' ? last.fault.kind : last?.type, 'upstream-cut');
  });
}

/** What our own rules refuse, and why. */
const refused = new Map([
  ['json-legacy-function-call', 'functions'],
  ['json-refusal', 'response_format.type'],
]);

for (const [name, body] of requests) {
  const param = refused.get(name);
  if (param !== undefined) {
    test(`${name}: the request is refused for its ${param}`, (t) => {
      const error = t.throws(() => chatClient.decodeRequest(body));
      t.like(error, { fault: { kind: 'unsupported', code: 'unsupported_parameter', param } });
    });
    continue;
  }
  test(`${name}: the request goes out by the same wire without loss`, (t) => {
    const losses = new Losses('test');
    const request = chatClient.decodeRequest(body);
    const encoded = upstream.encodeRequest(request, { names: new ToolNames(), losses, replyIsRelayed: false });
    t.deepEqual(losses.list, []);
    for (const [member, value] of Object.entries(body)) {
      const isDefault = value === null || value === false || (member === 'n' && value === 1);
      if (!isDefault && member !== 'messages') t.deepEqual(encoded[member], value, member);
    }
    // Once decoded again it says the same, so nothing was lost on the way.
    t.deepEqual(bare(chatClient.decodeRequest(encoded)), bare(request));
  });
}

/** A request without the places where its nodes stood, and with members that say nothing left out. */
const bare = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(bare);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([name, member]) => name !== 'at' && member !== undefined);
  const rest = members.filter(([name]) => name !== 'streamUsage');
  return Object.fromEntries(rest.map(([name, member]) => [name, bare(member)]));
};
