import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { configFile, configHome, readConfig } from '../../../engine/config/read.ts';

const withFolder = async (use: (home: string) => Promise<void>): Promise<void> => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-read-'));
  await use(home).finally(() => rm(home, { recursive: true }));
};

test('the folder comes from the environment, or is in the home folder', (t) => {
  t.is(configHome({ JUNCTOR_HOME: '/a/b' }), '/a/b');
  t.is(configHome({ JUNCTOR_HOME: 'b' }), join(process.cwd(), 'b'));
  t.is(configHome({ JUNCTOR_HOME: '' }), join(homedir(), '.junctor'));
  t.is(configHome({}), join(homedir(), '.junctor'));
});

test('no file', (t) =>
  withFolder(async (home) => {
    t.deepEqual(await readConfig(home, {}), { type: 'missing' });
  }));

test('no folder', async (t) => {
  t.deepEqual(await readConfig(join(tmpdir(), 'junctor-none'), {}), { type: 'missing' });
});

test('a file gives the written and the resolved form', (t) =>
  withFolder(async (home) => {
    const provider = '{ "name": "p", "api_base_url": "http://h.example", "apiKey": "$K", "models": ["m"], "note": 1 }';
    await writeFile(configFile(home, {}), `{ // mine\n "Providers": [${provider},], "Router": { "default": "p,m" } }`);
    const read = await readConfig(home, { K: 'v' });
    t.is(read.type, 'valid');
    if (read.type !== 'valid') return;
    t.deepEqual(read.source, { Providers: [JSON.parse(provider)], Router: { default: 'p,m' } });
    t.deepEqual(read.config.providers[0]?.apiKeys, ['v']);
    t.deepEqual(read.warnings, [{ path: 'Providers[0].note', message: 'is unknown and has no effect' }]);
  }));

test('a file with a syntax error', (t) =>
  withFolder(async (home) => {
    await writeFile(configFile(home, {}), '{ "PORT": 1');
    t.deepEqual(await readConfig(home, {}), {
      type: 'invalid',
      faults: [{ path: '', message: 'is not valid JSON: close brace expected at line 1, column 12' }],
      warnings: [],
    });
  }));

test('a file with an invalid value', (t) =>
  withFolder(async (home) => {
    await writeFile(configFile(home, {}), '{ "PORT": "x" }');
    const read = await readConfig(home, {});
    t.like(read, { type: 'invalid', faults: [{ path: 'PORT', message: 'must be integer' }], warnings: [] });
  }));

test('a folder in place of the file is invalid, not missing', (t) =>
  withFolder(async (home) => {
    const inside = join(home, 'x');
    await writeFile(inside, '');
    const read = await readConfig(inside, {});
    t.deepEqual(read, { type: 'invalid', faults: [{ path: '', message: "can't be read (ENOTDIR)" }], warnings: [] });
  }));

test('a tilde that no shell replaced is the folder of the user', (t) => {
  t.is(configHome({ JUNCTOR_HOME: '~/x' }), join(homedir(), 'x'));
  t.is(configHome({ JUNCTOR_HOME: '~' }), homedir());
  t.is(configHome({}), join(homedir(), '.junctor'));
  t.is(configHome({ JUNCTOR_HOME: '/a/~/b' }), '/a/~/b');
  t.is(configFile('/h', { JUNCTOR_CONFIG: '~/own.json' }), join(homedir(), 'own.json'));
});
