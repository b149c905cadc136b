import { spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { configFile } from '../../../../engine/config/read.ts';
import { FaultError } from '../../../../engine/model/fault.ts';
import { until } from '../../../support/until.ts';
import { openStore, temporaryHome, withProvider } from './store-rig.ts';

const textOf = (home: string): Promise<string> => readFile(configFile(home, {}), 'utf8');
const print = (value: unknown): string => JSON.stringify(value, null, 2);
const filesIn = async (home: string): Promise<string[]> => (await readdir(home)).sort();

test('a replaced configuration is in use and on disk, private to the owner', async (t) => {
  const old = withProvider('a');
  const { store, home, applied, log } = await openStore(t, temporaryHome(t, print(old)), old);
  t.deepEqual(await store.replace(withProvider('b')), { type: 'applied', warnings: [], restart: [], behind: 0 });
  t.deepEqual(JSON.parse(await textOf(home)), withProvider('b'));
  t.is((await stat(configFile(home, {}))).mode & 0o777, 0o600);
  t.deepEqual(store.source, withProvider('b'));
  t.deepEqual(store.config.providers[0]?.apiKeys, ['secret']);
  t.deepEqual(applied, [store.config]);
  t.deepEqual(log, ['info: configuration replaced {"restart":[]}']);
});

test('comments and unknown fields survive, and the previous file is backed up byte for byte', async (t) => {
  const old = withProvider('a', { note: { mine: 1 } });
  const text = `// mine\n${print(old).replace('"note"', '/* kept */ "note"')}\n`;
  const { store, home } = await openStore(t, temporaryHome(t, text), old);
  const change = await store.replace(withProvider('a', { note: { mine: 1 }, PORT: 4000 }));
  t.like(change, { type: 'applied', warnings: [], restart: ['PORT'] }, 'what stood before isn’t said again');
  t.is(await textOf(home), text.replace(/\}\n\}\n$/, '},\n  "PORT": 4000\n}\n'));
  const [backup] = await store.listBackups();
  t.is(await readFile(join(home, backup?.name ?? ''), 'utf8'), text);
});

const refused = [
  ['a field of the wrong type', { PORT: 'x', LOG: 1 }, ['PORT', 'LOG']],
  ['a provider without a name', { Providers: [{ models: [] }] }, ['Providers[0].name']],
  ['an open address without a key', { HOST: '0.0.0.0' }, ['HOST']],
  ['a transformer that those who use it refuse', { transformers: ['maxtoken', 'broken'] }, ['transformers[1]']],
] as const;

for (const [title, written, paths] of refused) {
  test(`rejected, and nothing changed: ${title}`, async (t) => {
    const old = withProvider('a');
    const text = `${print(old)} // mine`;
    const { store, home, applied } = await openStore(t, temporaryHome(t, text), old);
    const change = await store.replace(written);
    t.is(change.type, 'refused');
    if (change.type !== 'refused') return;
    for (const path of paths)
      t.true(
        change.faults.some((fault) => fault.path === path),
        path,
      );
    t.is(await textOf(home), text);
    t.deepEqual(await filesIn(home), ['config.json']);
    t.is(store.source, old);
    t.deepEqual(applied, []);
  });
}

test('without a file, the first change creates it, without a backup', async (t) => {
  const { store, home } = await openStore(t, join(temporaryHome(t), 'deep', 'home'), withProvider('a'));
  t.deepEqual(store.source, withProvider('a'));
  t.deepEqual(await store.replace({}), { type: 'applied', warnings: [], restart: [], behind: 0 });
  t.is(await textOf(home), '{}\n');
  t.deepEqual(await filesIn(home), ['config.json']);
});

test('a required restart is reported until the value is restored', async (t) => {
  const { store } = await openStore(t, temporaryHome(t), {});
  const restart = async (written: Parameters<typeof store.replace>[0]) => {
    const change = await store.replace(written);
    return change.type === 'applied' && change.restart;
  };
  t.deepEqual(await restart({ PORT: 1, HOST: '::1' }), ['HOST', 'PORT']);
  t.deepEqual(await restart({ PORT: 1 }), ['PORT']);
  t.deepEqual(await restart({ PORT: 3456, LOG: false }), []);
});

