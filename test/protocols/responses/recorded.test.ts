import test from 'ava';
import fc from 'fast-check';
import type { ReplyContext } from '../../../engine/model/context.ts';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { isJsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { unpackSignature } from '../../../engine/model/reasoning/signature.ts';
import { foldReply, isFault } from '../../../engine/model/reply.ts';
import { readSseRecords, sseText } from '../../../engine/model/wire/sse.ts';
import { responsesClient, responsesUpstream } from '../../../protocols/responses/index.ts';
import { replyContext } from '../../support/context.ts';
import { checkEvents, eventsOf } from '../../support/events.ts';
import type { Facts } from '../../support/facts.ts';
import { readResponsesReply, readResponsesStream } from '../../support/readers/responses.ts';
import { type Expected, expectedCases, replyBytes, requests, sha256 } from './fixtures.ts';

const contextOf = (expected: Expected): ReplyContext => {
  const clientBody = requests.get(expected.case);
  return clientBody ? replyContext({ clientBody, request: responsesClient.decodeRequest(clientBody) }) : replyContext();
};

const decode = (expected: Expected, context = contextOf(expected)): ModelEvent[] => {
  const bytes = replyBytes(expected);
  if (expected.kind === 'sse') return eventsOf(responsesUpstream.decodeStream, [bytes], context);
  const body = parseJson(Buffer.from(bytes).toString());
  return isJsonObject(body) ? responsesUpstream.decodeReply(body, context) : [];
};

/** The recordings list the parts of a summary without the empty line that sets them apart. */
const tight = (text: string): string => text.replaceAll('\n\n', '');

const sealed = (facts: Facts): readonly string[] =>
  facts.signatures.filter((text) => unpackSignature(text)?.data !== '');

/** The seals that a client is to get: in a stream those of the done items, since the terminal event brings others again. */
const seals = (expected: Expected): readonly string[] => {
  const text = Buffer.from(replyBytes(expected)).toString();
  const bodies: readonly { readonly item?: unknown; readonly output?: readonly unknown[] }[] =
    expected.kind === 'json'
      ? [JSON.parse(text)]
      : text
          .split('\n')
          .filter((line) => line.startsWith('data: {"type":"response.output_item.done"'))
          .map((line) => JSON.parse(line.slice(6)));
  return bodies
    .flatMap(({ item, output }) => output ?? [item])
    .flatMap((item) =>
      isJsonObject(item) && typeof item.encrypted_content === 'string' ? [item.encrypted_content] : [],
    );
};

const answered = expectedCases.filter(({ http_status: status }) => status === 200);
const streams = answered.filter(({ kind }) => kind === 'sse');

for (const expected of answered) {
  test(`${expected.case}: decoded events keep their order`, (t) => {
    t.notThrows(() => checkEvents(decode(expected)));
  });

  test(`${expected.case}: re-encoded, the stream is well formed and has the recorded facts`, (t) => {
    const context = contextOf(expected);
    const facts = readResponsesStream(
      sseText(runWhole(responsesClient.encodeStream, context, decode(expected, context))),
    );
    const { usage } = expected;
    t.is(facts.model, expected.model);
    t.is(facts.text, expected.text);
    t.is(tight(facts.reasoning), tight(expected.reasoning_summary + expected.reasoning));
    t.is(facts.refusal, '');
    t.deepEqual(
      facts.toolCalls,
      expected.tool_calls.map(({ id, name, arguments: input }) => ({ id, name, input })),
    );
    t.is(facts.stop, expected.incomplete_details?.reason ?? expected.stop_reason);
    t.is(facts.error, expected.error?.message);
    t.deepEqual(
      seals(expected).map(({ length }) => length),
      expected.encrypted.map(({ length }) => length),
    );
    t.deepEqual(sealed(facts), seals(expected));
    if (expected.kind === 'json')
      t.deepEqual(
        sealed(facts).map(sha256),
        expected.encrypted.map(({ sha256: sum }) => sum),
      );
    t.deepEqual(
      facts.usage,
      usage
        ? {
            prompt: usage.input_tokens,
            cacheRead: usage.input_tokens_details.cached_tokens,
            cacheWrite: usage.input_tokens_details.cache_write_tokens ?? 0,
            output: usage.output_tokens,
            reasoning: usage.output_tokens_details.reasoning_tokens,
          }
        : undefined,
    );
    t.is(facts.id, expected.id.startsWith('resp_') ? expected.id : `resp_${context.id}`);
    t.is(context.losses.size, 0);
  });

  test(`${expected.case}: written whole, the reply is what the stream ends with`, (t) => {
    const context = contextOf(expected);
    const events = decode(expected, context);
    const reply = foldReply(events);
    if (isFault(reply)) {
      t.is(reply.message, expected.error?.message ?? '');
      return;
    }
    const body = responsesClient.encodeReply(reply, context);
    const text = sseText(runWhole(responsesClient.encodeStream, context, events));
    t.deepEqual(readResponsesReply(body), readResponsesStream(text));
    const last = JSON.parse(text.slice(text.lastIndexOf('data: ') + 6));
    t.deepEqual(JSON.parse(JSON.stringify(body)), last.response);
  });
}

for (const expected of streams) {
  test(`${expected.case}: any cut into chunks gives the same events`, (t) => {
    const bytes = replyBytes(expected);
    const whole = decode(expected);
    const context = contextOf(expected);
    const cut = (places: readonly number[]): ModelEvent[] => {
      const edges = [0, ...places, bytes.length];
      const chunks = edges.slice(1).map((to, index) => bytes.subarray(edges[index], to));
      return runWhole(responsesUpstream.decodeStream, context, runWhole(readSseRecords, context, chunks));
    };
    t.deepEqual(cut(Array.from({ length: bytes.length - 1 }, (_, index) => index + 1)), whole);
    const stride = Math.max(1, Math.floor(bytes.length / 150));
    for (let at = 1; at < bytes.length; at += stride) t.deepEqual(cut([at]), whole, `cut at ${at}`);
    const seed = Date.now() & 0xffff;
    t.log(`seed ${seed}`);
    fc.assert(
      fc.property(fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 }), (places) => {
        const sorted = [...places].sort((a, b) => a - b);
        t.deepEqual(cut(sorted), whole);
      }),
      { seed, numRuns: 6 },
    );
  });

  test(`${expected.case}: broken off before its end, it is an error`, (t) => {
    const text = Buffer.from(replyBytes(expected)).toString();
    const terminal = /^(event: (response\.(completed|incomplete|failed)|error)|data: \{"type":"response\.completed")/m;
    const events = eventsOf(
      responsesUpstream.decodeStream,
      [Buffer.from(text.slice(0, text.search(terminal)))],
      contextOf(expected),
    );
    checkEvents(events);
    const last = events.at(-1);
    t.is(last?.type === 'error' && last.fault.kind, 'upstream-cut');
  });
}

