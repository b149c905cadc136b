import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import OpenAI from 'openai';
import { request } from 'undici';
import { startDemo } from '../../../../engine/service/demo/demo-server.ts';
import { start } from '../../../../engine/service/server.ts';
import { until } from '../../../support/until.ts';

const messages = [{ role: 'user' as const, content: 'Hello, demo!' }];
const tools = [
  {
    type: 'function' as const,
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];

test('the SDK reads whole answers and streams', async (t) => {
  const demo = await startDemo({ paceMs: 0 });
  const client = new OpenAI({ baseURL: demo.baseUrl, apiKey: 'none', maxRetries: 0 });
  const whole = await client.chat.completions.create({ model: 'echo', messages });
  t.regex(whole.choices[0]?.message.content ?? '', /You said: Hello, demo!/);
  const streamed = await client.chat.completions
    .stream({ model: 'echo', messages, stream_options: { include_usage: true } })
    .finalChatCompletion();
  t.is(streamed.choices[0]?.message.content, whole.choices[0]?.message.content ?? '');
  t.deepEqual(streamed.usage, whole.usage);
  const called = await client.chat.completions
    .stream({ model: 'echo', messages, tools, tool_choice: 'required' })
    .finalChatCompletion();
  const [call] = called.choices[0]?.message.tool_calls ?? [];
  t.deepEqual(call?.type === 'function' && JSON.parse(call.function.arguments), { city: 'example city' });
  t.is(called.choices[0]?.finish_reason, 'tool_calls');
  demo.close();
});

test('a stream comes word by word and ends with [DONE]', async (t) => {
  const demo = await startDemo({ paceMs: 5 });
  const response = await post(demo.baseUrl, JSON.stringify({ model: 'echo', messages, stream: true }));
  t.is(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  const sizes: number[] = [];
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    sizes.push(chunk.length);
    text += decoder.decode(chunk, { stream: true });
  }
  t.true(sizes.length > 10, `${sizes.length} chunks`);
  t.true(text.endsWith('data: [DONE]\n\n'));
  demo.close();
});

const bad: readonly (readonly [string, string, string, number, RegExp, string | null])[] = [
  ['no JSON', '/chat/completions', '{', 400, /isn't JSON/, null],
  ['no messages', '/chat/completions', '{"model":"echo"}', 400, /messages is required/, 'messages'],
  ['a bad message', '/chat/completions', '{"model":"echo","messages":[{"role":1}]}', 400, /role/, 'messages[0].role'],
  ['another path', '/other', '{}', 404, /\/v1\/other/, null],
];

for (const [title, path, body, status, words, param] of bad) {
  test(`${title}: ${status}`, async (t) => {
    const demo = await startDemo();
    const response = await post(demo.baseUrl, body, path);
    t.is(response.status, status);
    const { error } = JSON.parse(await response.text());
    t.regex(error.message, words);
    t.is(error.type, 'invalid_request_error');
    t.is(error.param || null, param);
    demo.close();
  });
}

test('GET is refused', async (t) => {
  const demo = await startDemo();
  t.is((await fetch(`${demo.baseUrl}/chat/completions`)).status, 405);
  demo.close();
});

test('a client that goes away stops the timers', async (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const demo = await startDemo({ paceMs: 3_600_000 });
  const before = timers();
  const aborter = new AbortController();
  const body = JSON.stringify({ model: 'echo', messages, stream: true });
  const response = await post(demo.baseUrl, body, '/chat/completions', aborter.signal);
  t.is(response.status, 200);
  t.true(timers() > before);
  aborter.abort();
  await until(() => timers() <= before);
  demo.close();
});

const post = (baseUrl: string, body: string, path = '/chat/completions', signal: AbortSignal | null = null) =>
  fetch(baseUrl + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body, signal });

test('a configuration saved while the demo runs has no process port, and works after a restart', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-demo-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const run = async () => {
    const service = await start({ env: {}, home, port: 0, report: () => undefined });
    t.teardown(service.stop);
    const post = async (path: string, body: object) => {
      const answer = await request(service.baseUrl + path, { method: 'POST', body: JSON.stringify(body) });
      return { status: answer.statusCode, text: await answer.body.text() };
    };
    const ask = () => post('/v1/chat/completions', { model: 'any', messages: [{ role: 'user', content: 'Hello!' }] });
    return { ...service, post, ask };
  };
  const first = await run();
  t.is((await first.ask()).status, 200);
  const config = JSON.parse(await (await request(`${first.baseUrl}/api/config`)).body.text());
  const mine = { name: 'mine', baseUrl: 'http://127.0.0.1:9/v1', apiKey: '', models: ['m'] };
  const saved = await first.post('/api/config', { ...config, Providers: [...config.Providers, mine] });
  t.is(saved.status, 200);
  t.regex(saved.text, /Router\.default still leads to the embedded provider/);
  await first.stop();
  t.notRegex((await readFile(join(home, 'config.json'), 'utf8')).replace(mine.baseUrl, ''), /127\.0\.0\.1/);

  const second = await run();
  t.is((await second.ask()).status, 200);
  await second.stop();
});