test('concurrent changes are applied one after the other', async (t) => {
  const { store, home, applied } = await openStore(t, temporaryHome(t, '{}'), {});
  const ports = Array.from({ length: 20 }, (_, index) => index + 1);
  const changes = await Promise.all(ports.map((PORT) => store.replace({ PORT })));
  t.true(changes.every(({ type }) => type === 'applied'));
  t.deepEqual(
    applied.map(({ port }) => port),
    ports,
  );
  t.deepEqual(JSON.parse(await textOf(home)), { PORT: 20 });
  const backups = await store.listBackups();
  const texts = await Promise.all(backups.map(({ name }) => readFile(join(home, name), 'utf8')));
  t.deepEqual(
    texts.map((text) => JSON.parse(text)),
    [{ PORT: 19 }, { PORT: 18 }, { PORT: 17 }],
  );
});

test('a failed change does not block the next', async (t) => {
  let calls = 0;
  const { store } = await openStore(
    t,
    temporaryHome(t),
    {},
    {
      prepare: async () => {
        calls += 1;
        if (calls === 1) throw new Error('a bug');
        return { faults: [], warnings: [], apply: () => {} };
      },
    },
  );
  const [first, second] = await Promise.allSettled([store.replace({ PORT: 1 }), store.replace({ PORT: 2 })]);
  t.is(first.status, 'rejected');
  t.is(second.status, 'fulfilled');
  t.deepEqual(store.source, { PORT: 2 });
});

test('a failed write changes nothing', async (t) => {
  const home = temporaryHome(t);
  await mkdir(join(home, 'config.json'));
  const { store, applied } = await openStore(t, home, { PORT: 1 });
  const error = await t.throwsAsync(store.replace({ PORT: 2 }), { instanceOf: FaultError });
  t.is(error?.fault.kind, 'internal');
  t.is(error?.message, "config.json can't be written (EISDIR); nothing was changed.");
  t.deepEqual(store.source, { PORT: 1 });
  t.deepEqual(applied, []);
  t.deepEqual(await filesIn(home), ['config.json']);
});

test('a write that fails at its last step makes no backup', async (t) => {
  const home = temporaryHome(t);
  // A draft's name is longer than the file's, here longer than file systems allow.
  const target = join(temporaryHome(t), 'x'.repeat(250));
  await writeFile(target, '{ "PORT": 1 }');
  await symlink(target, configFile(home, {}));
  const { store } = await openStore(t, home, { PORT: 1 });
  await t.throwsAsync(store.replace({ PORT: 2 }), { message: /ENAMETOOLONG/ });
  t.deepEqual(await store.listBackups(), []);
  t.is(await textOf(home), '{ "PORT": 1 }');
  t.deepEqual(store.source, { PORT: 1 });
});

test('a backup is restored unchanged, and the replaced file is backed up', async (t) => {
  const text = '{ "PORT": 1 } // the first';
  const { store, home, applied } = await openStore(t, temporaryHome(t, text), { PORT: 1 });
  await store.replace({ PORT: 2 });
  const [backup] = await store.listBackups();
  t.like(await store.restore(backup?.name ?? ''), { type: 'applied' });
  t.is(await textOf(home), text);
  t.deepEqual(
    applied.map(({ port }) => port),
    [2, 1],
  );
  t.is((await store.listBackups()).length, 2);
  t.is(await store.restore('config.json'), undefined);
});

test('an invalid backup is rejected', async (t) => {
  const { store, home } = await openStore(t, temporaryHome(t, '{ "PORT": 1, '), { PORT: 1 });
  await store.replace({ PORT: 2 });
  const [backup] = await store.listBackups();
  t.like(await store.restore(backup?.name ?? ''), { type: 'refused', faults: [{ path: '' }] });
  t.deepEqual(JSON.parse(await textOf(home)), { PORT: 2 });
});

