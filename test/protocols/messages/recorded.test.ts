import test from 'ava';
import fc from 'fast-check';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { foldReply, isFault } from '../../../engine/model/reply.ts';
import { readSseRecords, sseText } from '../../../engine/model/wire/sse.ts';
import { decodeFault } from '../../../protocols/messages/decode-fault.ts';
import { decodeReply } from '../../../protocols/messages/decode-reply/decode-reply.ts';
import { decodeStream } from '../../../protocols/messages/decode-reply/decode-stream.ts';
import { encodeFault } from '../../../protocols/messages/encode-fault.ts';
import { encodeReply } from '../../../protocols/messages/encode-reply/encode-reply.ts';
import { encodeStream } from '../../../protocols/messages/encode-reply/encode-stream.ts';
import { replyContext } from '../../support/context.ts';
import { checkEvents } from '../../support/events.ts';
import type { Facts } from '../../support/facts.ts';
import { readMessagesReply, readMessagesStream } from '../../support/readers/messages.ts';
import { expected, expectedFacts, hashed, recording, recordings, replies } from './fixtures.ts';

const decoded = (pieces: readonly Uint8Array[]): ModelEvent[] =>
  runWhole(decodeStream, replyContext(), runWhole(readSseRecords, replyContext(), pieces));

const written = (events: readonly ModelEvent[]): string => sseText(runWhole(encodeStream, replyContext(), events));

const folded = (events: readonly ModelEvent[]): JsonObject => {
  const reply = foldReply(events);
  if (isFault(reply)) throw new Error(reply.message);
  return JSON.parse(JSON.stringify(encodeReply(reply, replyContext())));
};

/** Block kinds and numbers of citations and server calls, which facts don't have. */
const shape = ({ content }: JsonObject): unknown => {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  return {
    blocks: blocks.map(({ type }) => type),
    citations: blocks.flatMap(({ citations }) => (Array.isArray(citations) ? citations : [])).length,
    server: blocks.filter(({ type }) => type === 'server_tool_use').map(({ input }) => input),
  };
};

const expectedShape = (name: string): unknown => {
  const { blocks, citations, server_tools } = expected(name);
  return { blocks, citations: citations ?? 0, server: server_tools.map((tool) => tool.arguments) };
};

for (const name of recordings('.sse')) {
  const bytes = recording(`${name}.sse`);
  const whole = decoded([bytes]);

  test(`${name}: the recorded stream itself keeps the grammar`, (t) => {
    t.deepEqual(hashed(readMessagesStream(bytes.toString())), expectedFacts(name));
  });

  test(`${name}: stream → events → stream gives the recorded facts`, (t) => {
    checkEvents(whole);
    t.deepEqual(hashed(readMessagesStream(written(whole))), expectedFacts(name));
  });

  test(`${name}: stream → events → reply gives the recorded facts`, (t) => {
    const body = folded(whole);
    t.deepEqual(hashed(readMessagesReply(body)), expectedFacts(name));
    t.deepEqual(shape(body), expectedShape(name));
  });

  test(`${name}: reply → events → reply changes nothing`, (t) => {
    const body = folded(whole);
    const again = decodeReply(body, replyContext());
    checkEvents(again);
    t.deepEqual(folded(again), body);
    const facts: Facts = readMessagesStream(written(again));
    t.deepEqual(hashed(facts), expectedFacts(name));
  });

  test(`${name}: byte by byte`, (t) => {
    const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte));
    t.deepEqual(decoded(pieces), whole);
  });

  if (bytes.length < 3000) {
    test(`${name}: cut at each position`, (t) => {
      const whole = JSON.stringify(decoded([bytes]));
      for (let at = 1; at < bytes.length; at += 1) {
        if (JSON.stringify(decoded([bytes.subarray(0, at), bytes.subarray(at)])) !== whole) t.fail(`cut at ${at}`);
      }
      t.pass();
    });
  }

  test(`${name}: cut anywhere`, (t) => {
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: bytes.length - 1 }), { maxLength: 12 });
    const property = fc.property(cuts, (at) => {
      const sorted = [0, ...at.toSorted((a, b) => a - b), bytes.length];
      const pieces = sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end));
      t.deepEqual(decoded(pieces), whole);
    });
    fc.assert(property, { numRuns: bytes.length > 100_000 ? 3 : 10 });
  });
}

for (const name of replies) {
  const body = JSON.parse(recording(`${name}.json`).toString());

  test(`${name}: the recorded reply itself keeps the grammar`, (t) => {
    t.deepEqual(hashed(readMessagesReply(body)), expectedFacts(name));
  });

  if (name.startsWith('json-error')) {
    test(`${name}: an error reply comes back as it was`, (t) => {
      const { http_status: status, error } = expected(name);
      const wire = encodeFault(decodeFault(status, {}, JSON.stringify(body)), 'req_1');
      t.is(wire.status, status);
      if (status !== 401) t.deepEqual(wire.body.error, error?.error);
    });
    continue;
  }

  test(`${name}: reply → events → reply and stream give the recorded facts`, (t) => {
    const events = decodeReply(body, replyContext());
    checkEvents(events);
    const again = folded(events);
    t.deepEqual(hashed(readMessagesReply(again)), expectedFacts(name));
    t.deepEqual(shape(again), expectedShape(name));
    t.deepEqual(hashed(readMessagesStream(written(events))), expectedFacts(name));
  });
}
