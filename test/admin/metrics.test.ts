import test from 'ava';
import { request } from 'undici';
import { lazyRoutes } from '../../admin/lazy-routes.ts';
import { createMetrics } from '../../engine/features/metrics/metrics.ts';
import { metricsOperations } from '../../engine/features/metrics/routes.ts';
import { RequestRecords } from '../../engine/request-record.ts';
import { serve } from '../engine/http/rig.ts';
import { recordStarter } from '../support/request-record.ts';

test('GET /metrics requires the key', async (t) => {
  const metrics = createMetrics();
  const routes = lazyRoutes({ metrics: 'GET /metrics' }, async () => metricsOperations(metrics));
  const { port } = await serve(t, routes, { apiKey: 'secret' });
  const refused = await request(`http://127.0.0.1:${port}/metrics`);
  t.is(refused.statusCode, 401);
  t.false((await refused.body.text()).includes('junctor_'));
  const records = new RequestRecords();
  records.listen([metrics.listener]);
  recordStarter(t, records)().finished(200);
  const answer = await request(`http://127.0.0.1:${port}/metrics`, { headers: { authorization: 'Bearer secret' } });
  t.is(answer.statusCode, 200);
  t.is(answer.headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8');
  const text = await answer.body.text();
  t.regex(text, /^junctor_requests_total\{route="chat",.*status="200"\} 1$/m);
  t.true(text.endsWith('\n'));
});
