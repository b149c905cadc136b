import test from 'ava';
import { request } from 'undici';
import { adminKey, client, clientRig, keyOf, sdkAsks } from './rig.ts';

const asks = Object.entries(sdkAsks);

for (const [protocol, ask] of asks) {
  test(`${protocol}: a client's key opens the route, a wrong one is 401, a model that is not allowed 403`, async (t) => {
    const { gateway, upstream } = await clientRig(t, [client('all'), client('small', { models: ['small'] })]);
    const { baseUrl } = gateway;
    t.is((await ask(baseUrl, adminKey, 'p,large')).status, 200);
    t.is((await ask(baseUrl, keyOf('all'), 'p,large')).status, 200);
    t.is((await ask(baseUrl, keyOf('small'), 'p,small')).status, 200);
    t.is((await ask(baseUrl, keyOf('small'), 'anything')).status, 200, 'the default is small');
    t.is(upstream.requests.length, 4);
    const wrong = await ask(baseUrl, 'wrong', 'p,small');
    t.is(wrong.status, 401);
    t.is(wrong.type, 'AuthenticationError');
    const refused = await ask(baseUrl, keyOf('small'), 'p,large');
    t.is(refused.status, 403);
    t.is(refused.type, 'PermissionDeniedError');
    t.regex(refused.error ?? '', /The client small may not use .*p,large.* It may use: p,small\./);
    if (protocol !== 'messages') t.is(refused.code, 'model_not_allowed');
    t.is(upstream.requests.length, 4, 'nothing that is refused reaches the provider');
  });
}

test('routes: a rule that is not allowed is 403, also below a preset and for counting', async (t) => {
  const { gateway } = await clientRig(
    t,
    [client('default', { routes: ['default'] }), client('preset', { routes: ['preset/x'] })],
    {
      files: { 'presets/x/manifest.json': JSON.stringify({ name: 'x' }) },
    },
  );
  const { baseUrl } = gateway;
  const ask = sdkAsks.messages;
  t.is((await ask(baseUrl, keyOf('default'), 'any')).status, 200);
  t.is((await ask(baseUrl, keyOf('default'), 'some-haiku')).status, 403);
  t.regex(
    (await ask(baseUrl, keyOf('default'), 'p,small')).error ?? '',
    /may not use the route explicit\. It may use: default/,
  );
  t.is((await ask(`${baseUrl}/preset/x`, keyOf('default'), 'any')).status, 403);
  t.is((await ask(`${baseUrl}/preset/x`, keyOf('preset'), 'any')).status, 200);
  t.is((await ask(`${baseUrl}/preset/x`, keyOf('preset'), 'p,small')).status, 200, 'a preset is allowed as a whole');
  t.is((await ask(baseUrl, keyOf('preset'), 'any')).status, 403);
  const count = (key: string, model: string) =>
    fetch(`${baseUrl}/v1/messages/count_tokens`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
    });
  t.is((await count(keyOf('default'), 'any')).status, 200);
  t.is((await count(keyOf('default'), 'p,small')).status, 403);
});

test('of a pool, a client gets the members that it may use, also when one fails, and is listed the pool if there are any', async (t) => {
  const asked: string[] = [];
  const { gateway } = await clientRig(
    t,
    [client('all'), client('small', { models: ['small'] }), client('none', { models: ['other'] })],
    {
      more: {
        Pools: [{ name: 'both', strategy: 'least-busy', members: [{ to: 'p,small' }, { to: 'p,large' }] }],
        Router: { default: 'both' },
        RETRY: { attempts: 0 },
      },
      script({ body }) {
        asked.push(Object(body).model);
        return {
          status: 503,
          headers: { 'content-type': 'application/json' },
          pieces: ['{"error":{"message":"trouble"}}'],
        };
      },
    },
  );
  const ask = async (name: string) => {
    asked.length = 0;
    const { status, error } = await sdkAsks.messages(gateway.baseUrl, keyOf(name), 'any');
    return { status, error, models: [...new Set(asked)].sort() };
  };
  t.like(await ask('all'), { status: 503, models: ['large', 'small'] });
  t.like(await ask('small'), { status: 503, models: ['small'] });
  const refused = await ask('none');
  t.like(refused, { status: 403, models: [] });
  const listed = async (name: string): Promise<boolean> => {
    const answer = await fetch(`${gateway.baseUrl}/v1/models`, { headers: { 'x-api-key': keyOf(name) } });
    return (await answer.text()).includes('"both"');
  };
  t.deepEqual(await Promise.all(['all', 'small', 'none'].map(listed)), [true, true, false]);
});