test('hosted calls and citations of the recordings arrive as they were', (t) => {
  for (const expected of answered) {
    const events = decode(expected);
    const hosted = events.flatMap((event) =>
      event.type === 'block-start' && event.block.type === 'opaque' ? [event.block.raw] : [],
    );
    const ids = expected.server_tools.map(({ id }) => id);
    t.deepEqual(
      hosted.map(({ id }) => id).filter((id) => ids.includes(String(id))),
      ids,
      expected.case,
    );
    t.is(events.filter(({ type }) => type === 'citation-delta').length, expected.annotations, expected.case);
  }
});

for (const expected of expectedCases.filter(({ http_status: status }) => status >= 400)) {
  test(`${expected.case}: a refusal becomes a fault`, (t) => {
    const fault = responsesUpstream.decodeFault(expected.http_status, {}, Buffer.from(replyBytes(expected)).toString());
    const kinds: Readonly<Record<string, string>> = {
      'json-error-400-context': 'upstream-context',
      'json-error-400-reasoning-item': 'upstream-invalid',
      'json-error-401': 'upstream-auth',
    };
    t.is(String(fault.kind), kinds[expected.case] ?? '');
    t.is(fault.status, expected.http_status);
    if (fault.kind !== 'upstream-auth') t.is(fault.message, expected.error?.message ?? '');
    else t.notRegex(fault.message, /sk-|Incorrect API key/);
  });
}
