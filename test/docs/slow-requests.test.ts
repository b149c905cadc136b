import { readFile } from 'node:fs/promises';
import test from 'ava';
import { request } from 'undici';
import { slowRequests } from '../../docs/examples/slow-requests.ts';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { chatReply } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../support/upstreams/upstream.ts';

test('the example of a feature has at most 40 lines, counts requests, and shows them in a metric and a route', async (t) => {
  const source = await readFile(new URL('../../docs/examples/slow-requests.ts', import.meta.url), 'utf8');
  t.true(source.split('\n').length <= 41);
  const upstream = await startUpstream(() => jsonAnswer(chatReply('ok')));
  t.teardown(upstream.close);
  const gateway = await startGateway(
    { Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }] },
    { SLOW_MS: '0' },
    { features: [slowRequests] },
  );
  t.teardown(gateway.stop);
  const body = JSON.stringify({ model: 'p,m', messages: [{ role: 'user', content: 'hi' }] });
  const answer = await request(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', body });
  t.is(answer.statusCode, 200, await answer.body.text());
  const text = async (path: string): Promise<string> => (await request(`${gateway.baseUrl}${path}`)).body.text();
  await until(async () => (await text('/api/slow')) === '[{"provider":"p","count":1}]');
  t.regex(await text('/metrics'), /^junctor_slow_requests_total\{provider="p"\} 1$/m);
  t.true((await text('/openapi.json')).includes('Slow requests by provider'));
});

test('without its setting, the example is not opened', async (t) => {
  let opened = 0;
  const open: typeof slowRequests.open = (services) => {
    opened += 1;
    return slowRequests.open(services);
  };
  const gateway = await startGateway({ Providers: [] }, {}, { features: [{ ...slowRequests, open }] });
  t.teardown(gateway.stop);
  t.is((await request(`${gateway.baseUrl}/api/slow`)).statusCode, 404);
  t.is(opened, 0);
});
