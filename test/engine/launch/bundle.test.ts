import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import test, { type ExecutionContext } from 'ava';
import { bundleOptions } from '../../../engine/launch/compile.js';

const root = resolve(import.meta.dirname, '../../..');
const execute = promisify(execFile);
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/** A place for a copy of the gateway, below a folder that has the packages of this one. */
const emptyCopy = async (t: ExecutionContext, below = '.') => {
  const top = await mkdtemp(join(tmpdir(), 'junctor-bundle-'));
  t.teardown(() => rm(top, { recursive: true, force: true }));
  const packages = join(top, 'node_modules');
  await mkdir(packages);
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (name !== '.cache') await symlink(join(root, 'node_modules', name), join(packages, name));
  }
  const folder = join(top, below);
  await mkdir(folder, { recursive: true });
  const cache = join(folder, 'node_modules', '.cache', 'junctor');
  const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> => {
    const { stdout } = await execute(process.execPath, [join(folder, 'engine/cli/junctor.js'), ...args], {
      env: { PATH: process.env.PATH ?? '', JUNCTOR_HOME: folder, ...env },
    });
    return stdout;
  };
  const bundles = async (): Promise<readonly string[]> =>
    (await readdir(cache).catch(() => [])).filter((name) => /^\d+-\d+$/.test(name));
  return { folder, cache, run, bundles };
};

/** A copy of all that is bundled, installed as a dependency: the packages are beside it. */
const copyGateway = async (t: ExecutionContext) => {
  const copy = await emptyCopy(t, 'node_modules/junctor');
  for (const part of ['engine', 'protocols', 'transformers', 'admin', 'package.json', 'tsconfig.json']) {
    await cp(join(root, part), join(copy.folder, part), { recursive: true });
  }
  return copy;
};

/** Modules that a bundle is made from. */
const programs = Object.values<string>(bundleOptions(root, root).entryPoints).filter((path) => /\.[jt]s$/.test(path));

/** A copy whose programs only print the version: the real ones take seconds to load and to compile. */
const copyLaunchers = async (t: ExecutionContext) => {
  const copy = await emptyCopy(t);
  await cp(join(root, 'engine/launch'), join(copy.folder, 'engine/launch'), { recursive: true });
  await mkdir(join(copy.folder, 'engine/cli'));
  for (const file of ['engine/cli/junctor.js', 'engine/paths.ts', 'package.json', 'tsconfig.json']) {
    await cp(join(root, file), join(copy.folder, file));
  }
  for (const file of programs) {
    const path = join(copy.folder, file);
    await mkdir(dirname(path), { recursive: true });
    const paths = relative(dirname(path), join(copy.folder, 'engine/paths.ts'));
    await writeFile(path, `import { version } from './${paths}';\nconsole.log(version);\n`);
  }
  return copy;
};

test('the first command makes the bundle, and the next ones run it', async (t) => {
  const { run, bundles, cache } = await copyLaunchers(t);
  t.is(await run(['--version']), `${version}\n`);
  const [made, ...others] = await bundles();
  t.deepEqual(others, []);
  const program = join(cache, made ?? '', 'main.mjs');
  await writeFile(program, `console.log('bundled');${await readFile(program, 'utf8')}`);
  t.regex(await run(['--version']), /bundled/, 'what runs is the bundle');
  t.deepEqual(await bundles(), [made], 'it is not made anew');
});

