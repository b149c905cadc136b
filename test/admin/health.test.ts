import test from 'ava';
import { request } from 'undici';
import { type Health, healthRoutes } from '../../admin/health.ts';
import { serve } from '../engine/http/rig.ts';

const cases: readonly (readonly [title: string, health: Health, path: string, status: number, word: string])[] = [
  ['serving', { draining: false }, '/health', 200, 'ok'],
  ['serving', { draining: false }, '/health/ready', 200, 'ok'],
  ['serving', { draining: false }, '/health/live', 200, 'ok'],
  ['draining', { draining: true }, '/health', 503, 'draining'],
  ['draining', { draining: true }, '/health/ready', 503, 'draining'],
  ['draining', { draining: true }, '/health/live', 200, 'ok'],
];

for (const [title, health, path, status, word] of cases) {
  test(`${path} ${title}, without a key`, async (t) => {
    const { port } = await serve(
      t,
      healthRoutes(() => health),
      { apiKey: 'secret' },
    );
    const answer = await request(`http://127.0.0.1:${port}${path}`);
    t.is(answer.statusCode, status);
    t.deepEqual(await answer.body.json(), { status: word });
    const probe = await request(`http://127.0.0.1:${port}${path}`, { method: 'HEAD' });
    t.is(probe.statusCode, status);
    t.is(await probe.body.text(), '');
  });
}

test('health answers for any host, the rest does not', async (t) => {
  const { port } = await serve(
    t,
    healthRoutes(() => ({ draining: false })),
  );
  for (const [path, status] of [
    ['/health', 200],
    ['/health/ready', 200],
    ['/health/live', 200],
    ['/', 403],
  ] as const) {
    const answer = await request(`http://127.0.0.1:${port}${path}`, { headers: { host: 'pod-7.internal:3456' } });
    t.is(answer.statusCode, status);
    await answer.body.dump();
  }
});

test('F10 GET / leads a browser to the web interface; other clients get JSON', async (t) => {
  const { port } = await serve(
    t,
    healthRoutes(() => ({ draining: false })),
  );
  const ask = (accept: string) => request(`http://127.0.0.1:${port}/`, { headers: { accept } });
  const browser = await ask('text/html,application/xhtml+xml,*/*;q=0.8');
  await browser.body.dump();
  const other = await ask('*/*');
  t.is(browser.statusCode, 307);
  t.is(browser.headers.location, 'ui');
  t.is(browser.headers.vary, 'accept');
  t.deepEqual(await other.body.json(), { service: 'junctor' });
});
