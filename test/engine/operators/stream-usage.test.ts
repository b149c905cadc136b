import test from 'ava';
import type { UpstreamAnswer } from '../../support/upstreams/upstream.ts';
import { rig } from './retry/rig.ts';

const chunk = (more: object) => `data: ${JSON.stringify({ id: 'c', model: 'm', usage: null, ...more })}\n\n`;
const word = chunk({ choices: [{ index: 0, delta: { role: 'assistant', content: 'hi' }, finish_reason: null }] });
const filtered = chunk({ choices: [], prompt_filter_results: [] });
const finish = chunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
const counts = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
const usage = chunk({ choices: [], usage: counts });
const spaced = `data: {"id": "c", "choices": [ ], "usage": ${JSON.stringify(counts)}}\n\n`;
const done = 'data: [DONE]\n\n';

const sse = (pieces: readonly (string | number)[]): UpstreamAnswer => ({
  headers: { 'content-type': 'text/event-stream' },
  pieces,
});

const path = '/v1/chat/completions';

/** The same stream, in other pieces, and what a client gets that doesn't ask for usage. */
const streams: readonly (readonly [title: string, pieces: readonly (string | number)[], expected: string])[] = [
  ['record by record', [word, 5, finish, 5, usage, 5, done], word + finish + done],
  ['in one piece', [word + finish + usage + done], word + finish + done],
  ['cut inside the usage', [word + finish + usage.slice(0, 30), 5, usage.slice(30) + done], word + finish + done],
  ['with spaces', [word, finish, spaced, done], word + finish + done],
  ['without [DONE]', [word, finish, usage], word + finish + done],
  ['without its last empty line', [word, finish, usage.trimEnd()], word + finish + done],
  ['with a record of filters', [filtered, word, finish, usage, done], filtered + word + finish + done],
];

test('a relayed chat stream is asked for its usage and counted; a client that does not ask gets the rest unchanged', async (t) => {
  let pieces: readonly (string | number)[] = [];
  const { ask, upstreams, metric } = await rig(t, [() => sse(pieces)], { formats: ['openai'] });
  for (const [index, [title, all, expected]] of streams.entries()) {
    pieces = all;
    const { text } = await ask({ stream: true }, path);
    t.is(text, expected, title);
    t.deepEqual(Object(upstreams[0]?.requests.at(-1)?.body).stream_options, { include_usage: true }, title);
    const tokens = (await metric('tokens_total')).join('\n');
    t.regex(tokens, new RegExp(`"input".*} ${11 * (index + 1)}\\b`), title);
    t.regex(tokens, new RegExp(`"output".*} ${7 * (index + 1)}\\b`), title);
  }
  pieces = [word, finish, usage, done];
  const asked = await ask({ stream: true, stream_options: { include_usage: true } }, path);
  t.is(asked.text, word + finish + usage + done, 'a client that asks gets it');
});

test('the request stays as it is but for what asks for the usage', async (t) => {
  const { ask, upstreams } = await rig(t, [() => sse([word, finish, usage, done])], { formats: ['openai'] });
  const sent = () => upstreams[0]?.requests.at(-1)?.text ?? '';
  const long = { messages: [{ role: 'user', content: 'long '.repeat(100_000) }] };
  for (const more of [{}, long]) {
    await ask({ stream: true, stream_options: { include_usage: true }, ...more }, path);
    const own = sent().replace('"stream_options":{"include_usage":true}', '').replace(',,', ',');
    await ask({ stream: true, ...more }, path);
    t.is(sent().replace('"stream_options":{"include_usage":true},', ''), own.replace(/,}$/, '}'));
  }
  await ask({ stream: true, stream_options: { include_obfuscation: false } }, path);
  t.deepEqual(JSON.parse(sent()).stream_options, { include_obfuscation: false, include_usage: true });
  await ask({ stream: true, stream_options: null }, path);
  t.deepEqual(JSON.parse(sent()).stream_options, { include_usage: true });
  await ask({ stream: true, stream_options: { include_usage: false } }, path);
  t.deepEqual(JSON.parse(sent()).stream_options, { include_usage: true });
  await ask({ stream: false }, path);
  t.is(JSON.parse(sent()).stream_options, undefined);
});

test('a server that refuses the field is not sent it, relayed or converted', async (t) => {
  const { ask, upstreams } = await rig(t, [() => sse([word, finish, done])], {
    config: { transformers: [{ name: 'openai', provider: 'a', options: { streamUsage: false } }] },
  });
  for (const route of [path, '/v1/messages']) {
    await ask({ stream: true }, route);
    t.false(upstreams[0]?.requests.at(-1)?.text.includes('stream_options'), route);
  }
});
