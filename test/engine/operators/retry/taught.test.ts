import test from 'ava';
import type { Script } from '../../../support/upstreams/upstream.ts';
import { good, goodChat, rig } from './rig.ts';

/** Refuses a request with these words. */
const refusing = (message: string, more: object = {}, status = 400) => ({
  status,
  headers: { 'content-type': 'application/json' },
  pieces: [JSON.stringify({ error: { message, type: 'invalid_request_error', param: null, code: status, ...more } })],
});

/** A chat host that refuses bodies with any of these members. */
const without =
  (...names: readonly string[]): Script =>
  (asked) => {
    const refused = names.find((name) => Object.hasOwn(Object(asked.body), name));
    return refused === undefined
      ? goodChat()(asked)
      : refusing(`Unsupported parameter: '${refused}' is not supported with this model.`, { param: refused });
  };

const bodies = (requests: readonly { readonly body: unknown }[], name: string) =>
  requests.map(({ body }) => Object(body)[name]);

/** An own vLLM with a small window. */
const vllm: Script = (asked) => {
  const { max_tokens: max, messages } = Object(asked.body);
  const prompt = Math.ceil(JSON.stringify(messages).length / 5);
  if (prompt + max <= 32_768) return goodChat()(asked);
  return refusing(
    `This model's maximum context length is 32768 tokens. However, you requested ${prompt + max} tokens (${prompt} in the messages, ${max} in the completion). Please reduce the length of the messages or completion.`,
  );
};

test('F1 an output limit is fitted by the refusal, once, and remembered', async (t) => {
  const { ask, upstreams } = await rig(t, [vllm], { formats: ['openai'] });
  const first = await ask({ max_tokens: 128_000 });
  t.is(first.status, 200, first.text);
  t.regex(String(first.headers['x-junctor-loss']), /max_tokens/);
  t.is(upstreams[0]?.requests.length, 2);
  const second = await ask({ max_tokens: 128_000, messages: [{ role: 'user', content: 'hi '.repeat(2_000) }] });
  t.is(second.status, 200, second.text);
  t.is(upstreams[0]?.requests.length, 3);
  t.is((await ask({ max_tokens: 100 })).status, 200);
  t.is(bodies(upstreams[0]?.requests ?? [], 'max_tokens')[3], 100);
});

test('F1 an input that does not fit is an overflow', async (t) => {
  const { ask, upstreams } = await rig(t, [vllm], { formats: ['openai'] });
  const { status, text } = await ask({ max_tokens: 8, messages: [{ role: 'user', content: 'hi '.repeat(70_000) }] });
  t.is(status, 400);
  t.regex(text, /prompt is too long/);
  t.is(upstreams[0]?.requests.length, 1);
});

test('F1 a known window fits the limit before anything is sent', async (t) => {
  const { ask, upstreams } = await rig(t, [vllm], {
    formats: ['openai'],
    providers: [{ models: [{ name: 'm', context: 32_768 }] }],
  });
  t.is((await ask({ max_tokens: 128_000 })).status, 200);
  t.is(upstreams[0]?.requests.length, 1);
});

test('F1 without learning, a refused output limit is no overflow', async (t) => {
  const { ask, upstreams } = await rig(t, [vllm], { formats: ['openai'], providers: [{ learn: false }] });
  const { status, text } = await ask({ max_tokens: 128_000 });
  t.is(status, 400);
  t.notRegex(text, /prompt is too long/);
  t.is(upstreams[0]?.requests.length, 1);
});

test('H14 a refusal teaches: one more try, a loss, and no further refusal', async (t) => {
  const { ask, upstreams } = await rig(t, [without('temperature')], { formats: ['openai'] });
  const { status, headers, text } = await ask({ temperature: 0.3 });
  t.is(status, 200, text);
  t.regex(String(headers['x-junctor-loss']), /temperature/);
  t.is((await ask({ temperature: 0.3 })).status, 200);
  t.deepEqual(bodies(upstreams[0]?.requests ?? [], 'temperature'), [0.3, undefined, undefined]);
});

test('H14 a relayed request is taught as well; others pass as they came', async (t) => {
  const refuses: Script = (asked) =>
    Object(asked.body).top_k === undefined ? good()(asked) : refusing('top_k: Extra inputs are not permitted');
  const { ask, upstreams } = await rig(t, [refuses]);
  const { status, text } = await ask({ top_k: 5, 'x-own': 1.0 });
  t.is(status, 200, text);
  t.is((await ask({ 'x-own': 1 })).status, 200);
  t.deepEqual(bodies(upstreams[0]?.requests ?? [], 'top_k'), [5, undefined, undefined]);
});

