import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { firstRun, firstRunConfig, type KnownVendor } from '../../../../engine/config/files/first-run.ts';
import { configFile, readConfig } from '../../../../engine/config/read.ts';
import { chooseModels } from '../../../../engine/config/sections/choose-models.ts';
import { validateConfig } from '../../../../engine/config/validate.ts';

const vendors: readonly KnownVendor[] = [
  { provider: 'one', variable: 'ONE_KEY', baseUrl: 'https://one.example/v1', models: ['small', 'big'] },
  { provider: 'two', variable: 'TWO_KEY', baseUrl: 'https://two.example', models: ['x,y'] },
];
const demoUrl = 'http://demo.invalid/v1';

const withFolder = async (use: (home: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-first-'));
  await use(join(folder, 'home')).finally(() => rm(folder, { recursive: true }));
};

test('vendors whose key is set, in the order of the table', (t) => {
  t.deepEqual(firstRunConfig(vendors, { TWO_KEY: 'k2', ONE_KEY: 'k1' }), {
    source: {
      $schema: './config.schema.json',
      Providers: [
        { name: 'one', baseUrl: 'https://one.example/v1', apiKey: '$ONE_KEY', models: ['small', 'big'] },
        { name: 'two', baseUrl: 'https://two.example', apiKey: '$TWO_KEY', models: ['x,y'] },
      ],
      Router: { default: 'one,small', routes: { background: 'one,big' } },
    },
    demo: false,
  });
});

test('an empty variable counts as unset', (t) => {
  const { source, demo } = firstRunConfig(vendors, { ONE_KEY: '', TWO_KEY: 'k2' });
  t.deepEqual([source.Router, demo], [{ default: 'two,x,y' }, false]);
});

test('without any key, the embedded provider is used and nothing is written', (t) =>
  withFolder(async (home) => {
    const start = await firstRun(home, vendors, {});
    t.deepEqual(start, {
      source: {
        $schema: './config.schema.json',
        Providers: [{ name: 'demo', baseUrl: demoUrl, apiKey: '', models: ['echo'] }],
        Router: { default: 'demo,echo' },
      },
      demo: true,
      file: undefined,
      problem: undefined,
    });
    t.deepEqual(await readConfig(home, {}), { type: 'missing' });
    const result = validateConfig(start.source, {});
    t.deepEqual(result.warnings, []);
    t.true('config' in result && result.config.router.default === 'demo,echo');
  }));

test('the written file has references, is private to the owner, and is valid', (t) =>
  withFolder(async (home) => {
    const env = { ONE_KEY: 's3cret' };
    const { file, source } = await firstRun(home, vendors, env);
    t.is(file, configFile(home, {}));
    const text = await readFile(configFile(home, {}), 'utf8');
    t.false(text.includes('s3cret'));
    t.is((await stat(configFile(home, {}))).mode & 0o777, 0o600);
    t.is((await stat(home)).mode & 0o777, 0o700);
    t.deepEqual(await readdir(home), ['config.json']);
    const read = await readConfig(home, env);
    t.true(read.type === 'valid' && read.config.providers[0]?.apiKeys[0] === 's3cret' && read.warnings.length === 0);
    t.deepEqual(read.type === 'valid' && read.source, source);
  }));

test("a folder that can't be created is reported, and the configuration is used anyway", (t) =>
  withFolder(async (home) => {
    await writeFile(home, 'a file in the way');
    const start = await firstRun(home, vendors, { ONE_KEY: 'k' });
    t.deepEqual([start.file, start.problem, start.demo], [undefined, 'EEXIST', false]);
    t.deepEqual(start.source.Router, { default: 'one,small', routes: { background: 'one,big' } });
  }));

const claude = ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5'];
const choices: readonly (readonly [
  title: string,
  known: readonly string[],
  listed: readonly string[],
  chosen: readonly string[],
])[] = [
  ['no list', claude, [], claude],
  ['all are listed', claude, [...claude.toReversed(), 'claude-opus-6'], claude],
  [
    'one has given way to a newer one',
    claude,
    ['claude-opus-6', 'claude-opus-5-9', 'claude-haiku-5-5', 'claude-opus-5-10-20270101'],
    ['claude-opus-6', 'claude-haiku-5-5'],
  ],
  ['one is not for this key', ['gemini-4-argon', 'gemini-3.8-flash'], ['gemini-3.8-flash'], ['gemini-3.8-flash']],
  [
    'a version after a dot',
    ['gpt-6.1-sol', 'gpt-6-luna'],
    ['gpt-7-luna', 'gpt-6.2-sol', 'gpt-6.10-sol'],
    ['gpt-6.10-sol', 'gpt-7-luna'],
  ],
  ['none of the lines', claude, ['a', 'b', 'c', 'd'], ['a', 'b', 'c']],
];
for (const [title, known, listed, chosen] of choices) {
  test(`models of a first start: ${title}`, (t) => t.deepEqual(chooseModels(known, listed), chosen));
}