test('a fallback that is not allowed is not used', async (t) => {
  const models: unknown[] = [];
  const { gateway } = await clientRig(t, [client('all'), client('small', { models: ['small'] })], {
    more: { Router: { default: 'p,small', fallback: { default: ['p,large'] } }, RETRY: { attempts: 0 } },
    script: ({ body }) => {
      models.push(body);
      return { status: 500 };
    },
  });
  t.is((await sdkAsks.chat(gateway.baseUrl, keyOf('all'), 'any')).status, 500);
  t.is(models.length, 2);
  t.is((await sdkAsks.chat(gateway.baseUrl, keyOf('small'), 'any')).status, 500);
  t.is(models.length, 3);
});

test('the list of models is what the client may use', async (t) => {
  const { gateway } = await clientRig(t, [client('small', { models: ['p,small'] })]);
  const idsFor = async (key: string): Promise<readonly string[]> => {
    const answer = await fetch(`${gateway.baseUrl}/v1/models`, { headers: { 'x-api-key': key } });
    const { data }: { readonly data: readonly { readonly id: string }[] } = JSON.parse(await answer.text());
    return data.map(({ id }) => id);
  };
  t.true((await idsFor(adminKey)).includes('p,large'));
  const ids = await idsFor(keyOf('small'));
  t.true(ids.includes('p,small') && ids.includes('small'));
  t.deepEqual(
    ids.filter((id) => /large|background/.test(id)),
    [],
  );
  const one = (id: string) => fetch(`${gateway.baseUrl}/v1/models/${id}`, { headers: { 'x-api-key': keyOf('small') } });
  t.is((await one('p,small')).status, 200);
  t.is((await one('p,large')).status, 404);
});

test('a client is refused every route that is not for models, before its body is read', async (t) => {
  const { gateway } = await clientRig(t, [client('team')]);
  const headers = { 'x-api-key': keyOf('team') };
  const forClients = gateway.routes.filter(({ endpoint }) => endpoint.forClients);
  t.deepEqual(
    forClients.filter(({ path }) => !/^(?:\/preset\/:preset)?(?:\/v1)?\/(?:messages|chat|responses|models)/.test(path)),
    [],
  );
  const closed = gateway.routes.filter(({ endpoint }) => !endpoint.open && !endpoint.forClients);
  t.true(closed.length > 25);
  for (const { method, path } of closed) {
    const answer = await fetch(gateway.baseUrl + path.replace(/:\w+/g, 'x').replace(/\*$/, 'x'), { method, headers });
    t.is(answer.status, 403, `${method} ${path}`);
    t.regex(await answer.text(), /opens the model routes only/);
  }
  t.is((await fetch(`${gateway.baseUrl}/health`, { headers })).status, 200);
  t.is((await fetch(`${gateway.baseUrl}/nothing`, { headers })).status, 404);
});

test('without APIKEY, /api is open to programs of this machine alone; the model routes need a client key', async (t) => {
  const { gateway } = await clientRig(t, [client('team')], {
    more: { APIKEY: undefined, ALLOWED_HOSTS: ['gateway.example'] },
  });
  const { baseUrl } = gateway;
  const status = async (path: string, headers: Record<string, string> = {}): Promise<number> => {
    const answer = await fetch(baseUrl + path, { headers });
    await answer.text();
    return answer.status;
  };
  t.is(await status('/api/config'), 200);
  t.is(await status('/api/config', { 'x-api-key': 'wrong' }), 401);
  t.is(await status('/api/config', { 'x-api-key': keyOf('team') }), 403);
  for (const headers of [{ 'x-forwarded-for': '127.0.0.1' }, { via: '1.1 a' }, { 'x-real-ip': '127.0.0.1' }]) {
    t.is(await status('/api/config', headers), 401, 'through a proxy on this machine');
  }
  const named = await request(`${baseUrl}/api/clients`, { headers: { host: 'gateway.example' } });
  t.is(named.statusCode, 401);
  t.regex(await named.body.text(), /no APIKEY is set/);
  t.is(await status('/v1/models'), 401);
  t.is(await status('/v1/models', { 'x-api-key': keyOf('team') }), 200);
  const asked = await fetch(`${baseUrl}/v1/messages`, { method: 'POST', body: '{}' });
  t.is(asked.status, 401);
});

test('a revoked key is refused at once; an empty list is none', async (t) => {
  const { gateway, configure } = await clientRig(t, [client('a'), client('b')]);
  const ask = (name: string) => sdkAsks.chat(gateway.baseUrl, keyOf(name), 'any');
  t.is((await ask('a')).status, 200);
  await configure([client('b')]);
  t.is((await ask('a')).status, 401);
  t.is((await ask('b')).status, 200);
  await configure([]);
  t.is((await ask('b')).status, 401);
  await configure([], { APIKEY: undefined });
  t.is((await ask('b')).status, 200);
  t.is((await fetch(`${gateway.baseUrl}/v1/models`)).status, 200);
});
