import test from 'ava';
import OpenAI from 'openai';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { runWhole } from '../../../engine/model/machine.ts';
import { sseText } from '../../../engine/model/wire/sse.ts';
import { decodeRequest } from '../../../protocols/responses/decode-request/decode-request.ts';
import { responsesClient, responsesUpstream } from '../../../protocols/responses/index.ts';
import { replyContext } from '../../support/context.ts';
import { eventsOf } from '../../support/events.ts';
import { expectedCases, replyBytes } from './fixtures.ts';

/** A client of the vendor's own library whose every request is answered with this body. */
const clientFor = (body: string, type: string, status = 200): OpenAI =>
  new OpenAI({
    apiKey: 'none',
    maxRetries: 0,
    fetch: async () => new Response(body, { status, headers: { 'content-type': type } }),
  });

const streamOf = (text: string) => clientFor(text, 'text/event-stream').responses.stream({ model: 'm', input: 'hi' });

const tools = [{ type: 'custom', name: 'patch' }];
const context = () => replyContext({ request: decodeRequest({ model: 'm', input: 'hi', tools }) });

for (const expected of expectedCases.filter(({ kind }) => kind === 'sse')) {
  test(`${expected.case}: the library reads the stream written again`, async (t) => {
    const given = context();
    const events = eventsOf(responsesUpstream.decodeStream, [replyBytes(expected)], given);
    const stream = streamOf(sseText(runWhole(responsesClient.encodeStream, given, events)));
    let text = '';
    stream.on('response.output_text.delta', ({ delta }) => {
      text += delta;
    });
    if (expected.stop_reason === 'failed') {
      await t.throwsAsync(stream.finalResponse(), { instanceOf: OpenAI.APIError, code: 'insufficient_quota' });
      return;
    }
    const response = await stream.finalResponse();
    t.is(text, expected.text);
    t.is(response.output_text, expected.text);
    t.is(String(response.status), expected.stop_reason);
    t.deepEqual(
      response.output.flatMap((item) => (item.type === 'function_call' ? [item.name] : [])),
      expected.tool_calls.map(({ name }) => name),
    );
  });
}

const everything: ModelEvent[] = [
  { type: 'message-start', id: '', model: 'm' },
  { type: 'block-start', index: 0, block: { type: 'thinking' } },
  { type: 'thinking-delta', index: 0, text: 'hm' },
  { type: 'signature-delta', index: 0, signature: { format: 'messages', data: 's' } },
  { type: 'block-stop', index: 0 },
  { type: 'block-start', index: 1, block: { type: 'text' } },
  { type: 'text-delta', index: 1, text: 'a' },
  { type: 'citation-delta', index: 1, citation: { type: 'url', url: 'https://h' } },
  { type: 'block-stop', index: 1 },
  { type: 'block-start', index: 2, block: { type: 'refusal' } },
  { type: 'text-delta', index: 2, text: 'no' },
  { type: 'block-stop', index: 2 },
  { type: 'block-start', index: 3, block: { type: 'tool-call', id: 'c', name: 'patch' } },
  { type: 'input-delta', index: 3, json: '{"input":"x' },
  { type: 'input-delta', index: 3, json: 'y"}' },
  { type: 'block-stop', index: 3 },
];

test('the library reads every kind of item', async (t) => {
  const stop: ModelEvent = { type: 'message-stop', finish: 'tool-call', usage: { input: 1, output: 2 } };
  const text = sseText(runWhole(responsesClient.encodeStream, context(), [...everything, stop]));
  const stream = streamOf(text);
  const seen: string[] = [];
  stream.on('event', ({ type }) => seen.push(type));
  const response = await stream.finalResponse();
  t.deepEqual(
    response.output.map(({ type }) => type),
    ['reasoning', 'message', 'custom_tool_call'],
  );
  const call = response.output.at(-1);
  t.is(call?.type === 'custom_tool_call' && call.input, 'xy');
  t.true(seen.includes('response.output_text.annotation.added') && seen.includes('response.refusal.done'));
  t.is(response.usage?.total_tokens, 3);
});

test('the SDK raises a failure in mid-stream, with its message and code', async (t) => {
  const failure: ModelEvent = { type: 'error', fault: { kind: 'upstream-cut', message: 'broke' } };
  const text = sseText(runWhole(responsesClient.encodeStream, context(), [...everything, failure]));
  const error = await t.throwsAsync(streamOf(text).finalResponse(), { instanceOf: OpenAI.APIError });
  t.is(error.message, 'broke');
  t.is(error.code, 'server_error');
});

test('the library raises its own error for each refusal', async (t) => {
  const { status, body } = responsesClient.encodeFault({ kind: 'unauthorized', message: 'key' }, 'r');
  const client = clientFor(JSON.stringify(body), 'application/json', status);
  const error = await t.throwsAsync(() => client.responses.create({ model: 'm', input: 'hi' }), {
    instanceOf: OpenAI.AuthenticationError,
  });
  t.is(error.code, 'invalid_api_key');
});