test('comments of the last valid text are restored after a broken edit', async (t) => {
  const { store, home, log } = await openStore(t, temporaryHome(t, '{ "PORT": 1 } // mine'), { PORT: 1 });
  await writeFile(configFile(home, {}), '{ "PORT": ');
  await until(() => log.length > 0);
  await store.replace({ PORT: 2 });
  t.is(await textOf(home), '{ "PORT": 2 } // mine');
});

test('temporary files of killed processes are removed, others are not', async (t) => {
  const home = temporaryHome(t, '{}');
  const id = '01234567-89ab-cdef-0123-456789abcdef';
  const gone = spawnSync(process.execPath, ['--version']).pid;
  const left = [gone, process.pid].flatMap((pid) => [
    `config.json.${pid}.${id}.tmp`,
    `config.backup.2026-01-31T09-30-00-000Z.json.${pid}.${id}.tmp`,
    join('presets', 'cheap', `manifest.json.${pid}.${id}.tmp`),
  ]);
  const old = `config.json.${process.ppid}.${id}.tmp`;
  const young = `config.json.${process.ppid}.${id.replace('0', '1')}.tmp`;
  const kept = ['config.json.tmp', `config.json.${id}.tmp`, `config.json.${gone}.${id}.tmp.mine`, young];
  await mkdir(join(home, 'presets', 'cheap'), { recursive: true });
  for (const name of [...left, ...kept, old]) await writeFile(join(home, name), 'x');
  await utimes(join(home, old), 1, 1);
  await openStore(t, home, {});
  t.deepEqual(await filesIn(home), ['config.json', 'presets', ...kept].sort());
  t.deepEqual(await readdir(join(home, 'presets', 'cheap')), []);
});

const edits: readonly (readonly [title: string, edit: (home: string, text: string) => Promise<void>])[] = [
  ['written in place', (home, text) => writeFile(configFile(home, {}), text)],
  [
    'put in its place by a rename',
    async (home, text) => {
      await writeFile(join(home, '.config.json.swp'), text);
      await rename(join(home, '.config.json.swp'), configFile(home, {}));
    },
  ],
  [
    'moved away, written anew, the old one removed',
    async (home, text) => {
      await rename(configFile(home, {}), join(home, 'config.json~'));
      await writeFile(configFile(home, {}), text);
      await rm(join(home, 'config.json~'));
    },
  ],
  [
    'written in pieces',
    async (home, text) => {
      await writeFile(configFile(home, {}), '');
      await writeFile(configFile(home, {}), text.slice(0, 5));
      await writeFile(configFile(home, {}), text);
    },
  ],
];

for (const [title, edit] of edits) {
  test(`an edit is applied: ${title}`, async (t) => {
    const { store, home, applied } = await openStore(t, temporaryHome(t, '{ "PORT": 1 }'), { PORT: 1 });
    for (const PORT of [2, 3]) {
      await edit(home, `{ "PORT": ${PORT} } // mine`);
      await until(() => applied.at(-1)?.port === PORT);
      t.deepEqual(store.source, { PORT });
    }
    t.is(applied.length, 2);
    t.deepEqual(await store.listBackups(), []);
  });
}

const wrongEdits = [
  ['what is no JSON', '{ "PORT": ', 'is not valid JSON'],
  ['what does not fit', '{ "PORT": "x" }', 'PORT must be integer'],
  ['two faults', '{ "PORT": "x", "LOG": 1 }', '{"faults":["PORT must be integer","LOG must be boolean"]}'],
  ['what those who use it refuse', '{ "transformers": ["broken"] }', 'transformers[0] is broken'],
] as const;

for (const [title, text, message] of wrongEdits) {
  test(`an edit is reported and not applied: ${title}`, async (t) => {
    const { store, home, applied, log } = await openStore(t, temporaryHome(t, '{ "PORT": 1 }'), { PORT: 1 });
    await writeFile(configFile(home, {}), text);
    await until(() => log.some((line) => line.startsWith('error: ') && line.includes(message)));
    t.deepEqual(store.source, { PORT: 1 });
    t.deepEqual(applied, []);
    t.is(await textOf(home), text, 'the edit is still there to be mended');
    await writeFile(configFile(home, {}), '{ "PORT": 7 }');
    await until(() => applied.at(-1)?.port === 7);
  });
}

