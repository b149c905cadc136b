import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { hashedKey } from '../../engine/config/sections/clients.ts';
import { adminKey, client, clientRig, keyOf, sdkAsks } from '../engine/features/clients/rig.ts';

test('GET /api/clients tells limits, what is left and use, but neither keys nor digests', async (t) => {
  const limits = { requestsPerMinute: 10, tokensPerMinute: 50_000, streams: 3 };
  const { gateway, admin } = await clientRig(t, [
    client('a', { models: ['small'], routes: ['default', 'explicit'], limits }),
    client('b'),
  ]);
  await sdkAsks.messages(gateway.baseUrl, keyOf('a'), 'any');
  await sdkAsks.chat(gateway.baseUrl, keyOf('a'), 'any');
  await sdkAsks.chat(gateway.baseUrl, keyOf('a'), 'p,large');
  const answer = await (await admin('/api/clients')).text();
  const used = { requests: 2, input: 2, output: 2, cost: 0, unpriced: 2 };
  const none = { requests: 0, input: 0, output: 0, cost: 0, unpriced: 0 };
  t.deepEqual(JSON.parse(answer), {
    clients: [
      {
        name: 'a',
        models: ['small'],
        routes: ['default', 'explicit'],
        limits: [
          { limit: 'requestsPerMinute', most: 10, remaining: 8 },
          { limit: 'tokensPerMinute', most: 50_000, remaining: 49_996 },
          { limit: 'streams', most: 3, remaining: 3 },
        ],
        usage: { today: used, month: used },
      },
      { name: 'b', limits: [], usage: { today: none, month: none } },
    ],
    isKeyNeeded: true,
    keyRefusals: 0,
  });
  for (const secret of [keyOf('a'), hashedKey(keyOf('a')).slice(7)]) t.false(answer.includes(secret));
});

test('POST adds a client, whose key works at once; DELETE revokes it', async (t) => {
  const { gateway } = await clientRig(t, [], { more: { CLIENTS: undefined } });
  const { baseUrl, home } = gateway;
  const ask = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${baseUrl}/api/clients${path}`, {
      method,
      headers: { 'x-api-key': adminKey },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  };
  const added = await ask('POST', '', { name: 'a', limits: { streams: 2 } });
  t.is(added.status, 200);
  t.regex(added.body.key, /^sk-junctor-[\w-]{43}$/);
  t.is((await sdkAsks.chat(baseUrl, added.body.key, 'any')).status, 200);
  const file = await readFile(join(home, 'config.json'), 'utf8');
  t.true(file.includes(hashedKey(added.body.key)));
  t.false(file.includes(added.body.key));
  for (const [body, says] of [
    [{ name: 'a' }, /CLIENTS\[1\]\.name is the name of CLIENTS\[0\] too/],
    [{ name: 'b', limits: { streams: 0 } }, /CLIENTS\[1\]\.limits\.streams must be >= 1/],
    [{ name: 'b', unknown: 1 }, /CLIENTS\[1\]\.unknown is unknown/],
    [{ name: 'b', key: 'mine' }, /key must be left out/],
    [{}, /CLIENTS\[1\]\.name is required/],
  ] as const) {
    const refused = await ask('POST', '', body);
    t.is(refused.status, 400);
    t.regex(refused.body.message, says);
  }
  const many = await Promise.all(['b', 'c', 'd', 'e'].map((name) => ask('POST', '', { name })));
  t.deepEqual(
    many.map(({ status }) => status),
    [200, 200, 200, 200],
  );
  const entryOf = async (name: string) =>
    JSON.parse(await readFile(join(home, 'config.json'), 'utf8')).CLIENTS.find(
      (one: { readonly name: string }) => one.name === name,
    );
  t.is((await ask('PATCH', '/a', { limits: null, budget: { usd: 3, per: 'day' }, expires: '2d' })).status, 200);
  const changed = await entryOf('a');
  t.like(changed, { name: 'a', key: hashedKey(added.body.key), budget: { usd: 3, per: 'day' }, limits: undefined });
  t.true(Date.parse(changed.expires) > Date.now() + 86_400_000);
  t.is((await sdkAsks.chat(baseUrl, added.body.key, 'any')).status, 200, 'its key stays');
  for (const [path, body, status, says] of [
    ['/nobody', {}, 404, /no client "nobody"/],
    ['/a', { key: 'mine' }, 400, /key can't be changed/],
    ['/a', { name: 'z' }, 400, /name can't be changed/],
    ['/a', { budget: { usd: -1, per: 'day' } }, 400, /CLIENTS\[0\]\.budget\.usd/],
    ['/a', { expires: 'soon' }, 400, /expires/],
    ['/a', { unknown: 1 }, 400, /CLIENTS\[0\]\.unknown is unknown/],
  ] as const) {
    const refused = await ask('PATCH', path, body);
    t.is(refused.status, status);
    t.regex(refused.body.message, says);
  }
  t.deepEqual(await entryOf('a'), changed, 'what is refused changes nothing');
  t.is((await ask('DELETE', '/a')).status, 200);
  t.is((await ask('DELETE', '/a')).status, 404);
  t.is((await sdkAsks.chat(baseUrl, added.body.key, 'any')).status, 401);
  t.is((await ask('GET', '')).body.clients.length, 4, 'of several at a time none is lost');
});

test('without CLIENTS the list is empty', async (t) => {
  const { admin, gateway } = await clientRig(t, [], { more: { CLIENTS: undefined } });
  t.is((await fetch(`${gateway.baseUrl}/api/service`)).status, 401, 'the web interface learns so that it needs a key');
  t.deepEqual(await (await admin('/api/clients')).json(), { clients: [], isKeyNeeded: true, keyRefusals: 0 });
});

test('the first client ends keyless use and says so, the last one brings it back; refusals are counted', async (t) => {
  const { gateway } = await clientRig(t, [], { more: { CLIENTS: undefined, APIKEY: undefined } });
  const { baseUrl, home } = gateway;
  const ask = async (method: string, path = '', body?: object) => {
    const answer = await fetch(`${baseUrl}/api/clients${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    return JSON.parse(await answer.text());
  };
  const models = async (headers: Record<string, string> = {}) =>
    (await fetch(`${baseUrl}/v1/models`, { headers })).status;
  t.is(await models(), 200);
  t.deepEqual(await ask('GET'), { clients: [], isKeyNeeded: false, keyRefusals: 0 });
  const first = await ask('POST', '', { name: 'a' });
  t.regex(first.message, /programs that call without one get 401 until they send the key of a client\.$/);
  t.notRegex((await ask('POST', '', { name: 'b' })).message, /401/);
  t.is(await models({ 'x-api-key': first.key }), 200);
  t.is(await models(), 401);
  t.is(await models({ 'x-api-key': 'wrong' }), 401);
  t.is((await fetch(`${baseUrl}/api/config`, { headers: { via: '1.1 proxy' } })).status, 401);
  t.like(await ask('GET'), { isKeyNeeded: true, keyRefusals: 3 });
  const metrics = await (await fetch(`${baseUrl}/metrics`)).text();
  for (const reason of ['missing_key', 'wrong_key', 'not_direct'])
    t.true(metrics.includes(`junctor_key_refusals_total{reason="${reason}"} 1`), metrics);
  t.notRegex((await ask('DELETE', '/a')).message, /last client/);
  t.regex((await ask('DELETE', '/b')).message, /That was the last client: the model routes need no key any more\.$/);
  t.false('CLIENTS' in JSON.parse(await readFile(join(home, 'config.json'), 'utf8')));
  t.is(await models(), 200);
});
