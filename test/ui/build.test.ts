import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { lockBuild } from '../../engine/launch/stale-build.js';

const root = resolve(import.meta.dirname, '../..');

/** A folder with an interface that is quickly built. */
const smallSources = async (t: ExecutionContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-build-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', ...own]) {
    await cp(join(root, name), join(folder, name), { recursive: true });
  }
  await writeFile(
    join(folder, 'ui/src/main.tsx'),
    "import './style/tokens.css';\nimport { title } from './title.ts';\nvoid import('./page.tsx').then(({ show }) => show(title));\n",
  );
  await writeFile(join(folder, 'ui/src/title.ts'), "export const title = 'Overview';\n");
  await writeFile(join(folder, 'ui/src/late.css'), '.late { margin: 0 }');
  await writeFile(
    join(folder, 'ui/src/page.tsx'),
    "import './late.css';\nimport { createRoot } from 'react-dom/client';\nimport { title } from './title.ts';\nexport const show = (text: string) => createRoot(document.body).render(<p title={title}>{text}</p>);\n",
  );
  return folder;
};

const buildScript = ['ui/build.js', 'engine/launch/licenses.js', 'engine/launch/stale-build.js'];
const own = [...buildScript, 'ui/tsconfig.json', 'ui/index.html', 'ui/src/style'];

const build = (
  folder: string,
  ...options: readonly string[]
): Promise<{ readonly code: number | null; readonly says: string }> =>
  new Promise((done) => {
    const child = spawn(process.execPath, [join(folder, 'ui/build.js'), ...options], { cwd: tmpdir() });
    let says = '';
    child.stderr.on('data', (data) => {
      says += data;
    });
    child.on('close', (code) => done({ code, says }));
  });

const madeAtMs = async (folder: string): Promise<number> => (await stat(join(folder, 'ui/dist/index.html'))).mtimeMs;

test('a build writes hashed files, and is repeated only if a source changed', async (t) => {
  const folder = await smallSources(t);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  t.deepEqual(await build(folder), { code: 0, says: '' });
  const page = await readFile(join(folder, 'ui/dist/index.html'), 'utf8');
  t.regex(page, /<script type="module" src="ui\/assets\/index-[\w-]{8}\.js"><\/script>/);
  t.notRegex(page, /<style|<script(?! type="module" src=)|https?:|data:/, 'nothing that a strict policy refuses');
  const assets = await readdir(join(folder, 'ui/dist/assets'));
  const linked = [...page.matchAll(/"ui\/assets\/([^"]+)"/g)].map(([, name]) => name ?? '');
  t.deepEqual(
    linked.map((name) => name.replace(/-[\w-]{8}\./, '-*.')),
    ['mark-*.svg', 'index-*.css', 'geist-*.woff2', 'chunk-*.js', 'index-*.js'],
    'the page names all that it starts with, and nothing that is loaded later',
  );
  t.deepEqual(
    linked.filter((name) => !assets.includes(name)),
    [],
  );
  t.deepEqual(assets.map((name) => name.replace(/-[\w-]{8}\./, '-*.')).toSorted(), [
    'chunk-*.js',
    'geist-*.woff2',
    'index-*.css',
    'index-*.js',
    'mark-*.svg',
    'page-*.js',
  ]);
  const sheet = await readFile(join(folder, 'ui/dist/assets', linked[1] ?? ''), 'utf8');
  t.true(sheet.includes('.late{'), 'the styles of what is loaded later are there from the start');
  const script = await readFile(
    join(folder, 'ui/dist/assets', assets.find((name) => name.startsWith('page-')) ?? ''),
    'utf8',
  );
  t.true(script.length > 10_000 && script.length < 40_000, `${script.length}: Preact in the place of React`);

  const licenses = await readFile(join(folder, 'ui/dist/licenses.txt'), 'utf8');
  t.regex(licenses, /^preact \d.* \(MIT\)\n\nThe MIT License \(MIT\)\n/m);

  const made = await madeAtMs(folder);
  t.is((await build(folder)).code, 0);
  t.is(await madeAtMs(folder), made, 'nothing was to do');
  await writeFile(join(folder, 'ui/src/late.css'), '.later { margin: 0 }');
  // As a build leaves it that was killed: no process has so high a number.
  await writeFile(join(folder, 'ui/.building'), '4194305');
  await mkdir(join(folder, 'ui/.dist-4194305'));
  const anew = await Promise.all([build(folder), build(folder)]);
  t.deepEqual(anew, [
    { code: 0, says: '' },
    { code: 0, says: '' },
  ]);
  t.true((await madeAtMs(folder)) > made, 'one of two waits for the other');
  t.deepEqual(
    (await readdir(join(folder, 'ui'))).filter((name) => name.startsWith('.')),
    [],
    'nothing is left over',
  );
});

