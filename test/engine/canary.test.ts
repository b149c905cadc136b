import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { request } from 'undici';
import { startGateway } from '../support/gateway.ts';
import { jsonAnswer, startUpstream } from '../support/upstream.ts';

const canaries = { own: 'canary-own-4f1c9a', upstream: 'canary-upstream-77be02', client: 'canary-client-d3ad10' };

test('keys of the service, of providers and of clients show nowhere: answers, logs, metrics, descriptions', async (t) => {
  // A vendor that repeats what it was given, as some do.
  const upstream = await startUpstream(({ headers, body }) => {
    const said = `bad key ${headers['x-api-key'] ?? headers.authorization} for ${Object(body).model}`;
    return jsonAnswer({ error: { message: said, type: 'x' } }, Number(Object(body).model) || 500);
  });
  const provider = { name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: canaries.upstream, models: ['401', '500'] };
  const gateway = await startGateway({ APIKEY: canaries.own, LOG_LEVEL: 'debug', Providers: [provider] });
  const headers = { 'x-api-key': canaries.own, cookie: `session=${canaries.client}` };
  const seen: string[] = [];
  const call = async (path: string, init: Parameters<typeof request>[1] = {}): Promise<void> => {
    const answer = await request(`${gateway.baseUrl}${path}`, { headers, ...init });
    seen.push(JSON.stringify(answer.headers), await answer.body.text());
  };
  const messages = [{ role: 'user', content: 'hi' }];
  for (const model of ['p,401', 'p,403', 'p,500', 'p,429', 'nobody']) {
    for (const stream of [false, true]) {
      const body = JSON.stringify({ model, stream, max_tokens: 9, messages });
      await call('/v1/messages', { method: 'POST', body });
      await call('/v1/chat/completions', { method: 'POST', body });
      await call(`/v1/responses?key=${canaries.client}`, {
        method: 'POST',
        body: JSON.stringify({ model, stream, input: 'hi' }),
      });
    }
  }
  await call('/v1/messages', { method: 'POST', body: '{}', headers: { authorization: `Bearer ${canaries.client}` } });
  for (const path of [
    '/metrics',
    '/api/graph',
    '/api/transformers',
    '/openapi.json',
    '/v1/models',
    '/api/service',
    '/health',
  ]) {
    await call(path);
  }
  await call('/api/explain', {
    method: 'POST',
    body: JSON.stringify({ client: 'chat', body: { model: 'p,500', messages } }),
  });
  // Logs are written a moment later.
  await new Promise((resolve) => setTimeout(resolve, 500));
  await call('/api/logs');
  const logs = join(gateway.home, 'logs');
  for (const name of await readdir(logs)) {
    if (name.endsWith('.log')) seen.push(await readFile(join(logs, name), 'utf8'));
  }
  seen.push(await readFile(join(gateway.home, 'app.log'), 'utf8'));
  await gateway.stop();
  await upstream.close();
  t.true(
    seen.some((text) => text.includes('incoming request')),
    'the logs were read',
  );
  t.true(
    seen.some((text) => text.includes('switchyard_requests_total')),
    'the metrics were read',
  );
  for (const [whose, canary] of Object.entries(canaries)) {
    t.deepEqual(
      seen.filter((text) => text.includes(canary)).map((text) => text.slice(0, 300)),
      [],
      `the ${whose} key`,
    );
  }
});
