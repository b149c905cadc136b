import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { firstConfig, firstStart, type KnownVendor } from '../../../engine/config/first-start.ts';
import { configFile, readConfig } from '../../../engine/config/read.ts';
import { validateConfig } from '../../../engine/config/validate.ts';

const vendors: readonly KnownVendor[] = [
  { provider: 'one', variable: 'ONE_KEY', baseUrl: 'https://one.example/v1', models: ['small', 'big'] },
  { provider: 'two', variable: 'TWO_KEY', baseUrl: 'https://two.example', models: ['x,y'] },
];
const demoUrl = 'http://127.0.0.1:5/v1';

const withFolder = async (use: (home: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-first-'));
  await use(join(folder, 'home')).finally(() => rm(folder, { recursive: true }));
};

test('vendors whose key is set, in the order of the table', (t) => {
  t.deepEqual(firstConfig(vendors, { TWO_KEY: 'k2', ONE_KEY: 'k1' }, demoUrl), {
    written: {
      Providers: [
        { name: 'one', baseUrl: 'https://one.example/v1', apiKey: '$ONE_KEY', models: ['small', 'big'] },
        { name: 'two', baseUrl: 'https://two.example', apiKey: '$TWO_KEY', models: ['x,y'] },
      ],
      Router: { default: 'one,small' },
    },
    demo: false,
  });
});

test('a key that is set to nothing is not set', (t) => {
  const { written, demo } = firstConfig(vendors, { ONE_KEY: '', TWO_KEY: 'k2' }, demoUrl);
  t.deepEqual([written.Router, demo], [{ default: 'two,x,y' }, false]);
});

test('without any key, the embedded provider, and nothing on disk', (t) =>
  withFolder(async (home) => {
    const start = await firstStart(home, vendors, {}, demoUrl);
    t.deepEqual(start, {
      written: {
        Providers: [{ name: 'demo', baseUrl: demoUrl, apiKey: '', models: ['echo'] }],
        Router: { default: 'demo,echo' },
      },
      demo: true,
      file: undefined,
      problem: undefined,
    });
    t.deepEqual(await readConfig(home, {}), { type: 'missing' });
    const result = validateConfig(start.written, {});
    t.deepEqual(result.warnings, []);
    t.true('config' in result && result.config.router.default === 'demo,echo');
  }));

test('what is written holds references, is for the owner alone, and can be read', (t) =>
  withFolder(async (home) => {
    const env = { ONE_KEY: 's3cret' };
    const { file, written } = await firstStart(home, vendors, env, demoUrl);
    t.is(file, configFile(home));
    const text = await readFile(configFile(home), 'utf8');
    t.false(text.includes('s3cret'));
    t.is((await stat(configFile(home))).mode & 0o777, 0o600);
    t.is((await stat(home)).mode & 0o777, 0o700);
    t.deepEqual(await readdir(home), ['config.json']);
    const read = await readConfig(home, env);
    t.true(read.type === 'valid' && read.config.providers[0]?.apiKeys[0] === 's3cret' && read.warnings.length === 0);
    t.deepEqual(read.type === 'valid' && read.written, written);
  }));

test('a folder that cannot be made is told, and the configuration holds all the same', (t) =>
  withFolder(async (home) => {
    await writeFile(home, 'a file in the way');
    const start = await firstStart(home, vendors, { ONE_KEY: 'k' }, demoUrl);
    t.deepEqual([start.file, start.problem, start.demo], [undefined, 'EEXIST', false]);
    t.deepEqual(start.written.Router, { default: 'one,small' });
  }));
