import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { concat, concatMap, defer, delay, from, map, of } from 'rxjs';
import { configOperations } from '../../admin/config/config.ts';
import { formatFault } from '../../admin/endpoint.ts';
import { lazyRoutes } from '../../admin/lazy-routes.ts';
import type { ConfigStore } from '../../engine/config/files/store.ts';
import type { HttpRoute } from '../../engine/http/router.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import { openStore, type Rig as StoreRig, temporaryHome, withProvider } from '../engine/config/files/store-rig.ts';
import { jsonOf, type Rig, serveRoutes } from './rig.ts';

const configRoutes = (store: ConfigStore) =>
  lazyRoutes(
    {
      read: 'GET /api/config',
      replace: 'POST /api/config',
      check: 'POST /api/config/check',
      checkFile: 'GET /api/config/check',
      schema: 'GET /api/config/schema',
      backups: 'GET /api/config/backups',
      backup: 'GET /api/config/backups/:name',
      restore: 'POST /api/config/restore',
    },
    async () => configOperations(store),
  );

const serve = async (
  t: ExecutionContext,
  written: JsonObject,
  text?: string,
): Promise<
  StoreRig &
    Rig & {
      post: (path: string, body: unknown) => Promise<{ status: number; body: { success: boolean; message: string } }>;
    }
> => {
  const store = await openStore(t, temporaryHome(t, text), written);
  const rig = await serveRoutes(t, configRoutes(store.store));
  return {
    ...store,
    ...rig,
    async post(path, body) {
      const answer = await rig.ask(path, {
        method: 'POST',
        body: typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body),
      });
      return { status: answer.status, body: await jsonOf(answer) };
    },
  };
};

const saved = 'The configuration was saved and is in use.';

test('S7 the configuration is sent as written, and must not be cached', async (t) => {
  const written = withProvider('a', { APIKEY: '$KEY', note: [1, null], HOST: '::1' });
  const { ask } = await serve(t, written, JSON.stringify(written));
  const answer = await ask('/api/config');
  t.is(answer.status, 200);
  t.is(answer.headers.get('cache-control'), 'no-store');
  t.is(answer.headers.get('access-control-allow-origin'), null);
  t.deepEqual(await answer.json(), written);
});

test('lists of keys and fallbacks in either spelling come back as they were written', async (t) => {
  const written = {
    Providers: [{ name: 'a', baseUrl: 'http://h.example', api_key: ['$KEY', 'k2'], models: ['m'] }],
    fallback: { default: [] },
    Router: { fallback: { think: [], later: 1 } },
  };
  const { post, ask, home } = await serve(t, withProvider('a'));
  t.is((await post('/api/config', written)).status, 200);
  const read = await jsonOf<typeof written>(await ask('/api/config?secrets=hidden'));
  const [provider] = written.Providers;
  t.deepEqual(read, { ...written, Providers: [{ ...provider, api_key: ['$KEY', '•••• Providers[a].api_key[1]'] }] });
  t.is((await post('/api/config', { ...read, LOG: false })).status, 200);
  t.deepEqual(JSON.parse(readFileSync(join(home, 'config.json'), 'utf8')), { ...written, LOG: false });
});

const canary = {
  APIKEY: 'sk-canary-1',
  Providers: [
    { name: 'a', baseUrl: 'http://h.example', apiKey: 'sk-canary-2', models: ['m'] },
    { name: 'b', baseUrl: 'http://h.example', apiKey: '$KEY', models: ['m'], headers: { 'x-own-key': 'sk-canary-3' } },
  ],
};

