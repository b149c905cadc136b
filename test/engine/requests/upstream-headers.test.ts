import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { request } from 'undici';
import { startGateway } from '../../support/gateway.ts';
import { until } from '../../support/until.ts';
import { jsonAnswer, startUpstream, type UpstreamAnswer } from '../../support/upstreams/upstream.ts';

/** What a subscription's limits look like in the answers of its vendor. */
const unified: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    status: 'allowed_warning',
    reset: '1795880400',
    'representative-claim': 'five_hour',
    fallback: 'available',
    'fallback-percentage': '0.5',
    'upgrade-paths': 'upgrade_plan, overage',
    '5h-status': 'allowed_warning',
    '5h-reset': '1795880400',
    '5h-utilization': '0.91',
    '5h-surpassed-threshold': '0.9',
    '7d-status': 'allowed',
    '7d-reset': '1796310000',
    '7d-utilization': '0.34',
    '7d-surpassed-threshold': '0.25',
    'overage-status': 'rejected',
    'overage-reset': '1796083200',
    'overage-utilization': '1.0',
    'overage-disabled-reason': 'org_level_disabled_until',
  }).map(([name, value]) => [`anthropic-ratelimit-unified-${name}`, value]),
);

const message = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hi.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
};
const refusal = { type: 'error', error: { type: 'invalid_request_error', message: 'no' } };
const completion = {
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
};

const withHeaders = (answer: UpstreamAnswer, headers: Readonly<Record<string, string>>): UpstreamAnswer => ({
  ...answer,
  headers: { ...answer.headers, ...headers },
});

const paths = ['/v1/messages', '/v1/chat/completions', '/v1/responses'] as const;
const question = (path: string, model: string) =>
  path === '/v1/responses'
    ? { model, input: 'Hi.' }
    : { model, max_tokens: 9, messages: [{ role: 'user', content: 'Hi.' }] };

for (const [title, answer] of [
  ['answer', jsonAnswer(message)],
  ['refusal', jsonAnswer(refusal, 400)],
] as const) {
  test(`the states of a subscription's limits reach every client: ${title}`, async (t) => {
    const upstream = await startUpstream(() => withHeaders(answer, unified));
    const gateway = await startGateway({
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
      transformers: [{ name: 'anthropic', provider: 'p' }],
    });
    t.teardown(async () => {
      await gateway.stop();
      await upstream.close();
    });
    t.is(Object.keys(unified).length, 18);
    for (const path of paths) {
      const body = JSON.stringify(question(path, 'p,m'));
      const got = await request(`${gateway.baseUrl}${path}`, { method: 'POST', body });
      await got.body.dump();
      t.like(got.headers, unified, path);
    }
  });
}

const key = 'sk-secret-key-1234567890';
const idCases: readonly (readonly [sent: Readonly<Record<string, string>>, shown: string | undefined])[] = [
  [{ 'request-id': 'req_011CVendor' }, 'req_011CVendor'],
  [{ 'x-request-id': '3f9a-77b0' }, '3f9a-77b0'],
  [{ 'request-id': 'req_011CVendor', 'x-request-id': 'of-a-proxy' }, 'req_011CVendor'],
  [{}, undefined],
  // What could be anything isn't handed on.
  [{ 'request-id': 'two words' }, undefined],
  [{ 'request-id': 'x'.repeat(129) }, undefined],
  [{ 'request-id': `id-${key}` }, undefined],
];

test("the upstream's id of a call is in the answer's headers, the history and the log", async (t) => {
  let answer: UpstreamAnswer = jsonAnswer({});
  const upstream = await startUpstream(() => answer);
  const gateway = await startGateway({
    RETRY: { attempts: 0 },
    BREAKER: { faults: 1_000 },
    LOG_LEVEL: 'debug',
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: key, models: ['m'] }],
    transformers: [{ name: 'openai', provider: 'p' }],
  });
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  let asked = 0;
  for (const [sent, shown] of idCases) {
    for (const base of [jsonAnswer(completion), jsonAnswer({ error: { message: 'no' } }, 400)]) {
      answer = withHeaders(base, sent);
      for (const path of paths) {
        asked += 1;
        const id = `mine-${asked}`;
        const got = await request(`${gateway.baseUrl}${path}`, {
          method: 'POST',
          headers: { 'x-request-id': id },
          body: JSON.stringify(question(path, 'p,m')),
        });
        await got.body.dump();
        const where = `${path} ${JSON.stringify(sent)} ${got.statusCode}`;
        t.is(got.headers['x-junctor-upstream-request-id'], shown, where);
        t.is(got.headers['x-request-id'], id, where);
        t.is(got.headers['request-id'], id, where);
      }
    }
  }
  const history = await request(`${gateway.baseUrl}/api/history?limit=100`);
  const { requests } = (await history.body.json()) as { requests: { id: string; upstreamId?: string }[] };
  t.is(requests.length, asked);
  const perCase = 2 * paths.length;
  for (const { id, upstreamId } of requests) {
    t.is(upstreamId, idCases[Math.floor((Number(id.slice(5)) - 1) / perCase)]?.[1], id);
  }
  const logged = async (): Promise<string> => readFile(join(gateway.home, 'app.log'), 'utf8').catch(() => '');
  const lines = (text: string, message: RegExp): number =>
    text.split('\n').filter((line) => line.includes('"upstreamRequestId":"req_011CVendor"') && message.test(line))
      .length;
  // Of the two cases with this id, each has as many answers as refusals; all of them end.
  await until(async () => lines(await logged(), /"msg":"ended"/) === 2 * perCase);
  t.true(lines(await logged(), /"msg":"(?!ended)/) >= perCase);
  t.false((await logged()).includes(key));
});
