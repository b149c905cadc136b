import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { modelEndpoint } from '../../../../engine/endpoints/model.ts';
import { openMetrics } from '../../../../engine/features/metrics/open-metrics.ts';
import { messagesClient } from '../../../../protocols/messages/index.ts';
import { configOf, gatewayOf } from '../../../support/gateway-of.ts';
import { until } from '../../../support/until.ts';
import { recordedAnswer, type Script, startUpstream } from '../../../support/upstreams/upstream.ts';
import { serve } from '../../http/rig.ts';

/** An endpoint whose requests are counted, before an upstream of Messages (`p`) and one of Chat (`c`). */
const open = async (t: ExecutionContext, script: Script, retries = 0) => {
  const upstream = await startUpstream(script);
  t.teardown(upstream.close);
  const config = configOf({
    Providers: [
      { name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] },
      { name: 'c', baseUrl: upstream.url, apiKey: 'k', models: ['n'] },
    ],
    transformers: [{ name: 'anthropic', provider: 'p' }],
    RETRY: { attempts: retries },
  });
  const gateway = gatewayOf(t, config);
  const { metrics, feature } = openMetrics();
  const messages = modelEndpoint(messagesClient, { gateway }, [feature]);
  const { port } = await serve(t, [{ method: 'POST', path: '/v1/messages', endpoint: messages }]);
  const post = (model: string, stream: boolean) =>
    request(`http://127.0.0.1:${port}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify({ model, stream, max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }),
    });
  const lines = async (name: string): Promise<readonly string[]> => {
    const { text } = await metrics.scrape();
    return text.split('\n').filter((line) => line.startsWith(`junctor_${name}`));
  };
  return { post, lines, upstream };
};

const cases: readonly (readonly [
  title: string,
  model: string,
  file: string,
  stream: boolean,
  tokens: readonly string[],
])[] = [
  ['a relayed stream', 'p,m', 'anthropic/cache-read.sse', true, ['input', 'cache_read', 'output']],
  ['a relayed reply', 'p,m', 'anthropic/json-text-stop-sequence.json', false, ['input', 'output']],
  ['a converted stream', 'c,n', 'openai-chat/length-cached.sse', true, ['input', 'cache_read', 'output']],
  ['a converted reply', 'c,n', 'openai-chat/json-image-base64.json', false, ['input', 'output']],
];
for (const [title, model, file, stream, tokens] of cases) {
  test(`${title} is counted whole`, async (t) => {
    const { post, lines } = await open(t, () => recordedAnswer(file, 500));
    const answer = await post(model, stream);
    t.is(answer.statusCode, 200);
    t.true((await answer.body.text()).length > 0);
    const [provider, name] = model.split(',');
    t.deepEqual(await lines('requests_total'), [
      `junctor_requests_total{route="messages",provider="${provider}",model="${name}",scenario="explicit",status="200"} 1`,
    ]);
    const types = (await lines('tokens_total')).map((line) => /type="(\w+)"/.exec(line)?.[1] ?? '');
    t.deepEqual(types, [...tokens]);
    for (const histogram of ['request_duration_seconds', 'time_to_first_token_seconds', 'overhead_seconds']) {
      const [row] = await lines(`${histogram}_count`);
      t.is(row, `junctor_${histogram}_count{route="messages",provider="${provider}"} 1`);
    }
    const [overhead] = await lines('overhead_seconds_sum');
    const [first] = await lines('time_to_first_token_seconds_sum');
    t.true(numberOf(overhead) < numberOf(first), `${overhead} of ${first}`);
    t.deepEqual(await lines('streams_active'), ['junctor_streams_active 0']);
    t.deepEqual(await lines('upstream_errors_total'), []);
  });
}

const numberOf = (line = ''): number => Number(line.split(' ').at(-1));

test("the upstream's fault is counted by its kind, the answer by the client's status", async (t) => {
  const { post, lines } = await open(t, () => ({ status: 529, pieces: ['{}'] }));
  const answer = await post('p,m', true);
  t.is(answer.statusCode, 529);
  await answer.body.dump();
  t.regex((await lines('requests_total')).join(), /model="m",.*status="529"\} 1$/);
  t.deepEqual(await lines('upstream_errors_total'), [
    'junctor_upstream_errors_total{provider="p",kind="upstream-overloaded"} 1',
  ]);
});

test('each failed attempt counts once, the last one too', async (t) => {
  const failing = () => ({ status: 529, headers: { 'retry-after-ms': '1' }, pieces: ['{}'] });
  const { post, lines } = await open(t, failing, 2);
  await (await post('p,m', true)).body.dump();
  t.deepEqual(await lines('upstream_errors_total'), [
    'junctor_upstream_errors_total{provider="p",kind="upstream-overloaded"} 3',
  ]);
});

for (const model of ['p,m', 'c,n']) {
  test(`a stream that breaks off counts as one fault, though its status was good: ${model}`, async (t) => {
    const begun =
      model === 'p,m'
        ? 'event: message_start\ndata: {"type":"message_start","message":{}}\n\n'
        : 'data: {"choices":[{"delta":{"content":"x"}}]}\n\n';
    const { post, lines } = await open(t, () => ({
      headers: { 'content-type': 'text/event-stream' },
      pieces: [begun, 50],
      finish: 'reset',
    }));
    const answer = await post(model, true);
    t.regex(await answer.body.text(), /event: error/);
    t.regex((await lines('requests_total')).join(), /status="200"\} 1$/);
    t.regex((await lines('upstream_errors_total')).join(), /kind="upstream-cut"\} 1$/);
  });
}

test('a client that goes is counted as gone, and its stream as closed', async (t) => {
  const { post, lines, upstream } = await open(t, () => ({
    headers: { 'content-type': 'text/event-stream' },
    pieces: ['event: ping\ndata: {"type":"ping"}\n\n'],
    finish: 'stall',
  }));
  const answer = await post('p,m', true);
  answer.body.on('error', () => {});
  for await (const _ of answer.body) break;
  await upstream.requests[0]?.closed;
  let now: readonly string[] = [];
  await until(async () => {
    now = await lines('client_aborts_total');
    return now.length > 0;
  });
  t.deepEqual(now, ['junctor_client_aborts_total{route="messages"} 1']);
  t.deepEqual(await lines('streams_active'), ['junctor_streams_active 0']);
  t.regex((await lines('requests_total')).join(), /status="499"\} 1$/);
  t.deepEqual(await lines('upstream_errors_total'), []);
});

test('a request without a known provider is counted without names', async (t) => {
  const { post, lines } = await open(t, () => 'never');
  await (await post('nobody', false)).body.dump();
  t.regex((await lines('requests_total')).join(), /provider="none",model="none",scenario="none",status="400"\} 1$/);
  t.deepEqual(await lines('time_to_first_token'), []);
});
