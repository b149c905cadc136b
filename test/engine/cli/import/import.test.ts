import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import test from 'ava';
import { mergeImported } from '../../../../engine/cli/commands/import/import.ts';
import { formats, stages } from '../../../../transformers/index.ts';
import { addressIn, commandRig } from '../../../support/processes/command.ts';
import { chatReply } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

const theirs = {
  APIKEY: 'theirs',
  HOST: '127.0.0.1',
  LOG: true,
  API_TIMEOUT_MS: '600000',
  PROXY_URL: 'http://proxy.example:1',
  CUSTOM_ROUTER_PATH: './router.js',
  Something: 1,
  Providers: [
    {
      name: 'openrouter',
      api_base_url: 'https://openrouter.ai/api/v1/chat/completions',
      api_key: '$OR_KEY',
      models: ['a/b', 'c/d:online'],
      transformer: {
        use: ['openrouter', ['maxtoken', { max_tokens: 16_384 }], 'cleancache'],
        'a/b': { use: ['tooluse'] },
      },
    },
    { name: 'lost', models: [] },
  ],
  Router: {
    default: 'openrouter,a/b',
    background: '',
    webSearch: 'openrouter,c/d:online',
    longContextThreshold: 9,
    custom: 1,
  },
  fallback: { default: ['openrouter,c/d:online'], custom: ['x'] },
  transformers: [{ path: './mine.js' }],
};

const ours = `{
  // kept
  "LOG_LEVEL": "warn",
  "Providers": [
    { "name": "mine", "baseUrl": "https://mine.example", "apiKey": "", "models": ["m"] },
    { "name": "openrouter", "baseUrl": "https://old.example", "apiKey": "", "models": ["old"] },
  ],
  "transformers": [{ "name": "maxtoken", "provider": "openrouter", "options": { "max_tokens": 1 } }, "enhancetool"],
}`;

test('import converts known fields, reports skipped ones, and makes a backup', async (t) => {
  const { home, ask, run } = await commandRig(t);
  await writeFile(join(home, 'config.json'), ours);
  await mkdir(join(home, '.claude-code-router'));
  await writeFile(join(home, '.claude-code-router', 'config.json'), `// theirs\n${JSON.stringify(theirs)}`);
  const dry = await ask(['import', join(home, '.claude-code-router', 'config.json'), '--dry-run']);
  t.is(dry.code, 0, dry.err);
  t.is(await readFile(join(home, 'config.json'), 'utf8'), ours);

  const { code, out, err } = await run(['import']);
  t.is(code, 0, err);
  for (const line of [
    /^imported +APIKEY$/m,
    /^imported +Providers\[0\] \(openrouter, 2 models\)$/m,
    /^imported +API_TIMEOUT_MS \(as TIMEOUTS\.firstByteMs\)$/m,
    /^skipped +Providers\[1\]: name, address or models are missing$/m,
    /^skipped +Providers\[0\]\.transformer\.use\[2\]: unknown transformer "cleancache"$/m,
    /^skipped +PROXY_URL: set HTTPS_PROXY/m,
    /^skipped +CUSTOM_ROUTER_PATH: .*router\.js can't be read \(ENOENT\)$/m,
    /^skipped +Something: /m,
    /^skipped +Router\.custom: /m,
    /^imported +fallback\.default$/m,
    /^skipped +fallback\.custom: no such scenario$/m,
    /^skipped +transformers: /m,
    /^warning +Providers\[1\] .*OR_KEY/m,
  ]) {
    t.regex(out, line);
  }
  const backup = (await readdir(home)).find((name) => name.startsWith('config.backup.')) ?? '';
  t.is(await readFile(join(home, backup), 'utf8'), ours);
  t.true(out.includes(backup));

  const text = await readFile(join(home, 'config.json'), 'utf8');
  t.true(text.includes('// kept'));
  const config = JSON.parse(text.replace(/^\s*\/\/.*$/gm, '').replace(/,(\s*[\]}])/g, '$1'));
  t.deepEqual(config.Providers, [
    { name: 'mine', baseUrl: 'https://mine.example', apiKey: '', models: ['m'] },
    {
      name: 'openrouter',
      baseUrl: 'https://openrouter.ai/api/v1/chat/completions',
      apiKey: '$OR_KEY',
      models: ['a/b', 'c/d:online'],
    },
  ]);
  t.deepEqual(config.transformers, [
    'enhancetool',
    { name: 'openrouter', provider: 'openrouter' },
    { name: 'maxtoken', provider: 'openrouter', options: { max_tokens: 16_384 } },
    { name: 'tooluse', provider: 'openrouter', models: ['a/b'] },
  ]);
  t.deepEqual(config.Router, {
    default: 'openrouter,a/b',
    longContextThreshold: 9,
    routes: { webSearch: 'openrouter,c/d:online' },
    fallback: { default: ['openrouter,c/d:online'] },
  });
  t.like(config, { LOG_LEVEL: 'warn', APIKEY: 'theirs', TIMEOUTS: { firstByteMs: 600_000 } });
  const explained = await ask(['explain', '--model', 'any', '--json'], { env: { OR_KEY: 'k-e-y' } });
  t.like(JSON.parse(explained.out), {
    url: 'https://openrouter.ai/api/v1/chat/completions',
    model: 'a/b',
    reason: 'default: no scenario with a route fits',
  });
});

