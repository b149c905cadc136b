import test from 'ava';
import { request } from 'undici';
import type { Later } from '../../../engine/runtime/within.ts';
import { startGateway } from '../../support/gateway.ts';
import { until } from '../../support/until.ts';
import { chatReply, chatStream } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const message = { role: 'user', content: 'Hello' };
const routes = [
  ['/v1/messages', { max_tokens: 9, messages: [message] }],
  ['/v1/chat/completions', { messages: [message] }],
  ['/v1/responses', { input: 'Hello' }],
  ['/v1/responses', { input: 'Hello', model: 'r,m' }],
] as const;

const numbered = (type: string, sequence_number: number, more: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number, ...more })}\n\n`;
/** The start of an answer of a Responses upstream, whose last record has no number. */
const begun = [
  numbered('response.created', 0, { response: { id: 'resp_own', model: 'own', status: 'in_progress', output: [] } }),
  numbered('response.output_text.delta', 1, { item_id: 'i', output_index: 0, content_index: 0, delta: 'one' }),
  'data: {"type":"keepalive"}\n\n',
];

/** What the events of a Responses stream say of their answer: it is the same up to the end. */
const identities = (text: string): readonly string[] => {
  const events = text.split('\n').flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6))] : []));
  const named = events.flatMap(({ response }) => (response ? [`${response.id} ${response.model}`] : []));
  return [...new Set(named), events.flatMap(({ sequence_number: number }) => number ?? []).join()];
};

/** How a stream ends that the service can't wait for. */
const ends = [
  /\n\nevent: error\ndata: \{"type":"error",[^\n]*shutting down[^\n]*\}\n\n$/,
  /\n\ndata: \{"error":\{[^\n]*shutting down[^\n]*\}\}\n\n$/,
  /\n\nevent: error\n[^\n]*shutting down[^\n]*\n\nevent: response\.failed\n[^\n]*"sequence_number":\d+[^\n]*\n\n$/,
  /\n\nevent: error\n[^\n]*shutting down[^\n]*\n\nevent: response\.failed\n[^\n]*"sequence_number":\d+[^\n]*\n\n$/,
];

test('a stopping service says so and serves on, then closes its port, then ends what is left in its own protocol', async (t) => {
  const upstream = await startUpstream(({ body, url }) => {
    if (Object(body).stream !== true) return 'never';
    return sseAnswer(url.includes('/responses') ? begun : [...chatStream(['one'])].slice(0, 1), 'stall');
  });
  t.teardown(upstream.close);
  /** The waits of the stop, by their length. */
  const pauses = new Map<number, () => void>();
  let over = false;
  const after: Later = (act, ms) => {
    if (over) act();
    else pauses.set(ms, act);
    return () => pauses.delete(ms);
  };
  const providers = ['p', 'r'].map((name) => ({ name, baseUrl: upstream.url, apiKey: 'k', models: ['m'] }));
  const transformers = [{ name: 'openai', provider: 'r', options: { api: 'responses' } }];
  const TIMEOUTS = { leaveMs: 7_000, drainMs: 8_000 };
  const gateway = await startGateway({ Providers: providers, transformers, TIMEOUTS }, {}, { after });
  let stopped: Promise<void> | undefined;
  t.teardown(async () => {
    over = true;
    for (const end of pauses.values()) end();
    await (stopped ?? gateway.stop());
  });
  const health = async (path: string) => {
    const { statusCode, headers, body } = await request(`${gateway.baseUrl}${path}`);
    await body.dump();
    return [statusCode, headers.connection];
  };
  const post = (path: string, body: object) =>
    request(`${gateway.baseUrl}${path}`, { method: 'POST', body: JSON.stringify({ model: 'p,m', ...body }) });
  const streams = await Promise.all(routes.map(([path, body]) => post(path, { ...body, stream: true })));
  t.deepEqual(await health('/health/ready'), [200, undefined]);

  stopped = gateway.stop();
  await until(() => pauses.has(TIMEOUTS.leaveMs));
  t.deepEqual(await health('/health/ready'), [503, 'close']);
  t.deepEqual(await health('/health/live'), [200, 'close']);
  const whole = routes.map(([path, body]) => post(path, body));
  await until(() => upstream.requests.length === 2 * routes.length);
  t.false(pauses.has(TIMEOUTS.drainMs));
  pauses.get(TIMEOUTS.leaveMs)?.();
  await until(() =>
    health('/health/live').then(
      () => false,
      () => true,
    ),
  );
  await until(() => pauses.has(TIMEOUTS.drainMs));
  pauses.get(TIMEOUTS.drainMs)?.();
  await stopped;
  for (const [index, { statusCode, body }] of streams.entries()) {
    t.is(statusCode, 200);
    const text = await body.text();
    t.true(text.includes('one'));
    t.regex(text, ends[index] ?? /none/);
    if (routes[index]?.[0] !== '/v1/responses') continue;
    const [answer, numbers = '', ...others] = identities(text);
    t.deepEqual([index === 3 ? answer : 'resp_own own', others], ['resp_own own', []], text);
    t.deepEqual(
      numbers,
      numbers
        .split(',')
        .map((_, at) => at)
        .join(),
    );
  }
  for (const answer of await Promise.all(whole)) {
    t.is(answer.statusCode, 503);
    t.is(answer.headers['retry-after'], '1');
    t.regex(await answer.body.text(), /"error":\{.*shutting down/);
  }
});

test('a feature that is left out listens to no request, and the answer is the same', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer(chatReply('ok')));
  t.teardown(upstream.close);
  const config = { Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }], LOG: true };
  const answers: unknown[] = [];
  const seen = [];
  for (const withoutFeatures of [[], ['metrics', 'requestLog', 'history']] as const) {
    let ended = 0;
    // Called after all others.
    const count = () => {
      ended += 1;
    };
    const features = [{ configured: () => true, open: async () => ({ listener: { finished: count } }) }];
    const gateway = await startGateway(config, {}, { withoutFeatures, features });
    t.teardown(gateway.stop);
    const text = async (path: string, body?: object): Promise<string> =>
      (
        await request(`${gateway.baseUrl}${path}`, body ? { method: 'POST', body: JSON.stringify(body) } : {})
      ).body.text();
    answers.push(JSON.parse(await text('/v1/chat/completions', { model: 'p,m', messages: [message] })));
    await until(() => ended === 1);
    const matches = async (path: string, pattern: RegExp): Promise<number> =>
      (await text(path)).match(pattern)?.length ?? 0;
    const looks = () =>
      Promise.all([
        matches('/api/requests', /"model":"m"/g),
        matches('/metrics', /^junctor_requests_total\{.*\} 1$/gm),
        matches('/api/usage', /"requests":1/g),
        matches('/api/logs', /routed/g),
      ]);
    if (withoutFeatures.length === 0) await until(async () => (await looks()).every((found) => found > 0));
    seen.push(await looks());
  }
  t.deepEqual(answers[1], answers[0]);
  t.deepEqual(seen[1], [0, 0, 0, 0]);
});