test('the lock of a process that is gone is taken over by one alone', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-build-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const lock = join(folder, '.building');
  const gone = '4194305';
  await writeFile(lock, gone);
  const { kill } = process;
  t.teardown(() => {
    process.kill = kill;
  });
  const faster = String(process.ppid);
  // While this process finds that the holder is gone, a faster one takes the lock over.
  process.kill = (pid, signal) => {
    if (pid === Number(gone)) writeFileSync(lock, faster);
    return kill.call(process, pid, signal);
  };
  const unlock = lockBuild(lock);
  process.kill = kill;
  t.is(unlock, undefined);
  t.is(await readFile(lock, 'utf8'), faster);
  await writeFile(lock, gone);
  lockBuild(lock)?.();
  t.deepEqual(await readdir(folder), []);
});

test('missing packages are reported, and fail the build only without --optional', async (t) => {
  const folder = await smallSources(t);
  const failed = await build(folder);
  t.is(failed.code, 1);
  t.regex(failed.says, /^Could not build the web interface: the development packages are not installed\n$/);
  t.is((await build(folder, '--optional')).code, 0);
  // As `npm install --omit=dev` leaves it.
  for (const name of ['esbuild', '@esbuild']) {
    await mkdir(join(folder, 'node_modules'), { recursive: true });
    await symlink(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  }
  t.deepEqual(await build(folder), failed);
});

test('a bundler without a build for this platform is reported in one line and does not stop a start', async (t) => {
  const folder = await smallSources(t);
  // The package alone, without the one that holds the platform's program.
  await cp(join(root, 'node_modules/esbuild'), join(folder, 'node_modules/esbuild'), { recursive: true });
  const line = /^Could not build the web interface: .*esbuild.* Run `npm install` again on this machine\.\n$/;
  const optional = await build(folder, '--optional');
  t.is(optional.code, 0);
  t.regex(optional.says, line);
  const asked = await build(folder);
  t.is(asked.code, 1);
  t.regex(asked.says, line);
  t.false((await readdir(join(folder, 'ui'))).includes('.building'));
});

test('with --watch, a change is built', async (t) => {
  const folder = await smallSources(t);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  const child = spawn(process.execPath, [join(folder, 'ui/build.js'), '--watch'], { stdio: 'pipe' });
  // It may be about to build again. Its bundler, which has its standard error, ends after it.
  const closed = once(child.stderr.resume(), 'close');
  t.teardown(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  const built = on(child.stdout, 'data');
  await built.next();
  await writeFile(join(folder, 'ui/src/late.css'), '.later { margin: 0 }');
  await built.next();
  const assets = await readdir(join(folder, 'ui/dist/assets'));
  const sheet = assets.find((name) => name.endsWith('.css')) ?? '';
  t.regex(await readFile(join(folder, 'ui/dist/assets', sheet), 'utf8'), /\.later\{/);
});

test('without sources, nothing is built', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-build-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  for (const name of buildScript) await cp(join(root, name), join(folder, name));
  t.deepEqual(await build(folder), { code: 0, says: '' });
});
