import test from 'ava';
import { Value } from 'typebox/value';
import { ServiceState } from '../../admin/schema.ts';
import { chooseServer } from '../../engine/http/choose-server.ts';
import { startGateway } from '../support/gateway.ts';
import { recordedAnswer, startUpstream } from '../support/upstreams/upstream.ts';

test('a service inside another program says that it cannot restart itself, and which process it is', async (t) => {
  const { baseUrl, home, stop } = await startGateway({ Providers: [], APIKEY: 'a-key-of-mine' });
  t.teardown(stop);
  const headers = { 'x-api-key': 'a-key-of-mine' };
  t.is((await fetch(`${baseUrl}/api/restart`, { method: 'POST' })).status, 401);
  const restarted = await fetch(`${baseUrl}/api/restart`, { method: 'POST', headers });
  t.is(restarted.status, 503);
  t.like(await restarted.json(), { success: false });
  t.is((await fetch(`${baseUrl}/api/service`)).status, 401);
  const service = await (await fetch(`${baseUrl}/api/service`, { headers })).json();
  const { facts } = chooseServer();
  t.like(service, {
    http: { ...facts },
    pid: process.pid,
    answeredBy: process.pid,
    restarts: 0,
    home,
    baseUrl,
    providers: [],
  });
});

/** Blocks the event loop. */
const block = 'const block = () => { for (const until = performance.now() + 230; performance.now() < until; ); };';

/** Custom stages, each of which blocks in one of its halves. */
const blocking = {
  'asking.js': `${block} export default { name: 'asking', request: (request) => { block(); return request; } };`,
  'calling.js': `${block} export default { name: 'calling', call: () => { block(); return {}; } };`,
  'reading.js': `${block} const step = (event, out) => { if (event.type === 'message-stop') block(); out.push(event); };
    export default { name: 'reading', events: { start: () => ({ step, end() {} }) } };`,
  'joining.js': `import { map } from 'rxjs'; ${block}
    export default { name: 'joining', operators: { events: map((batch) => { if (batch.some(({ type }) => type === 'message-stop')) block(); return batch; }) } };`,
};

test('a step that holds the event loop is named in the metrics and in the state of the service', async (t) => {
  const upstream = await startUpstream(() => recordedAnswer('openai-chat/text-usage-obfuscation.sse'));
  t.teardown(upstream.close);
  const { baseUrl, stop } = await startGateway(
    {
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
      transformers: Object.keys(blocking).map((path) => ({ path })),
    },
    {},
    { files: blocking },
  );
  t.teardown(stop);
  const body = JSON.stringify({
    model: 'p,m',
    max_tokens: 9,
    stream: true,
    messages: [{ role: 'user', content: 'hi' }],
  });
  const answer = await fetch(`${baseUrl}/v1/messages`, { method: 'POST', body });
  t.regex(await answer.text(), /message_stop/);
  const service = await (await fetch(`${baseUrl}/api/service`)).json();
  const { holds } = Value.Parse(ServiceState, service);
  const metrics = await (await fetch(`${baseUrl}/metrics`)).text();
  for (const name of ['asking', 'calling', 'reading', 'joining']) {
    const step = `stage ${name}`;
    t.true(
      holds.some((hold) => hold.step === step && hold.count >= 1 && hold.longestMs >= 200),
      `${step}: ${JSON.stringify(holds)}`,
    );
    t.true(metrics.includes(`event_loop_hold_seconds_count{step="${step}"} `), step);
  }
});