test('a removed file is reported once, and created again by the next change', async (t) => {
  const { store, home, applied, log } = await openStore(t, temporaryHome(t, '{ "PORT": 1 }'), { PORT: 1 });
  await rm(configFile(home, {}));
  await until(() => log.length > 0);
  await store.reload();
  t.deepEqual(log, ['warn: config.json was removed; the running configuration stays in use']);
  t.deepEqual(store.source, { PORT: 1 });
  await store.replace({ PORT: 2 });
  t.is(await textOf(home), '{\n  "PORT": 2\n}\n');
  t.is(applied.length, 1);
});

test('the target of a link is watched too', async (t) => {
  const home = temporaryHome(t);
  const target = join(temporaryHome(t, '{ "PORT": 1 }'), 'config.json');
  await symlink(target, configFile(home, {}));
  const { applied } = await openStore(t, home, { PORT: 1 });
  await new Promise((resolve) => setTimeout(resolve, 300));
  await writeFile(target, '{ "PORT": 2 }');
  await until(() => applied.at(-1)?.port === 2);
  t.is(applied.length, 1);
});

/** Replaces a mounted configuration as Kubernetes does: a new folder, then the link to it, then the old folder goes. */
const swap = async (mount: string, count: number): Promise<void> => {
  const folder = join(mount, `..2026_${count}`);
  await mkdir(folder);
  await writeFile(join(folder, 'config.json'), JSON.stringify({ PORT: count }));
  await symlink(`..2026_${count}`, join(mount, '..data_tmp'));
  await rename(join(mount, '..data_tmp'), join(mount, '..data'));
  await rm(join(mount, `..2026_${count - 1}`), { recursive: true, force: true });
};

test('a mounted ConfigMap is taken up every time', async (t) => {
  const mount = temporaryHome(t);
  await swap(mount, 1);
  const file = join(mount, 'config.json');
  await symlink('..data/config.json', file);
  const env = { JUNCTOR_CONFIG: file };
  const never = 2 ** 31 - 1;
  const { store, applied } = await openStore(t, temporaryHome(t), { PORT: 0 }, { env, pollMs: never });
  for (let count = 1; count <= 5; count += 1) {
    if (count > 1) await swap(mount, count);
    await until(() => store.config.port === count);
  }
  t.deepEqual(
    applied.map(({ port }) => port),
    [1, 2, 3, 4, 5],
  );
});

test('a change that no watcher sees is found by looking, and an invalid one is reported once', async (t) => {
  const root = temporaryHome(t);
  const use = async (name: string, text: string) => {
    await mkdir(join(root, name));
    await writeFile(join(root, name, 'config.json'), text);
    await symlink(name, join(root, 'next'));
    await rename(join(root, 'next'), join(root, 'current'));
  };
  await use('one', '{ "PORT": 1 }');
  const env = { JUNCTOR_CONFIG: join(root, 'current', 'config.json') };
  const { applied, log } = await openStore(t, temporaryHome(t), { PORT: 1 }, { env, pollMs: 5 });
  await use('two', '{ "PORT": "x" }');
  await until(() => log.length > 0);
  await use('three', '{ "PORT": 3 }');
  await until(() => applied.length > 0);
  t.deepEqual(
    applied.map(({ port }) => port),
    [3],
  );
  t.is(log.filter((line) => line.startsWith('error: ')).length, 1);
});

test('own writes, comment changes and other files in the folder have no effect', async (t) => {
  const { store, home, applied } = await openStore(t, temporaryHome(t, '{ "PORT": 1 }'), { PORT: 1 });
  await store.replace({ PORT: 2 });
  await new Promise((resolve) => setTimeout(resolve, 300));
  await writeFile(configFile(home, {}), '{ "PORT": 2 } // mine');
  await writeFile(join(home, 'app.log'), '{}');
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.is(applied.length, 1);
});
