import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { startGateway } from '../../support/gateway.ts';
import { until } from '../../support/until.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

/** The value of a variable for each place that may refer to one. */
const env = {
  A_NAME: 'value-of-a-name',
  A_MODEL: 'value-of-a-model',
  A_TITLE: 'value-of-a-title',
  A_BODY: 'value-of-a-body',
  A_RULE: 'value-of-a-rule',
};

test('a client gets no value of a variable by asking for its reference as a model', async (t) => {
  const asked: unknown[] = [];
  const upstream = await startUpstream(({ body }) => {
    asked.push(Object(body).model);
    return jsonAnswer({ error: { message: 'no such model', type: 'x' } }, 404);
  });
  t.teardown(upstream.close);
  const variables = { A_KEY: 'key-of-the-other-provider', A_TITLE: 'title-of-a-call', A_MODEL: 'value-of-a-model' };
  const gateway = await startGateway(
    {
      Providers: [
        { name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['$A_MODEL'], headers: { 'x-title': '$A_TITLE' } },
        { name: 'other', baseUrl: upstream.url, apiKey: '$A_KEY', models: ['m'] },
      ],
      Router: { default: 'p,$A_MODEL' },
      RETRY: { attempts: 0 },
    },
    variables,
  );
  t.teardown(gateway.stop);
  for (const model of ['p,$A_KEY', 'p,x$A_KEY', 'p,$A_TITLE', 'p,$A_MODEL-$A_KEY', 'p,$A_MODEL']) {
    const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] });
    const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', body });
    await answer.text();
  }
  t.deepEqual(asked, ['$A_KEY', 'x$A_KEY', '$A_TITLE', '$A_MODEL-$A_KEY', variables.A_MODEL]);
});

test('values of variables are shown nowhere; their references are', async (t) => {
  const upstream = await startUpstream(({ body }) =>
    jsonAnswer({ error: { message: `no ${Object(body).model} for you`, type: 'x' } }, 400),
  );
  t.teardown(upstream.close);
  const gateway = await startGateway(
    {
      LOG_LEVEL: 'debug',
      Providers: [
        {
          name: '$A_NAME',
          baseUrl: `${upstream.url}/v1`,
          apiKey: 'k',
          models: ['$A_MODEL'],
          headers: { 'x-title': '$A_TITLE' },
          body: { user: '$A_BODY' },
        },
      ],
      Router: {
        default: '$A_NAME,$A_MODEL',
        rules: [{ name: 'mine', when: { model: '$A_RULE' }, to: '$A_NAME,$A_MODEL' }],
      },
    },
    env,
  );
  t.teardown(gateway.stop);
  const ask = async (path: string, body?: object): Promise<string> =>
    (await fetch(gateway.baseUrl + path, body && { method: 'POST', body: JSON.stringify(body) })).text();
  const asked = { model: 'any', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] };
  const shown: Record<string, string> = {
    explained: await ask('/api/explain', { body: asked }),
    'explained by name': await ask('/api/explain?model=any'),
    'explained with a fault': await ask('/api/explain', { body: { ...asked, model: `${env.A_NAME},` } }),
    graph: await ask('/api/graph'),
    fault: await ask('/v1/messages', asked),
  };
  t.is(upstream.requests.length, 1);
  t.like(upstream.requests[0]?.body, { model: env.A_MODEL, user: env.A_BODY });
  const listed = await ask('/v1/models');
  const ids = [...listed.matchAll(/"id":"([^"]*MODEL)"/g)].map(([, id = '']) => id);
  const [id = ''] = ids;
  t.true(id.includes('$A_NAME,$A_MODEL'), listed);
  const named = await fetch(`${gateway.baseUrl}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ ...asked, model: id }),
  });
  t.like(upstream.requests[1]?.body, { model: env.A_MODEL }, 'a listed name can be asked for');
  Object.assign(shown, {
    listed,
    'a listed model': await ask(`/v1/models/${encodeURIComponent(id)}`),
    headers: JSON.stringify([...named.headers]),
    answer: await named.text(),
  });
  await until(async () => (await ask('/api/requests')).includes('"n":2'));
  for (const path of [
    '/api/requests',
    '/api/history',
    '/api/activity',
    '/api/usage?by=model',
    '/api/usage?by=provider',
  ])
    shown[path] = await ask(path);
  for (const path of ['/metrics', '/api/upstreams', '/api/service']) shown[path] = await ask(path);
  const log = (): Promise<string> => readFile(join(gateway.home, 'app.log'), 'utf8').catch(() => '');
  await until(async () => (await log()).includes('routed to'));
  shown.log = await log();
  for (const [where, text] of Object.entries(shown)) {
    for (const value of Object.values(env)) t.false(text.includes(value), `${where}: ${text}`);
  }
  for (const where of ['explained', 'explained by name', 'graph']) t.true(shown[where]?.includes('$A_NAME'), where);
  t.true(shown.explained?.includes('"user":"$A_BODY"'));
  t.true(shown.fault?.includes('no $A_MODEL for you'), shown.fault);
  t.true(shown.log?.includes('$A_NAME,$A_MODEL') || shown.log?.includes('$A_NAME'), shown.log);
});
