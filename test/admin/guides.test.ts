import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { guideOperations } from '../../admin/config/guides.ts';
import { lazyRoutes } from '../../admin/lazy-routes.ts';
import { ClientGuides } from '../../admin/schema.ts';
import { shellLines, withoutProxy } from '../../engine/client-tools/shell.ts';
import { anyKey, keyReference, shells } from '../../engine/client-tools/tool.ts';
import { clientTools } from '../../engine/client-tools/tools.ts';
import { reader } from '../../engine/model/schema.ts';
import { createCatalogue } from '../../engine/routing/catalogue/catalogue.ts';
import { serve } from '../engine/http/rig.ts';
import { configWith, provider } from '../engine/routing/providers.ts';

const config = configWith([provider('demo', "it's", 'small'), provider('other', 'm')], { default: 'demo,small' });
const catalogue = createCatalogue(undefined);
const base = 'http://10.0.0.5:3999/preset/x';
const replies = reader(ClientGuides);

const open = async (t: ExecutionContext, current = config) => {
  const routes = lazyRoutes({ guides: 'GET /api/clients/guides' }, async () =>
    guideOperations(() => ({
      config: current,
      modelFacts: (one) => catalogue.know(one.provider, one.model, { format: {}, because: 'plain' }),
    })),
  );
  const { port } = await serve(t, routes);
  return async (query: Readonly<Record<string, string>>) => {
    const answer = await request(`http://127.0.0.1:${port}/api/clients/guides?${new URLSearchParams(query)}`);
    return { status: answer.statusCode, body: await answer.body.json() };
  };
};

test('each guide has the address in its form, the model and the variable of the key, in each shell', async (t) => {
  const ask = await open(t);
  for (const shell of shells) {
    const { body } = await ask({ base, shell, key: 'true', model: "demo,it's" });
    const { guides, models } = replies.read(body);
    t.deepEqual(models, ["demo,it's", 'demo,small', 'other,m']);
    t.deepEqual(
      guides.map(({ name }) => name),
      clientTools.map(({ name }) => name),
    );
    for (const { name, snippets, notes, baseUrl } of guides) {
      const text = snippets.map((one) => one.text).join('\n');
      t.true(text.includes(base), name);
      t.false(text.includes(anyKey), name);
      t.regex(text + notes.join(), /JUNCTOR_API_KEY/, name);
      t.is(text.includes(`${base}/v1`), name === 'curl' || baseUrl.endsWith('/v1'), name);
      t.is(new Set(snippets.map(({ label }) => label)).size, snippets.length, name);
      for (const { label, text: file } of snippets)
        if (label.endsWith('.json')) t.notThrows(() => JSON.parse(file), name);
    }
    const unlocked = replies.read((await ask({ base, shell })).body);
    t.is(unlocked.model, 'junctor');
    for (const { name, snippets } of unlocked.guides) {
      const text = snippets.map((one) => one.text).join('\n');
      t.is(text.includes(anyKey), name !== 'curl', name);
    }
  }
});

test('the model that is asked for is told where the program has no names of its own', async (t) => {
  const ask = await open(t);
  const textOf = async (model: string, tool: string) => {
    const { body } = await ask({ base, model, key: 'true' });
    return replies.read(body).guides.find(({ name }) => name === tool)?.snippets[0]?.text ?? '';
  };
  t.regex(await textOf('other,m', 'claude-code'), /^export ANTHROPIC_MODEL='other,m'$/m);
  t.notRegex(await textOf('junctor', 'claude-code'), /ANTHROPIC_MODEL/);
  t.regex(await textOf('other,m', 'codex'), /^model = "other,m"$/m);
  t.notRegex(await textOf('junctor', 'codex'), /^model = /m);
  t.like(JSON.parse(await textOf('other,m', 'opencode')), {
    model: 'junctor/other,m',
    provider: { junctor: { options: { apiKey: '{env:JUNCTOR_API_KEY}', baseURL: `${base}/v1` } } },
  });
});

test('without a default, the first model is asked for', async (t) => {
  const ask = await open(t, configWith([provider('demo', 'first')], {}));
  t.is(replies.read((await ask({ base })).body).model, 'demo,first');
});

test('a query that cannot be answered names its parameter', async (t) => {
  const ask = await open(t);
  for (const [query, says] of [
    [{}, 'base must be'],
    [{ base: 'javascript:1' }, 'base must be'],
    [{ base, shell: 'cmd' }, 'shell must be one of posix, fish, powershell'],
  ] as const) {
    const { status, body } = await ask(query);
    t.is(status, 400);
    t.true(JSON.stringify(body).includes(says));
  }
});

test('a value is quoted for its shell, a key that is read from the environment is a reference', (t) => {
  const lines = shells.map((shell) => shellLines({ A: "it's", B: keyReference, C: '' }, shell));
  t.deepEqual(lines, [
    [`export A='it'\\''s'`, 'export B="$JUNCTOR_API_KEY"', 'unset C'],
    [`set -gx A 'it\\'s'`, 'set -gx B "$JUNCTOR_API_KEY"', 'set -e C'],
    [`$env:A = 'it''s'`, '$env:B = $env:JUNCTOR_API_KEY', "$env:C = ''"],
  ]);
  t.is(withoutProxy('http://[::1]:1', 'own.example, 127.0.0.1').NO_PROXY, 'own.example,127.0.0.1,localhost,::1');
});
