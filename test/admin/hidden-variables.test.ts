import test from 'ava';
import { startGateway } from '../support/gateway.ts';
import { jsonAnswer, startUpstream } from '../support/upstreams/upstream.ts';

test('a trial and a list of models show the reference, not what a variable in the base URL holds', async (t) => {
  const upstream = await startUpstream(({ url }) => jsonAnswer({ error: { message: `no such path: ${url}` } }, 404));
  t.teardown(upstream.close);
  const provider = { name: 'p', baseUrl: `${upstream.url}/$TENANT/v1`, apiKey: 'k', models: ['m'] };
  const unreachable = { ...provider, baseUrl: 'http://$TENANT.invalid:9/v1' };
  const env = { TENANT: 'tenant-4711-hidden' };
  const gateway = await startGateway({ Providers: [provider], Router: { default: 'p,m' } }, env);
  t.teardown(gateway.stop);
  for (const draft of [provider, unreachable])
    for (const [path, more] of [
      ['/api/providers/test', { model: 'm' }],
      ['/api/providers/models', {}],
    ] as const) {
      const answer = await fetch(gateway.baseUrl + path, {
        method: 'POST',
        body: JSON.stringify({ provider: draft, ...more }),
      });
      const text = await answer.text();
      t.like(JSON.parse(text), { ok: false });
      t.false(text.includes(env.TENANT), text);
      t.regex(text, /\$TENANT/);
    }
  const refreshed = await (await fetch(`${gateway.baseUrl}/api/models/refresh`, { method: 'POST', body: '{}' })).text();
  t.false(refreshed.includes(env.TENANT), refreshed);
});