test('H14 a host that refuses everything in turn: one more try, then its words', async (t) => {
  const { ask, upstreams } = await rig(t, [without('temperature', 'top_p', 'stop')], { formats: ['openai'] });
  const asked = { temperature: 0.3, top_p: 0.5, stop_sequences: ['x'] };
  const first = await ask(asked);
  t.is(first.status, 400);
  t.regex(first.text, /top_p/);
  t.is(upstreams[0]?.requests.length, 2);
  // The second refusal isn't lost.
  t.is((await ask(asked)).status, 200);
  t.is(upstreams[0]?.requests.length, 4);
});

test('H14 a refusal of turns, of tools or of what was not sent is passed on', async (t) => {
  for (const [message, param] of [
    ['messages.0.content: Extra inputs are not permitted', 'messages.0.content'],
    ['Unsupported parameter: tools', 'tools'],
    ["Unsupported parameter: 'logit_bias'", 'logit_bias'],
    ["The model 'm' does not support temperature", 'model'],
  ]) {
    const { ask, upstreams } = await rig(t, [() => refusing(message ?? '', { param })], { formats: ['openai'] });
    const { status } = await ask({ temperature: 0.3, tools: [{ name: 'f', input_schema: { type: 'object' } }] });
    t.is(status, 400);
    t.is(upstreams[0]?.requests.length, 1, message);
  }
});

test('H14 a host that changes its mind gets the field back', async (t) => {
  let turned = false;
  const mind: Script = (asked) => {
    const isSent = Object.hasOwn(Object(asked.body), 'temperature');
    if (isSent === turned) return goodChat()(asked);
    return turned
      ? refusing('temperature: Field required', { param: 'temperature' })
      : refusing("Unsupported parameter: 'temperature'", { param: 'temperature' });
  };
  const { ask, upstreams } = await rig(t, [mind], { formats: ['openai'] });
  t.is((await ask({ temperature: 0.3 })).status, 200);
  turned = true;
  t.is((await ask({ temperature: 0.3 })).status, 200);
  t.is((await ask({ temperature: 0.3 })).status, 200);
  t.deepEqual(bodies(upstreams[0]?.requests ?? [], 'temperature'), [0.3, undefined, undefined, 0.3, 0.3]);
});

test('H14 the same words again: nothing is kept', async (t) => {
  const refuses: Script = () => refusing("Unsupported parameter: 'temperature'", { param: 'temperature' });
  const { ask, upstreams } = await rig(t, [refuses], { formats: ['openai'] });
  for (const calls of [2, 4]) {
    t.is((await ask({ temperature: 0.3 })).status, 400);
    t.is(upstreams[0]?.requests.length, calls);
  }
});

test('F8 a prompt too long for a model is tried where the window is larger, and stays one error elsewhere', async (t) => {
  const small: Script = () => refusing('prompt is too long: 40000 tokens > 32768 maximum');
  const larger = { models: [{ name: 'm', context: 200_000 }] };
  const smaller = { models: [{ name: 'm', context: 32_768 }] };
  const found = await rig(t, [small, good(), good()], { providers: [smaller, smaller, larger] });
  const { status, text } = await found.ask();
  t.is(status, 200, text);
  t.deepEqual(
    found.upstreams.map(({ requests }) => requests.length),
    [1, 0, 1],
  );
  const none = await rig(t, [small, good()], { providers: [smaller, smaller] });
  t.regex((await none.ask()).text, /prompt is too long/);
  t.deepEqual(
    none.upstreams.map(({ requests }) => requests.length),
    [1, 0],
  );
});

test('H14 explain and the upstreams show what was taught', async (t) => {
  const { ask, get } = await rig(t, [without('temperature')], { formats: ['openai'] });
  await ask({ temperature: 0.3 });
  const { upstreams } = await get<{ upstreams: readonly { readonly taught: readonly object[] }[] }>('/api/upstreams');
  t.like(upstreams[0]?.taught[0], {
    model: 'm',
    field: 'temperature',
    does: 'left out',
    config: '{"body":{"temperature":null}}',
  });
});

test('H14 two destinations that refuse in the same words are each taught', async (t) => {
  const gone = refusing('The service is unavailable.', {}, 503);
  const never: Script = (asked) =>
    Object.hasOwn(Object(asked.body), 'temperature') ? without('temperature')(asked, 0) : gone;
  const { ask, upstreams } = await rig(t, [never, without('temperature')], { formats: ['openai', 'openai'] });
  // One more try per request: the fallback's refusal serves the next one.
  t.is((await ask({ temperature: 0.5 })).status, 503);
  t.deepEqual(bodies(upstreams[1]?.requests ?? [], 'temperature'), [0.5]);
  const { status, headers } = await ask({ temperature: 0.5 });
  t.is(status, 200);
  t.regex(String(headers['x-junctor-loss']), /temperature/);
  t.deepEqual(bodies(upstreams[1]?.requests ?? [], 'temperature'), [0.5, undefined]);
});
