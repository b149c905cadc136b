import test from 'ava';
import type { ModelEvent } from '../../engine/model/event.ts';
import { withinStack } from '../../engine/model/json/json.ts';
import { Losses } from '../../engine/model/loss.ts';
import { chain, runWhole } from '../../engine/model/machine.ts';
import { foldReply, isFault } from '../../engine/model/reply.ts';
import { readSseRecords } from '../../engine/model/wire/sse.ts';
import { normalizeEvents } from '../../engine/operators/read-events.ts';
import { clientProtocols } from '../../protocols/index.ts';
import { enhancetool } from '../../transformers/enhancetool.ts';
import { reasoning } from '../../transformers/reasoning.ts';
import { tooluse } from '../../transformers/tooluse.ts';
import { targets } from '../conversions/losses/pairs.ts';
import { plainRequest, replyContext } from '../support/context.ts';
import { tool } from '../transformers/stage-rig.ts';
import { growsLinearly } from './cpu.ts';
import { type HostileReply, hostileReplies } from './hostile-replies.ts';

const few = 1000;
/** What is done sooner, in milliseconds, isn't looked at more closely. */
const soonMs = 100;

/** One upstream for each way of writing replies. */
const upstreams = {
  messages: 'anthropic claude-sonnet-4-5',
  chat: 'look-alike',
  gemini: 'gemini gemini-2.0-flash',
  responses: 'responses gpt-4.1',
};

const stages = [enhancetool, tooluse, reasoning].map((transformer) => transformer.configure({}));
const request = { ...plainRequest, tools: [tool('f', { type: 'object', properties: { a: { type: 'integer' } } })] };

/** A reply as it comes over the network: text in chunks of 16 KiB, or a parsed body. */
type Sent =
  | { readonly chunks: readonly Uint8Array[] }
  | { readonly body: Extract<HostileReply, { body: unknown }>['body'] };

const sent = (reply: HostileReply): Sent => {
  if ('body' in reply) return reply;
  const text = reply.records.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join('');
  const bytes = Buffer.from(text);
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += 16_384) chunks.push(bytes.subarray(at, at + 16_384));
  return { chunks };
};

/** Reads an answer and writes it for every client, through all stages. */
const answer = (wire: keyof typeof upstreams, from: Sent): readonly ModelEvent[] => {
  const target = targets.find(({ name }) => name === upstreams[wire]);
  if (!target) throw new Error(`no upstream speaks ${wire}`);
  const context = replyContext({ request, losses: new Losses('test') });
  const decoded = withinStack('upstream-garbled', 'too deep', () =>
    'body' in from
      ? target.protocol.decodeReply(from.body, context)
      : runWhole(chain(readSseRecords, target.protocol.decodeStream), context, from.chunks),
  );
  const mended = normalizeEvents(decoded, new Map());
  for (const { events } of stages) if (events) runWhole(events, context, mended);
  const reply = foldReply(mended);
  for (const { protocol } of clientProtocols) {
    runWhole(protocol.encodeStream, context, mended);
    if (!isFault(reply)) protocol.encodeReply(reply, context);
  }
  return mended;
};

for (const [wire, replies] of Object.entries(hostileReplies)) {
  if (!(wire === 'chat' || wire === 'messages' || wire === 'responses' || wire === 'gemini')) continue;
  for (const [name, make] of Object.entries(replies)) {
    test(`${wire} upstream, read in linear time: ${name}`, (t) => {
      const { linear, seen } = growsLinearly(
        (count) => sent(make(count)),
        (from) => answer(wire, from),
        { few, soonMs },
      );
      t.true(linear, seen);
    });
  }
}
