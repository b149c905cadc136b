import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { modelListPaths } from '../../admin/config/models.ts';
import type { Config } from '../../engine/config/config.ts';
import { createCatalogue } from '../../engine/routing/catalogue/catalogue.ts';
import { compileAccess } from '../../engine/routing/client-access.ts';
import type { Gateway } from '../../engine/routing/gateway.ts';
import { chatModels } from '../../protocols/chat/models.ts';
import { messagesModels } from '../../protocols/messages/models.ts';
import { serve } from '../engine/http/rig.ts';
import { configWith, provider } from '../engine/routing/providers.ts';

const startedAtMs = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const config = configWith([provider('p', 'm', 'x/y'), provider('q', 'm')], { default: 'p,m' });
const ids = [
  'p,m',
  'p,x/y',
  'q,m',
  'm',
  'x/y',
  'anthropic-junctor-default',
  'anthropic-junctor-p-m',
  'anthropic-junctor-p-x-y',
  'anthropic-junctor-q-m',
];

const catalogue = createCatalogue(undefined);
const modelFacts: Gateway['modelFacts'] = ({ provider: { modelFacts: facts }, model }) =>
  catalogue.know({ ...provider('p'), ...(facts && { modelFacts: facts }) }, model, { format: {}, because: 'plain' });

const open = async (t: ExecutionContext, current: () => Config = () => config) => {
  const used = {
    get gateway() {
      return { config: current(), access: compileAccess(current().clients), modelFacts };
    },
  };
  const lists = modelListPaths({ listings: [messagesModels], plain: chatModels, startedAtMs });
  const rows = lists.map(({ endpointFor, ...row }) => ({ ...row, endpoint: endpointFor(used) }));
  const { port } = await serve(t, rows);
  return async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await request(`http://127.0.0.1:${port}${path}`, { headers });
    // What the tests compare is the whole of it.
    const body: unknown = await answer.body.json();
    return { status: answer.statusCode, body };
  };
};

const paged = { 'anthropic-version': '2023-06-01' };

test('without a version header the list comes at once, each id once', async (t) => {
  const get = await open(t);
  const { status, body } = await get('/v1/models?limit=1');
  t.is(status, 200);
  t.like(body, { object: 'list' });
  const data: unknown[] = Object(body).data;
  t.deepEqual(
    data.map((row) => Object(row).id),
    ids,
  );
  const created = Math.floor(startedAtMs / 1000);
  t.deepEqual(data[0], { id: 'p,m', object: 'model', created, owned_by: 'p', description: 'From p, by Junctor' });
  const description = 'By the rules of Junctor';
  t.deepEqual(data[3], { id: 'm', object: 'model', created, owned_by: 'junctor', description });
});

const pages: readonly (readonly [query: string, from: number, to: number, more: boolean])[] = [
  ['', 0, 9, false],
  ['?limit=1000', 0, 9, false],
  ['?limit=2', 0, 2, true],
  ['?limit=2&after_id=p,x/y', 2, 4, true],
  ['?limit=2&after_id=anthropic-junctor-p-m', 7, 9, false],
  ['?after_id=anthropic-junctor-q-m', 9, 9, false],
  ['?limit=2&before_id=m', 1, 3, true],
  ['?limit=5&before_id=m', 0, 3, false],
  ['?before_id=p,m', 0, 0, false],
];
for (const [query, from, to, more] of pages) {
  test(`with one it comes in pages: ${query || 'no query'}`, async (t) => {
    const get = await open(t);
    const { status, body } = await get(`/v1/models${query}`, paged);
    t.is(status, 200);
    t.deepEqual(body, {
      data: ids.slice(from, to).map((id) => ({
        type: 'model',
        id,
        display_name: titles[id],
        description: descriptionOf(titles[id]),
        created_at: '2026-01-02T03:04:05.678Z',
        max_input_tokens: null,
        max_tokens: null,
      })),
      has_more: more,
      first_id: ids.slice(from, to)[0] ?? null,
      last_id: ids.slice(from, to).at(-1) ?? null,
    });
  });
}

const descriptionOf = (title = ''): string => {
  const provider = /\((.)\)$/.exec(title)?.[1];
  return provider === undefined ? 'By the rules of Junctor' : `From ${provider}, by Junctor`;
};

const titles: Readonly<Record<string, string>> = {
  'p,m': 'm (p)',
  'p,x/y': 'x/y (p)',
  'q,m': 'm (q)',
  m: 'm',
  'x/y': 'x/y',
  'anthropic-junctor-default': 'm (p)',
  'anthropic-junctor-p-m': 'm (p)',
  'anthropic-junctor-p-x-y': 'x/y (p)',
  'anthropic-junctor-q-m': 'm (q)',
};

for (const query of [
  'limit=0',
  'limit=1001',
  'limit=x',
  'after_id=nobody',
  'before_id=nobody',
  'after_id=m&before_id=m',
]) {
  test(`a query that makes no sense: ${query}`, async (t) => {
    const get = await open(t);
    const { status, body } = await get(`/v1/models?${query}`, paged);
    t.is(status, 400);
    t.like(body, { type: 'error', error: { type: 'invalid_request_error' } });
  });
}

for (const id of ['junctor-default', 'claude-junctor-default', 'anthropic/junctor-default']) {
  test(`an alias can be asked for with another word before it, or none: ${id}`, async (t) => {
    const get = await open(t);
    const { status, body } = await get(`/v1/models/${id}`);
    t.is(status, 200);
    t.like(body, { id: 'anthropic-junctor-default' });
  });
}

for (const id of ids) {
  test(`each listed id can be asked for: ${id}`, async (t) => {
    const get = await open(t);
    for (const path of [id, encodeURIComponent(id)]) {
      t.like((await get(`/v1/models/${path}`)).body, { id, object: 'model' });
      t.like((await get(`/v1/models/${path}`, paged)).body, { id, type: 'model', display_name: titles[id] });
    }
  });
}

test('an unknown id gets the error of the shape that the client reads', async (t) => {
  const get = await open(t);
  for (const path of ['/v1/models/nobody', '/v1/models/a/b/c', '/v1/models/']) {
    const plain = await get(path);
    t.is(plain.status, 404);
    t.like(plain.body, { error: { type: 'invalid_request_error', param: 'model', code: 'model_not_found' } });
    const other = await get(path, paged);
    t.is(other.status, 404);
    t.like(other.body, { type: 'error', error: { type: 'not_found_error' } });
  }
});

test('the list is the configuration as it is now', async (t) => {
  let current = config;
  const get = await open(t, () => current);
  t.is((await get('/v1/models/r,n')).status, 404);
  current = configWith([provider('r', 'n')]);
  t.is((await get('/v1/models/r,n')).status, 200);
  t.is((await get('/v1/models/p,m')).status, 404);
});

test('the list needs the key', async (t) => {
  const used = { gateway: { config, access: compileAccess(), modelFacts } };
  const lists = modelListPaths({ listings: [messagesModels], plain: chatModels, startedAtMs });
  const rows = lists.map(({ endpointFor, ...row }) => ({ ...row, endpoint: endpointFor(used) }));
  const { port } = await serve(t, rows, { apiKey: 'secret' });
  for (const path of ['/v1/models', '/v1/models/p,m']) {
    const answer = await request(`http://127.0.0.1:${port}${path}`);
    t.is(answer.statusCode, 401);
    await answer.body.dump();
  }
});
