import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { startGateway } from '../../../support/gateway.ts';
import { until } from '../../../support/until.ts';
import { recordedAnswer, type Script, sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';
import { attributesOf, startCollector } from './collector.ts';

/*
 * What a collector gets of requests: one span of the server, and below it one per upstream call; and what upstreams get of the
 * trace.
 */

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const parentId = '00f067aa0ba902b7';
const sampled = { traceparent: `00-${traceId}-${parentId}-01`, tracestate: 'vendor=canary-state' };
const prompt = 'canary-prompt';
const keys = { provider: 'canary-provider-key', gateway: 'canary-gateway-key', collector: 'canary-collector-key' };

const open = async (t: ExecutionContext, script: Script, settings: object = {}, collecting?: Script) => {
  const upstream = await startUpstream(script);
  t.teardown(upstream.close);
  const collector = await startCollector(t, collecting);
  const gateway = await startGateway(
    {
      APIKEY: keys.gateway,
      Providers: [
        { name: 'first', baseUrl: upstream.url, apiKey: keys.provider, models: ['m'] },
        { name: 'second', baseUrl: upstream.url, apiKey: keys.provider, models: ['n'] },
      ],
      transformers: [{ name: 'anthropic', provider: 'first' }],
      Router: { default: 'first,m', fallback: { default: ['second,n'] } },
      RETRY: { baseMs: 0 },
      TELEMETRY: { endpoint: collector.url, headers: { authorization: `Bearer ${keys.collector}` }, ...settings },
    },
    { OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test%20one,broken', OTEL_SERVICE_NAME: 'from-env' },
  );
  let isStopped = false;
  const stop = async () => {
    if (!isStopped) await gateway.stop();
    isStopped = true;
  };
  t.teardown(stop);
  const post = (
    {
      model = 'first,m',
      stream = false,
      content = prompt,
    }: { model?: string; stream?: boolean; content?: string } = {},
    headers: Readonly<Record<string, string>> = sampled,
  ) =>
    request(`${gateway.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { authorization: `Bearer ${keys.gateway}`, 'x-request-id': 'r-1', ...headers },
      body: JSON.stringify({ model, stream, max_tokens: 9, messages: [{ role: 'user', content }] }),
    });
  /** The tree of spans, once all were sent. */
  const tree = async () => {
    await stop();
    const spans = collector
      .spans()
      .map(({ attributes, ...span }) => ({ ...span, attributes: attributesOf(attributes) }));
    const servers = spans.filter(({ kind }) => kind === 2);
    return servers.map((server) => ({
      server,
      calls: spans.filter(({ parentSpanId }) => parentSpanId === server.spanId),
    }));
  };
  /** Nothing that any test calls a canary left, but what the collector itself must have. */
  const assertClean = () => {
    for (const { text, headers, url } of collector.requests) {
      t.notRegex(text, /canary-(?!state)/);
      t.is(headers.authorization, `Bearer ${keys.collector}`);
      t.false(url.includes('canary'));
    }
  };
  return { upstream, collector, gateway, post, tree, stop, assertClean };
};

const plain = () => recordedAnswer('anthropic/json-text-stop-sequence.json');
const streamed = () => recordedAnswer('anthropic/cache-read.sse', 500);

for (const stream of [false, true]) {
  test(`a request, ${stream ? 'streamed' : 'whole'}: a span with one call, whose id the upstream gets`, async (t) => {
    const { upstream, collector, post, tree, assertClean } = await open(t, () => (stream ? streamed() : plain()));
    const answer = await post({ stream });
    t.is(answer.statusCode, 200);
    await answer.body.text();
    const [one, ...more] = await tree();
    t.deepEqual(more, []);
    t.like(one?.server, {
      traceId,
      parentSpanId: parentId,
      traceState: sampled.tracestate,
      name: 'POST /v1/messages',
      status: {},
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/messages',
        'http.response.status_code': '200',
        'junctor.request.id': 'r-1',
        'junctor.scenario': 'explicit',
        'junctor.attempts': '1',
      },
    });
    const [call] = one?.calls ?? [];
    t.is(one?.calls.length, 1);
    t.like(call, {
      traceId,
      kind: 3,
      name: 'chat m',
      status: {},
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'anthropic',
        'junctor.provider': 'first',
        'gen_ai.request.model': 'm',
        'gen_ai.request.stream': String(stream),
        'server.address': '127.0.0.1',
        'server.port': String(upstream.port),
      },
    });
    for (const name of ['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens']) {
      t.true(Number(call?.attributes[name]) > 0, name);
    }
    t.is('gen_ai.response.time_to_first_chunk' in (call?.attributes ?? {}), stream);
    t.deepEqual(
      upstream.requests.map(({ headers }) => [headers.traceparent, headers.tracestate]),
      [[`00-${traceId}-${call?.spanId}-01`, sampled.tracestate]],
    );
    const inOrder = [one?.server.startTimeUnixNano, call?.startTimeUnixNano, call?.endTimeUnixNano];
    t.deepEqual([...inOrder, one?.server.endTimeUnixNano], [...inOrder, one?.server.endTimeUnixNano].sort());
    t.like(collector.resources()[0], {
      'service.name': 'from-env',
      'deployment.environment.name': 'test one',
    });
    t.regex(collector.resources()[0]?.['service.instance.id'] ?? '', /^[0-9a-f-]{36}$/);
    const metrics = collector.metrics();
    t.deepEqual(
      metrics.map(({ name, points }) => [name, points.length]),
      [
        ['gen_ai.client.token.usage', 2],
        ['gen_ai.client.operation.duration', 1],
        ['gen_ai.client.operation.time_to_first_chunk', stream ? 1 : 0],
        ['http.server.request.duration', 1],
      ],
    );
    t.true(metrics.every(({ points }) => points.every(({ isWhole }) => isWhole)));
    t.is(
      metrics[0]?.points.find(({ attributes }) => attributes['gen_ai.token.type'] === 'input')?.sum,
      Number(call?.attributes['gen_ai.usage.input_tokens']),
    );
    assertClean();
  });
}

const overloaded = {
  status: 529,
  headers: { 'content-type': 'application/json' },
  pieces: ['{"type":"error","error":{"type":"overloaded_error","message":"canary-fault canary-provider-key"}}'],
};

test('a retry and a fallback are calls of the same request, each with an id of its own', async (t) => {
  const { upstream, post, tree, assertClean } = await open(t, ({ url }) =>
    url.includes('messages') ? overloaded : recordedAnswer('openai-chat/json-image-base64.json'),
  );
  const answer = await post({ model: 'any-model' });
  t.is(answer.statusCode, 200);
  await answer.body.text();
  const [one] = await tree();
  const calls = one?.calls ?? [];
  t.true(calls.length >= 3);
  t.deepEqual(
    calls.map(({ attributes, status }) => [
      attributes['junctor.provider'],
      attributes['gen_ai.provider.name'],
      attributes['http.request.resend_count'],
      attributes['error.type'],
      attributes['http.response.status_code'],
      status.code,
    ]),
    calls.map((_, index) =>
      index === calls.length - 1
        ? ['second', 'second', undefined, undefined, undefined, undefined]
        : ['first', 'anthropic', index === 0 ? undefined : String(index), 'upstream-overloaded', '529', 2],
    ),
  );
  t.deepEqual(
    upstream.requests.map(({ headers }) => headers.traceparent),
    calls.map(({ spanId }) => `00-${traceId}-${spanId}-01`),
  );
  t.deepEqual(one?.server.status, {});
  t.deepEqual(
    one?.server.events.map(({ name }) => name),
    [...calls.slice(2).map(() => 'junctor.retry'), 'junctor.fallback'],
  );
  assertClean();
});

test('an answer that is cut is an error of the call and the request', async (t) => {
  const piece =
    'event: message_start\ndata: {"type":"message_start","message":{"id":"i","type":"message","role":"assistant","content":[],"model":"m","usage":{"input_tokens":3,"output_tokens":1}}}\n\n';
  const text =
    'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"canary-answer"}}\n\n';
  const { post, tree, assertClean } = await open(t, () => sseAnswer([piece, text], 'close'));
  const answer = await post({ stream: true });
  await answer.body.text().catch(() => undefined);
  const [one] = await tree();
  t.like(one?.server, { status: { code: 2 }, attributes: { 'error.type': 'upstream-cut' } });
  t.like(one?.calls[0], { status: { code: 2 }, attributes: { 'error.type': 'upstream-cut' } });
  assertClean();
});

test('a client that leaves ends the call', async (t) => {
  const { upstream, gateway, tree } = await open(t, () => 'never');
  const leaving = new AbortController();
  const asked = request(`${gateway.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.gateway}` },
    body: JSON.stringify({ model: 'first,m', max_tokens: 9, messages: [{ role: 'user', content: prompt }] }),
    signal: leaving.signal,
  });
  await until(() => upstream.requests.length === 1);
  leaving.abort();
  await asked.catch(() => undefined);
  await upstream.requests[0]?.closed;
  const [one] = await tree();
  t.like(one?.server, {
    status: {},
    attributes: { 'http.response.status_code': '499', 'error.type': 'client_disconnected' },
  });
  t.false('parentSpanId' in (one?.server ?? {}));
  t.like(one?.calls[0], { attributes: { 'error.type': 'client_disconnected' } });
});

test('a request that is refused has a span without calls', async (t) => {
  const { upstream, post, tree, assertClean } = await open(t, plain);
  const answer = await post({ model: 'canary-model,x' });
  t.true(answer.statusCode >= 400 && answer.statusCode < 500);
  await answer.body.text();
  const [one] = await tree();
  t.deepEqual(one?.calls, []);
  t.is(upstream.requests.length, 0);
  t.like(one?.server, { status: {}, attributes: { 'http.response.status_code': String(answer.statusCode) } });
  assertClean();
});

test("the client's decision and the ratio: no spans, but metrics, and a trace for the upstream", async (t) => {
  const { upstream, collector, post, stop } = await open(t, plain, { ratio: 0 });
  for (const headers of [{ traceparent: sampled.traceparent.replace(/1$/, '0') }, {}]) {
    await (await post({}, headers)).body.text();
  }
  await stop();
  t.deepEqual(collector.spans(), []);
  t.is(collector.metrics().find(({ name }) => name === 'http.server.request.duration')?.points[0]?.count, 2);
  const [first, second] = upstream.requests.map(({ headers }) => String(headers.traceparent));
  t.regex(first ?? '', new RegExp(`^00-${traceId}-[0-9a-f]{16}-00$`));
  t.regex(second ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
});

test('a collector that never answers delays neither requests nor the stop, and is counted', async (t) => {
  const { gateway, collector, post, stop } = await open(t, plain, {}, () => 'never');
  for (let n = 0; n < 3; n += 1) t.is(((await (await post()).body.json()) as { type: string }).type, 'message');
  const metrics = await request(`${gateway.baseUrl}/metrics`, { headers: { authorization: `Bearer ${keys.gateway}` } });
  t.regex(await metrics.body.text(), /^junctor_telemetry_dropped_total\{signal="traces"\} 0$/m);
  await stop();
  // A post without an answer is repeated after ten seconds, so a slow run sees more than one.
  t.deepEqual([...new Set(collector.requests.map(({ url }) => url))].sort(), ['/v1/metrics', '/v1/traces']);
});

test('without TELEMETRY, upstreams get no trace and nothing is exported', async (t) => {
  const upstream = await startUpstream(plain);
  t.teardown(upstream.close);
  const gateway = await startGateway({
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
    transformers: ['anthropic'],
  });
  t.teardown(gateway.stop);
  const answer = await request(`${gateway.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: sampled,
    body: JSON.stringify({ model: 'p,m', max_tokens: 9, messages: [{ role: 'user', content: prompt }] }),
  });
  t.is(answer.statusCode, 200);
  await answer.body.text();
  t.is(upstream.requests[0]?.headers.traceparent, undefined);
  t.is(upstream.requests[0]?.headers.tracestate, undefined);
  const metrics = await request(`${gateway.baseUrl}/metrics`);
  t.notRegex(await metrics.body.text(), /telemetry/);
});

test("a stage's question is a request of its own in the trace, below the one that causes it", async (t) => {
  const upstream = await startUpstream(plain);
  t.teardown(upstream.close);
  const collector = await startCollector(t);
  const gateway = await startGateway(
    {
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m', 'other'] }],
      transformers: [
        { name: 'anthropic', provider: 'p' },
        { path: 'ask.ts', models: ['m'], ask: ['p,other'] },
      ],
      TELEMETRY: { endpoint: collector.url },
    },
    {},
    {
      files: {
        'ask.ts': `import { transformer } from 'junctor/transformer';
          export default transformer({ name: 'ask', async around(request, next, context) {
            await context.ask('p,other', 'really?');
            return next(request);
          } });`,
      },
    },
  );
  const answer = await request(`${gateway.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: sampled,
    body: JSON.stringify({ model: 'p,m', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }),
  });
  t.is(answer.statusCode, 200, await answer.body.text());
  await gateway.stop();
  const spans = collector.spans();
  const servers = spans.filter(({ kind }) => kind === 2);
  const outer = servers.find(({ parentSpanId }) => parentSpanId === parentId);
  const inner = servers.find((span) => span !== outer);
  t.is(servers.length, 2);
  t.is(inner?.parentSpanId, outer?.spanId);
  t.deepEqual(
    spans.filter(({ kind }) => kind === 3).map(({ name, parentSpanId }) => [name, parentSpanId]),
    [
      ['chat other', inner?.spanId],
      ['chat m', outer?.spanId],
    ],
  );
  t.true(spans.every((span) => span.traceId === traceId));
});