test('what keeps a configuration from loading is left out, each with a line, and the result always loads', async (t) => {
  const { home, ask } = await commandRig(t);
  const other = createServer().listen(0, '127.0.0.1');
  t.teardown(() => other.close());
  await once(other, 'listening');
  const address = other.address();
  const taken = typeof address === 'object' && address ? address.port : 0;
  await writeFile(
    join(home, 'config.json'),
    JSON.stringify({
      LOG_LEVEL: 'warn',
      Providers: [
        { name: 'p', baseUrl: 'https://p.example/v1', apiKey: '', models: ['old'] },
        { name: 'q', baseUrl: 'https://q.example/v1', apiKey: '', models: ['m'] },
      ],
      Router: { default: 'p,old', routes: { think: 'p,old' }, rules: [{ name: 'r', when: {}, to: 'q,m' }] },
    }),
  );
  const theirs = {
    LOG_LEVEL: 'loud',
    PORT: taken,
    API_TIMEOUT_MS: 5,
    Providers: [
      { name: 'p', api_base_url: 'https://p.example/v1', api_key: '', models: ['new', '', 7] },
      { name: 'q', api_base_url: 'no address', api_key: '', models: ['m'] },
      { name: 'r', api_base_url: 'https://r.example/v1', api_key: '', models: ['m'], transformer: { use: [] } },
    ],
    Router: { default: 'p,new', background: 'gone,m', webSearch: 'r,m', longContextThreshold: 'many' },
    fallback: { default: ['gone,m', 'r,m'] },
  };
  await writeFile(join(home, 'theirs.json'), JSON.stringify(theirs));
  const { code, out, err } = await ask(['import', join(home, 'theirs.json')]);
  t.is(code, 0, err);
  for (const line of [
    /^skipped +PORT: another program has \d+ open$/m,
    /^skipped +Providers\[0\]\.models\[1\]: not a name$/m,
    /^skipped +Providers\[0\]\.models\[2\]: not a name$/m,
    /^left out +LOG_LEVEL /m,
    /^left out +Providers\[1\]\.baseUrl /m,
    /^left out +Router\.routes\.background .*gone/m,
    /^left out +Router\.longContextThreshold /m,
    /^left out +Router\.fallback\.default\[0\] .*gone/m,
  ]) {
    t.regex(out, line);
  }
  t.notRegex(out, /^imported +PORT$/m);
  const config = JSON.parse(await readFile(join(home, 'config.json'), 'utf8'));
  t.is(config.LOG_LEVEL, 'warn');
  t.false(Object.hasOwn(config, 'PORT'));
  t.deepEqual(
    config.Providers.map(({ name, baseUrl, models }: Record<string, unknown>) => [name, baseUrl, models]),
    [
      ['p', 'https://p.example/v1', ['new']],
      ['q', 'https://q.example/v1', ['m']],
      ['r', 'https://r.example/v1', ['m']],
    ],
  );
  t.deepEqual(config.Router, {
    default: 'p,new',
    routes: { think: 'p,old', webSearch: 'r,m' },
    rules: [{ name: 'r', when: {}, to: 'q,m' }],
    fallback: { default: ['r,m'] },
  });
  const check = await ask(['config', 'check']);
  t.is(check.code, 0, check.out);

  const again = await ask(['import', join(home, 'theirs.json')]);
  t.regex(again.out, /Nothing was written: nothing changes\./);
});