test('S7 the configuration and its backups have their secrets as written, or placeholders if asked for', async (t) => {
  const { ask, post } = await serve(t, canary, JSON.stringify(canary));
  t.deepEqual(await (await ask('/api/config')).json(), canary);
  const hidden = JSON.parse(JSON.stringify(canary, (_, value: unknown) => placeholders.get(value) ?? value));
  const shown = await ask('/api/config?secrets=hidden');
  t.deepEqual(await shown.json(), hidden);
  t.is(shown.headers.get('etag'), (await ask('/api/config')).headers.get('etag'), 'the tag is of the file');
  for (const body of [canary, hidden]) {
    t.is((await post('/api/config', body)).status, 200);
    t.deepEqual(await (await ask('/api/config')).json(), canary);
  }
  const { backups } = await jsonOf<{ backups: { name: string }[] }>(await ask('/api/config/backups'));
  const backup = `/api/config/backups/${backups[0]?.name}`;
  t.deepEqual(await (await ask(backup)).json(), canary);
  t.deepEqual(await (await ask(`${backup}?secrets=hidden`)).json(), hidden);
  for (const path of ['/api/config', backup]) {
    for (const query of ['secrets=no', 'secrets=', 'secrets=hidden&secrets=Hidden']) {
      const refused = await ask(`${path}?${query}`);
      t.is(refused.status, 400, query);
      t.deepEqual(await refused.json(), { success: false, message: 'secrets must be hidden, or be left out.' });
    }
  }
});

const placeholders: ReadonlyMap<unknown, string> = new Map([
  ['sk-canary-1', '•••• APIKEY'],
  ['sk-canary-2', '•••• Providers[a].apiKey'],
  ['sk-canary-3', '•••• Providers[b].headers.x-own-key'],
]);

test('placeholders keep their secrets through a change of all around them', async (t) => {
  const provider = { name: 'a', baseUrl: 'http://h.example', apiKey: 'sk-canary-1', models: ['m'] };
  const old = { APIKEY: 'sk-canary-2', Providers: [provider] };
  const { ask, post, home } = await serve(t, old, JSON.stringify(old));
  const read = await jsonOf<typeof old>(await ask('/api/config?secrets=hidden'));
  const [shown] = read.Providers;
  const next = { ...read, Providers: [{ ...withProvider('z'), ...shown, name: 'b', baseUrl: 'http://h.example/v2' }] };
  t.is((await post('/api/config', next)).status, 200);
  const written = JSON.parse(readFileSync(join(home, 'config.json'), 'utf8'));
  t.like(written, { APIKEY: 'sk-canary-2', Providers: { 0: { name: 'b', apiKey: 'sk-canary-1' } } });
  const path = 'Providers[0].apiKey';
  const stale = { ...read, Providers: [{ ...shown, name: 'again' }] };
  const why =
    'is the placeholder "•••• Providers[a].apiKey", and no secret is stored for it at this address; enter the secret';
  t.deepEqual(await post('/api/config', stale), {
    status: 400,
    body: { success: false, message: `Nothing was changed:\n- ${path} ${why}` },
  });
  const checked = await post('/api/config/check', stale);
  t.like(checked.body, { faults: [{ path, message: why }] });
});

test('messages quote references, never what they stand for', async (t) => {
  const { post } = await serve(t, withProvider('a'));
  const [twin] = [{ name: '$KEY', baseUrl: 'http://h.example', apiKey: '', models: ['m'] }];
  const draft = { Providers: [twin, twin], Router: { default: '$KEY', routes: { think: '$KEY,m', image: 'x$KEY,m' } } };
  const [checked, refused] = [await post('/api/config/check', draft), await post('/api/config', draft)];
  t.is(refused.status, 400);
  for (const text of [JSON.stringify(checked.body), refused.body.message]) {
    t.false(text.includes('secret'), text);
    t.true(text.includes('$KEY'), text);
  }
});

test('a body is nested no deeper than requests may be', async (t) => {
  const { post } = await serve(t, withProvider('a', { LIMITS: { jsonDepth: 9 } }));
  const deep = `${'{"note":'.repeat(10)}{}${'}'.repeat(10)}`;
  const { status, body } = await post('/api/config', deep);
  t.is(status, 400);
  t.is(body.message, 'The body is nested deeper than 9 levels.');
});

test('a configuration is replaced whole, unknown fields and all', async (t) => {
  const old = withProvider('a', { LOG: false });
  const { post, ask, home } = await serve(t, old, JSON.stringify(old));
  const next = withProvider('b', { mine: { deep: ['$KEY', '🙂'] } });
  t.deepEqual(await post('/api/config', next), {
    status: 200,
    body: { success: true, message: `${saved} Warning: mine is unknown and has no effect.` },
  });
  t.deepEqual(await (await ask('/api/config')).json(), next);
  const again = await post('/api/config', { ...next, LOG: false });
  t.is(again.body.message, saved, 'a warning that the change did not bring is not repeated');
  await post('/api/config', next);
  t.deepEqual(JSON.parse(readFileSync(join(home, 'config.json'), 'utf8')), next);
});

