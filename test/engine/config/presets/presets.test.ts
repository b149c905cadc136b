import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { modelListPaths } from '../../../../admin/config/models.ts';
import { createPresets } from '../../../../engine/config/presets/presets.ts';
import { countTokensEndpoint } from '../../../../engine/endpoints/count-tokens.ts';
import { modelEndpoint } from '../../../../engine/endpoints/model.ts';
import { presetRoutes } from '../../../../engine/endpoints/presets.ts';
import type { JsonObject } from '../../../../engine/model/json/json.ts';
import type { CurrentGateway } from '../../../../engine/routing/gateway.ts';
import { chatModels } from '../../../../protocols/chat/models.ts';
import { clientProtocols } from '../../../../protocols/index.ts';
import { messagesCounting } from '../../../../protocols/messages/count-tokens.ts';
import { messagesClient } from '../../../../protocols/messages/index.ts';
import { messagesModels } from '../../../../protocols/messages/models.ts';
import { configOf, gatewayOf } from '../../../support/gateway-of.ts';
import { jsonAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';
import { serve } from '../../http/rig.ts';

/** A folder with these files below it, presets served from it, and an upstream that refuses with a status of its own. */
const open = async (t: ExecutionContext, files: Readonly<Record<string, string>>) => {
  const upstream = await startUpstream(() => jsonAnswer({ error: { message: 'asked' } }, 418));
  t.teardown(upstream.close);
  const home = await mkdtemp(join(tmpdir(), 'junctor-presets-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(join(home, path, '..'), { recursive: true });
    await writeFile(join(home, path), text);
  };
  for (const [path, text] of Object.entries(files)) await write(path, text);
  const providers = [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['base', 'one', 'two'] }];
  const state: { base: JsonObject; builds: number; warnings: string[] } = {
    base: { APIKEY: 'k', Providers: providers, Router: { default: 'p,base' } },
    builds: 0,
    warnings: [],
  };
  const presets = createPresets({
    home,
    env: { PRESET_MODEL: 'one' },
    base: () => state.base,
    async build(config) {
      state.builds += 1;
      return gatewayOf(t, config);
    },
    check: async () => ({ faults: [], warnings: [] }),
    warn: (name, warnings) => state.warnings.push(...warnings.map(({ path }) => `${name}: ${path}`)),
  });
  const baseGateway = gatewayOf(t, configOf(state.base));
  const paths = [
    ...clientProtocols.flatMap(({ protocol, paths: own }) =>
      own.map((path) => ({
        method: 'POST' as const,
        path,
        endpointFor: (current: CurrentGateway) => modelEndpoint(protocol, current, []),
      })),
    ),
    ...modelListPaths({ listings: [messagesModels], plain: chatModels, startedAtMs: 0 }),
    {
      method: 'POST' as const,
      path: '/v1/messages/count_tokens',
      endpointFor: countTokensEndpoint.bind(undefined, { client: messagesClient, ...messagesCounting, limitMs: 1000 }),
    },
  ];
  const { port } = await serve(t, presetRoutes(paths, { gateway: baseGateway }, presets));
  const ask = async (path: string) => {
    const answer = await request(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      body: JSON.stringify({ model: 'any', max_tokens: 9, messages: hi, input: 'hi' }),
    });
    const value: unknown = await answer.body.json();
    return { status: answer.statusCode, value, asked: String(Object(upstream.requests.at(-1)?.body).model) };
  };
  const get = async (path: string) => {
    const answer = await request(`http://127.0.0.1:${port}${path}`);
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  return { ask, get, write, home, state, upstream };
};

const hi = [{ role: 'user', content: 'hi' }];
const routing = (model: string): string => JSON.stringify({ Router: { default: `p,${model}` } });

const routes = ['/v1/messages', '/v1/chat/completions', '/chat/completions', '/v1/responses', '/responses'];
for (const path of routes) {
  test(`${path} below a preset is routed by its manifest; omitted fields come from the base's`, async (t) => {
    const { ask } = await open(t, { 'presets/a.b-c_1/manifest.json': routing('one') });
    const { status, asked } = await ask(`/preset/a.b-c_1${path}`);
    t.deepEqual([status, asked], [418, 'one']);
  });
}

test('token counts below a preset use its manifest', async (t) => {
  const { ask } = await open(t, { 'presets/x/manifest.json': routing('one') });
  const { status, value } = await ask('/preset/x/v1/messages/count_tokens');
  t.is(status, 200);
  t.true(Object(value).input_tokens > 0);
});

test('a manifest may have comments and variables, like config.json', async (t) => {
  const { ask } = await open(t, {
    'presets/x/manifest.json': '{ // which one\n "Router": { "default": "p,$PRESET_MODEL", }, }',
  });
  t.is((await ask('/preset/x/v1/messages')).asked, 'one');
});

test('a preset is read once, and again when its file or the base changes', async (t) => {
  const { ask, write, home, state } = await open(t, { 'presets/x/manifest.json': routing('one') });
  const path = '/preset/x/v1/messages';
  await Promise.all([ask(path), ask(path), ask(path)]);
  t.is(state.builds, 1);
  await write('presets/x/manifest.json', routing('two'));
  t.is((await ask(path)).asked, 'two');
  t.is(state.builds, 2);
  // The same length, and nothing but the time tells.
  await write('presets/x/manifest.json', routing('one'));
  await utimes(join(home, 'presets/x/manifest.json'), new Date(), new Date(Date.now() + 5000));
  t.is((await ask(path)).asked, 'one');
  await write('presets/x/manifest.json', '{}');
  t.is((await ask(path)).asked, 'base');
  state.base = { ...state.base, Router: { default: 'p,two' } };
  t.is((await ask(path)).asked, 'two');
  t.is(state.builds, 5);
  await rm(join(home, 'presets/x'), { recursive: true });
  t.is((await ask(path)).status, 404);
});

test('fields without effect are reported once', async (t) => {
  const { ask, state } = await open(t, { 'presets/x/manifest.json': '{"PORT": 1, "name": "x", "Rooter": {}}' });
  await ask('/preset/x/v1/messages');
  await ask('/preset/x/v1/messages');
  t.deepEqual(state.warnings, ['x: PORT', 'x: Rooter']);
});

const missing = [
  'nobody',
  'empty',
  '.hidden',
  '..%2Fpresets%2Fx',
  'outside',
  'linked',
  'folder',
  'x%00',
  'y'.repeat(65),
];
for (const name of missing) {
  test(`S6 no preset: ${name.slice(0, 20)}`, async (t) => {
    const { ask, home, state, write } = await open(t, {
      'presets/x/manifest.json': routing('one'),
      'presets/.hidden/manifest.json': routing('one'),
      'manifest.json': routing('one'),
      'elsewhere/manifest.json': routing('one'),
      'presets/folder/manifest.json/file': '',
      'presets/linked/other': '',
    });
    await write('presets/empty/other', '');
    await symlink(join(home, 'elsewhere'), join(home, 'presets/outside'));
    await symlink(join(home, 'elsewhere/manifest.json'), join(home, 'presets/linked/manifest.json'));
    const messages = await ask(`/preset/${name}/v1/messages`);
    t.is(messages.status, 404);
    t.like(messages.value, { type: 'error', error: { type: 'not_found_error' } });
    const chat = await ask(`/preset/${name}/v1/chat/completions`);
    t.is(chat.status, 404);
    t.like(chat.value, { error: { type: 'invalid_request_error', param: null } });
    t.is(state.builds, 0);
  });
}

const broken: readonly (readonly [title: string, manifest: string, message: RegExp])[] = [
  ['no JSON', '{', /"x".*not valid JSON.*line 1/],
  ['a fault of its own', '{"Router": {"default": "unknown,m"}}', /"x".*Router\.default.*unknown provider/],
  ['a fault that the base brings about', '{"Providers": []}', /"x".*Router\.default/],
  ['many faults', '{"Providers": [1,2,3,4,5,6,7,8]}', /; \d more\./],
];
for (const [title, manifest, message] of broken) {
  test(`a preset that can't be used is named with its fault: ${title}`, async (t) => {
    const { ask, upstream, write } = await open(t, { 'presets/x/manifest.json': manifest });
    for (const path of ['/v1/messages', '/v1/responses']) {
      const { status, value } = await ask(`/preset/x${path}`);
      t.is(status, 500);
      t.regex(String(Object(value).error.message), message);
    }
    t.is(upstream.requests.length, 0);
    await write('presets/x/manifest.json', routing('two'));
    t.is((await ask('/preset/x/v1/messages')).asked, 'two');
  });
}

test('a manifest that is a link to itself is reported by name', async (t) => {
  const { ask, home } = await open(t, { 'presets/x/other': '' });
  await symlink('manifest.json', join(home, 'presets/x/manifest.json'));
  const { status, value } = await ask('/preset/x/v1/messages');
  t.is(status, 500);
  t.regex(String(Object(value).error.message), /"x".*ELOOP/);
});

test('the models of a preset are listed below its address, and an unknown one is a 404', async (t) => {
  const Providers = [{ name: 'own', baseUrl: 'http://127.0.0.1:1', apiKey: '', models: ['special'] }];
  const manifest = JSON.stringify({ Providers, Router: { default: 'own,special' } });
  const { get } = await open(t, { 'presets/mine/manifest.json': manifest });
  const list = await get('/preset/mine/v1/models');
  t.is(list.status, 200);
  t.true(list.text.includes('"own,special"'), list.text);
  t.false(list.text.includes('"p,'), list.text);
  t.is((await get('/preset/mine/v1/models/own%2Cspecial')).status, 200);
  t.is((await get('/preset/none/v1/models')).status, 404);
});