test('nothing is written where nothing can be read, or config.json has faults of its own', async (t) => {
  const { home, ask } = await commandRig(t);
  await writeFile(join(home, 'theirs.json'), JSON.stringify({ PORT: 'x', Router: { default: 'none,such' } }));
  const empty = await ask(['import', join(home, 'theirs.json')]);
  t.is(empty.code, 0, empty.err);
  t.regex(empty.out, /left out +PORT .*\nleft out +Router\.default .*\nNothing was written: nothing changes\.\n$/);
  t.false((await readdir(home)).includes('config.json'));
  await writeFile(join(home, 'broken.json'), '{ PORT: 1, "HOST" }');
  const broken = await ask(['import', join(home, 'broken.json')]);
  t.regex(broken.err, /broken\.json can't be read:(\n- The configuration is not valid JSON: [^\n]*)\n$/);
  t.regex((await ask(['import', join(home, 'none.json')])).err, /Cannot read \S*none\.json\./);
  await writeFile(join(home, 'config.json'), '{ "LOG_LEVEL": "loud" }');
  const faulty = await ask(['import', join(home, 'theirs.json')]);
  t.is(faulty.code, 1);
  t.regex(faulty.err, /^junctor: Nothing was written: \S+ has faults already:\n- LOG_LEVEL [^\n]*\n$/);
});

test('members that its transformers add to a body become members of our body', (t) => {
  const known = new Map([...formats, ...stages].map(([name]) => [name, () => []] as const));
  const provider = {
    name: 'openrouter',
    api_base_url: 'https://openrouter.ai/api/v1/chat/completions',
    api_key: '$KEY',
    models: ['a/b', 'c/d'],
    transformer: {
      use: [
        ['openrouter', { provider: { only: ['vendor'] }, model: 'x' }],
        ['sampling', { temperature: 0.2, max_tokens: 9 }],
      ],
      'c/d': { use: [['customparams', { top_k: 3 }]] },
    },
  };
  const { source, left } = mergeImported({ Providers: [provider] }, {}, known);
  t.deepEqual(source, {
    Providers: [
      {
        name: 'openrouter',
        baseUrl: 'https://openrouter.ai/api/v1/chat/completions',
        apiKey: '$KEY',
        models: ['a/b', { name: 'c/d', body: { top_k: 3 } }],
        body: { provider: { only: ['vendor'] }, temperature: 0.2 },
      },
    ],
    transformers: [
      { name: 'openrouter', provider: 'openrouter' },
      { name: 'maxtoken', provider: 'openrouter', options: { max_tokens: 9 } },
    ],
  });
  t.deepEqual(left, [
    { path: 'Providers[0].transformer.use[0][1].model', why: 'is set by the destination of a request' },
  ]);
});

test('an infinite timeout becomes the longest timer', (t) => {
  const { source } = mergeImported({ API_TIMEOUT_MS: 9_999_999_999 }, {}, new Map());
  t.deepEqual(source.TIMEOUTS, { firstByteMs: 2_147_483_647 });
});

test('a non-loopback address is not imported without a key', (t) => {
  const known = new Map([...formats, ...stages].map(([name]) => [name, () => []] as const));
  const open = { HOST: '0.0.0.0', PORT: 1 };
  const without = mergeImported(open, {}, known);
  t.deepEqual(without.source, { PORT: 1 });
  t.is(without.left[0]?.path, 'HOST');
  t.deepEqual(mergeImported({ ...open, APIKEY: 'k' }, {}, known).source, { ...open, APIKEY: 'k' });
});

test('F3 a router module is copied into the folder, and the result answers; one that cannot be used is left out with a line', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer(chatReply('Hello')));
  t.teardown(upstream.close);
  const { home, ask } = await commandRig(t, { Providers: [] });
  const other = join(home, '.claude-code-router');
  await mkdir(other);
  const file = join(other, 'config.json');
  const written = async (module: string): Promise<void> =>
    writeFile(
      file,
      JSON.stringify({
        CUSTOM_ROUTER_PATH: module,
        Providers: [
          { name: 'box', api_base_url: `${upstream.url}/v1/chat/completions`, api_key: 'k', models: ['a', 'b'] },
        ],
        Router: { default: 'box,a' },
      }),
    );
  await writeFile(join(other, 'needs.js'), "require('./helper.js'); module.exports = async () => 'box,b';");
  await writeFile(join(other, 'helper.js'), 'module.exports = 1;');
  await writeFile(join(other, 'router.js'), "module.exports = async () => 'box,b';");
  await written('./needs.js');
  const needs = await ask(['import', file]);
  t.is(needs.code, 0, needs.err);
  t.regex(needs.out, /^skipped +CUSTOM_ROUTER_PATH: .*needs\.js does not load from another folder: .*helper/m);
  t.false((await readFile(join(home, 'config.json'), 'utf8')).includes('module'));

  await written(join(other, 'router.js'));
  const dry = await ask(['import', file, '--dry-run']);
  t.regex(dry.out, /^imported +CUSTOM_ROUTER_PATH \(as Router\.module: .* is copied to router\.js\)$/m);
  t.false((await readdir(home)).includes('router.js'));
  const { code, err } = await ask(['import', file]);
  t.is(code, 0, err);
  t.true((await readdir(home)).includes('router.js'));
  const checked = await ask(['config', 'check']);
  t.is(checked.code, 0, checked.out);
  const started = await ask(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  const answer = await fetch(`${addressIn(started.out)}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  t.is(answer.status, 200);
  t.true(answer.headers.get('x-junctor-route')?.startsWith('box,b'));
});

test('F3 a start in the background prints the warnings of the start', async (t) => {
  const { ask } = await commandRig(t, { Providers: [], Router: { module: './none.js' } });
  const started = await ask(['start', '--daemon']);
  t.is(started.code, 0, started.err);
  t.regex(started.err, /^warning: Router\.module can't be used: \.\/none\.js/m);
});
