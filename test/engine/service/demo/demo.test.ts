import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { firstValueFrom, lastValueFrom, mergeMap, toArray } from 'rxjs';
import { request } from 'undici';
import { Backpressure } from '../../../../engine/runtime/backpressure.ts';
import { callDemo } from '../../../../engine/service/demo/demo.ts';
import { start } from '../../../../engine/service/server.ts';

const messages = [{ role: 'user', content: 'Hello, demo!' }];
const tools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  },
];

const callOf = (body: string) => ({
  url: new URL('http://demo.invalid/v1/chat/completions'),
  headers: {},
  body,
  backpressure: new Backpressure(),
});

const ask = async (body: object | string) => {
  const answer = await firstValueFrom(callDemo(callOf(typeof body === 'string' ? body : JSON.stringify(body))));
  const chunks = await lastValueFrom(answer.body.pipe(toArray()));
  return { ...answer, records: chunks.map((chunk) => Buffer.from(chunk).toString()) };
};

const deltasOf = (records: readonly string[]) =>
  records.slice(0, -1).map((record) => JSON.parse(record.slice('data: '.length)).choices[0]?.delta ?? {});

test('a stream comes word by word, ends with [DONE], and says the same as a whole answer', async (t) => {
  const whole = await ask({ model: 'echo', messages });
  const { choices, usage } = JSON.parse(whole.records.join(''));
  t.regex(choices[0].message.content, /You said: Hello, demo!/);
  t.is(choices[0].finish_reason, 'stop');
  const { status, headers, records } = await ask({
    model: 'echo',
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
  t.is(status, 200);
  t.is(headers['content-type'], 'text/event-stream; charset=utf-8');
  t.true(records.length > 10, `${records.length} records`);
  t.is(records.at(-1), 'data: [DONE]\n\n');
  t.is(
    deltasOf(records)
      .map(({ content = '' }) => content)
      .join(''),
    choices[0].message.content,
  );
  t.deepEqual(JSON.parse(records.at(-2)?.slice('data: '.length) ?? '').usage, usage);
});

test('a call comes with its arguments', async (t) => {
  const { records } = await ask({ model: 'echo', messages, tools, tool_choice: 'required', stream: true });
  const calls = deltasOf(records).flatMap(({ tool_calls: made = [] }) => made);
  t.is(calls[0].function.name, 'get_weather');
  t.deepEqual(JSON.parse(calls.map((call) => call.function.arguments ?? '').join('')), { city: 'example city' });
});

for (const [title, body, words, param] of [
  ['no JSON', '{', /isn't a JSON object/, null],
  ['no messages', '{"model":"echo"}', /messages/, 'messages'],
  ['a bad message', '{"model":"echo","messages":[{"role":1}]}', /role/, 'messages[0].role'],
] as const) {
  test(`${title}: refused`, async (t) => {
    const { status, records } = await ask(body);
    t.is(status, 400);
    const { error } = JSON.parse(records.join(''));
    t.regex(error.message, words);
    t.is(error.type, 'invalid_request_error');
    t.is(error.param ?? null, param);
  });
}

test('a client that goes away stops the timers', (t) => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const reading = callDemo(callOf(JSON.stringify({ model: 'echo', messages, stream: true })))
    .pipe(mergeMap(({ body }) => body))
    .subscribe();
  t.true(timers() > before);
  reading.unsubscribe();
  t.is(timers(), before);
});

test('a configuration saved while the demo answers still leads to it, and works after a restart', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-demo-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const run = async () => {
    const service = await start({ env: {}, home, port: 0, report: () => undefined });
    t.teardown(service.stop);
    const post = async (path: string, body: object) => {
      const answer = await request(service.baseUrl + path, { method: 'POST', body: JSON.stringify(body) });
      return { status: answer.statusCode, text: await answer.body.text() };
    };
    const hello = () => post('/v1/chat/completions', { model: 'any', messages: [{ role: 'user', content: 'Hello!' }] });
    return { ...service, post, hello };
  };
  const first = await run();
  const answered = await first.hello();
  t.is(answered.status, 200);
  t.regex(answered.text, /Hello from the built-in demo/);
  const config = JSON.parse(await (await request(`${first.baseUrl}/api/config`)).body.text());
  const mine = { name: 'mine', baseUrl: 'http://127.0.0.1:9/v1', apiKey: '', models: ['m'] };
  const saved = await first.post('/api/config', { ...config, Providers: [...config.Providers, mine] });
  t.is(saved.status, 200);
  t.regex(saved.text, /Router\.default still leads to the embedded provider/);
  t.is((await first.hello()).status, 200);
  // Without it, its name is a stranger's.
  const without = { Providers: [mine], Router: { default: 'mine,m' } };
  t.is((await first.post('/api/config', without)).status, 200);
  t.is((await first.hello()).status, 502);
  t.is((await first.post('/api/config', config)).status, 200);
  t.is((await first.hello()).status, 200, 'it answers again');
  await first.stop();

  const second = await run();
  t.is((await second.hello()).status, 200);
  await second.stop();
});