(process.platform === 'linux' ? test : test.skip)('the compiler is gone once the bundle is made', async (t) => {
  const { folder, cache } = await copyLaunchers(t);
  // In a process without tsx, which has a compiler of its own.
  const script = `
    import { readFileSync } from 'node:fs';
    import { setTimeout as wait } from 'node:timers/promises';
    import { compile } from ${JSON.stringify(join(root, 'engine/launch/compile.js'))};
    const children = () => readFileSync(\`/proc/\${process.pid}/task/\${process.pid}/children\`, 'utf8').trim();
    const files = await compile(${JSON.stringify(folder)}, ${JSON.stringify(cache)});
    for (let waitedMs = 0; waitedMs < 60_000 && children() !== ''; waitedMs += 20) await wait(20);
    console.log(JSON.stringify({ known: files.includes('engine/paths.ts'), children: children() }));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  t.deepEqual(
    JSON.parse(stdout),
    { known: true, children: '' },
    'beside the gateway it would keep its memory for good',
  );
});

test('an edited source is never ignored, a touched one does not matter', async (t) => {
  const { run, bundles, folder } = await copyLaunchers(t);
  const source = join(folder, 'engine/paths.ts');
  const original = await readFile(source, 'utf8');
  const says = async (word: string) => {
    await writeFile(
      source,
      original.replace(/^export const version: string = .*$/m, `export const version = '${word}';`),
    );
    return run(['--version']);
  };
  t.is(await says('one'), 'one\n');
  // As long as the one before.
  t.is(await says('two'), 'two\n');
  const before = await bundles();
  await utimes(source, new Date(), new Date(Date.now() - 3_600_000));
  t.is(await run(['--version']), 'two\n');
  t.deepEqual(await bundles(), before);
});

test('a running build of another process is kept, a killed one is replaced', async (t) => {
  const { run, bundles, cache } = await copyLaunchers(t);
  await mkdir(cache, { recursive: true });
  await writeFile(join(cache, 'lock'), String(process.pid));
  await run(['--version']);
  t.deepEqual(await bundles(), []);
  // No process has so high a number.
  await writeFile(join(cache, 'lock'), '4194305');
  await run(['--version']);
  t.is((await bundles()).length, 1);
});

test('without a place for the bundle the sources run', async (t) => {
  const { run, folder } = await copyLaunchers(t);
  await writeFile(join(folder, 'node_modules', '.cache'), 'in the way');
  t.is(await run(['--version']), `${version}\n`);
});

test('the sources run below a folder with any name', async (t) => {
  const { folder } = await copyLaunchers(t);
  const odd = join(folder, 'my tools', 'Über#50%41');
  await mkdir(odd, { recursive: true });
  for (const part of ['engine', 'package.json', 'tsconfig.json'])
    await cp(join(folder, part), join(odd, part), { recursive: true });
  const { stdout } = await execute(process.execPath, [join(odd, 'engine/cli/junctor.js'), '--version'], {
    env: { PATH: process.env.PATH ?? '', JUNCTOR_HOME: odd, JUNCTOR_BUNDLE: 'off' },
  });
  t.is(stdout, `${version}\n`);
});

test('a syntax error in a source is reported by the source loader', async (t) => {
  const { run, folder, bundles } = await copyLaunchers(t);
  await writeFile(join(folder, 'engine/paths.ts'), 'export const version = ;');
  const error = await t.throwsAsync<Error & { stderr: string }>(run(['--version']));
  t.regex(error?.stderr ?? '', /paths\.ts/);
  t.is((await bundles()).length, 0);
});

test('installed as a dependency, custom transformers in TypeScript see the packages that the bundle runs', async (t) => {
  const { run, folder, bundles, cache } = await copyGateway(t);
  await writeFile(
    join(folder, 'shout.ts'),
    `import { fail, rx, Type, transformer } from 'junctor/transformer';
    import { Observable } from 'rxjs';
    const same: boolean = rx.Observable === Observable;
    export default transformer({
      name: 'shout',
      options: Type.Object({}),
      request: (request) => fail('invalid-request', \`refused by shout, \${same}\`),
    });`,
  );
  const config = {
    Providers: [{ name: 'up', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'k', models: ['m'] }],
    Router: { default: 'up,m' },
    transformers: [{ path: 'shout.ts' }],
  };
  await writeFile(join(folder, 'config.json'), JSON.stringify(config));
  const explain = async (env = {}) => {
    const error = await t.throwsAsync<Error & { stderr: string }>(run(['explain', '--model', 'any'], env));
    t.regex(error?.stderr ?? '', /would be rejected: refused by shout, true/);
  };
  await explain();
  const [bundle = '', ...others] = await bundles();
  t.deepEqual(others, []);
  await writeFile(join(cache, bundle, 'main.mjs'), "throw new Error('what runs is the bundle')");
  await explain({ JUNCTOR_BUNDLE: 'off' });
});