test('what needs a restart is said', async (t) => {
  const { post } = await serve(t, {}, '{}');
  t.deepEqual(await post('/api/config', { PORT: 1, HOST: '::1' }), {
    status: 200,
    body: { success: true, message: `${saved} A restart is needed for HOST, PORT.` },
  });
});

test('an invalid configuration: every fault with its path, and nothing written', async (t) => {
  const { post, home, applied } = await serve(t, {}, '{ /* mine */ }');
  const body = { PORT: 'x', Providers: [{ name: 'p', models: 'm' }], Router: { default: 'q,m' }, transformers: [1] };
  const answer = await post('/api/config', body);
  t.is(answer.status, 400);
  const { success, message } = answer.body;
  t.false(success);
  for (const path of ['PORT ', 'Providers[0].models ', 'Router.default ', 'transformers[0] ']) {
    t.true(message.includes(path), `${path} in ${message}`);
  }
  t.is(readFileSync(join(home, 'config.json'), 'utf8'), '{ /* mine */ }');
  t.deepEqual(readdirSync(home), ['config.json']);
  t.deepEqual(applied, []);
});

const bodies: readonly (readonly [title: string, body: string | Uint8Array, message: string])[] = [
  ['nothing', '', 'The body is not valid JSON.'],
  ['no JSON', '{', 'The body is not valid JSON.'],
  ['comments', '{} // mine', 'The body is not valid JSON.'],
  ['a list', '[]', 'The body must be a JSON object.'],
  ['null', 'null', 'The body must be a JSON object.'],
  ['a text', '"x"', 'The body must be a JSON object.'],
  ['what is no UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 'The body is not valid UTF-8.'],
];

for (const [title, body, message] of bodies) {
  test(`a body that is ${title} is refused`, async (t) => {
    const { post, home } = await serve(t, {}, '{}');
    for (const path of ['/api/config', '/api/config/restore']) {
      t.deepEqual(await post(path, body), { status: 400, body: { success: false, message } });
    }
    t.deepEqual(readdirSync(home), ['config.json']);
  });
}

test('a generated configuration is served, and the first change writes the file', async (t) => {
  const made = withProvider('demo');
  const { ask, post, home } = await serve(t, made);
  t.deepEqual(await (await ask('/api/config')).json(), made);
  t.deepEqual(readdirSync(home), []);
  t.is((await post('/api/config', { ...made, LOG: false })).status, 200);
  t.deepEqual(JSON.parse(readFileSync(join(home, 'config.json'), 'utf8')), { ...made, LOG: false });
  t.deepEqual(await (await ask('/api/config/backups')).json(), { backups: [] });
});

test('backups are listed newest first, and taken back', async (t) => {
  const { ask, post, home } = await serve(t, { PORT: 1 }, '{ "PORT": 1 } // mine');
  for (const PORT of [2, 3, 4, 5]) await post('/api/config', { PORT });
  const { backups } = await jsonOf<{ backups: { name: string; replacedAt: string; size: number }[] }>(
    await ask('/api/config/backups'),
  );
  t.is(backups.length, 3);
  t.deepEqual(
    backups.map(({ name }) => JSON.parse(readFileSync(join(home, name), 'utf8').replace(/\/\/.*/, '')).PORT),
    [4, 3, 2],
  );
  for (const { name, replacedAt, size } of backups) {
    t.is(name, `config.backup.${replacedAt.replace(/[:.]/g, '-')}.json`);
    t.is(size, readFileSync(join(home, name)).length);
  }
  const name = backups[2]?.name;
  t.deepEqual(await post('/api/config/restore', { name }), {
    status: 200,
    body: { success: true, message: `${saved} A restart is needed for PORT.` },
  });
  t.deepEqual(await (await ask('/api/config')).json(), { PORT: 2 });
});

test('a backup that can not be read: one fault at its place', async (t) => {
  const { ask, post } = await serve(t, {}, '{ PORT: 1, "HOST" }');
  await post('/api/config', { LOG: false });
  const { backups } = await jsonOf<{ backups: { name: string }[] }>(await ask('/api/config/backups'));
  const { message } = await jsonOf<{ message: string }>(await ask(`/api/config/backups/${backups[0]?.name}`));
  t.regex(message, /^That backup can't be read:(\n- The configuration is not valid JSON: [^\n]*)$/);
});

test('only a listed backup is taken back', async (t) => {
  const { post } = await serve(t, {}, '{}');
  const message = 'There is no backup of that name.';
  for (const name of ['config.json', '', '../config.json', '/etc/passwd', 'config.backup.x.json']) {
    t.deepEqual(await post('/api/config/restore', { name }), { status: 404, body: { success: false, message } }, name);
  }
  t.deepEqual(await post('/api/config/restore', { name: 1 }), {
    status: 400,
    body: { success: false, message: 'name must be string.' },
  });
  t.is((await post('/api/config/restore', {})).status, 400);
});

const rows = [
  ['GET', '/api/config'],
  ['POST', '/api/config'],
  ['GET', '/api/config/backups'],
  ['POST', '/api/config/restore'],
] as const;

test('every row asks for the key before it does anything', async (t) => {
  const { baseUrl, applied } = await serve(t, {}, '{}');
  for (const [method, path] of rows) {
    for (const headers of [{}, { 'x-api-key': 'wrong' }]) {
      const answer = await fetch(baseUrl + path, { method, headers, ...(method === 'POST' && { body: '{}' }) });
      t.is(answer.status, 401, `${method} ${path}`);
      t.like(await answer.json(), { success: false });
    }
  }
  t.deepEqual(applied, []);
});

test('another site’s page is refused', async (t) => {
  const { ask, applied } = await serve(t, {}, '{}');
  const headers = { origin: 'https://evil.example', 'content-type': 'text/plain' };
  t.is((await ask('/api/config', { headers })).status, 403);
  t.is((await ask('/api/config', { method: 'POST', headers, body: '{}' })).status, 403);
  t.deepEqual(applied, []);
});

test('a request is answered by the configuration of its beginning, whatever changes meanwhile', async (t) => {
  const { store } = await openStore(t, temporaryHome(t, JSON.stringify(withProvider('p0'))), withProvider('p0'));
  const pieces = 5;
  /** Stands for a route: answers piece by piece by the configuration of the request's beginning. */
  const work: HttpRoute = {
    method: 'POST',
    path: '/work',
    endpoint: {
      open: false,
      formatFault,
      handle: () =>
        defer(() => {
          const { config } = store;
          const head = of({ type: 'head', status: 200, headers: {} } as const);
          const data = from(Array.from({ length: pieces }, (_, index) => index)).pipe(
            concatMap((index) => of(index).pipe(delay(10))),
            map((index) => ({ type: 'data', data: `${config.providers[0]?.name}:${index} ` }) as const),
          );
          return concat(head, data);
        }),
    },
  };
  const { ask } = await serveRoutes(t, [work, ...configRoutes(store)]);
  let changing = true;
  const seen = new Set<string>();
  const keepAsking = async (): Promise<number> => {
    let count = 0;
    while (changing) {
      const answer = await ask('/work', { method: 'POST', body: 'x' });
      const text = await answer.text();
      const name = text.split(':', 1)[0] ?? '';
      t.is(text, Array.from({ length: pieces }, (_, index) => `${name}:${index} `).join(''));
      seen.add(name);
      count += 1;
    }
    return count;
  };
  const asking = Array.from({ length: 20 }, keepAsking);
  for (let change = 1; change <= 40; change += 1) {
    const body = JSON.stringify(withProvider(`p${change}`));
    const answer = await ask('/api/config', { method: 'POST', body });
    t.is(answer.status, 200);
    await answer.arrayBuffer();
  }
  changing = false;
  const counts = await Promise.all(asking);
  t.true(counts.every((count) => count > 1));
  t.true(seen.size > 10, 'requests met many configurations');
  t.is(store.config.providers[0]?.name, 'p40');
  t.is((await store.listBackups()).length, 3);
  t.log(`${counts.reduce((sum, count) => sum + count, 0)} requests met ${seen.size} configurations`);
});
