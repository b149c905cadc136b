import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { get_encoding } from 'tiktoken';
import { configSchema } from '../../engine/config/json-schema.ts';
import { addressIn, commandRig } from '../support/processes/command.ts';
import { until } from '../support/until.ts';
import { jsonAnswer, startUpstream } from '../support/upstreams/upstream.ts';

const root = resolve(import.meta.dirname, '../..');
const execute = promisify(execFile);

/** Where the packed gateway is installed. */
const folder = await mkdtemp(join(tmpdir(), 'junctor-package-'));
const packages = join(folder, 'node_modules');
const gateway = join(packages, 'junctor');

/** The environment without what an npm around the tests says of itself. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_(?:package|lifecycle|config_(?:local_)?prefix)/.test(name)),
);
const npm = (cwd: string, ...args: readonly string[]) =>
  execute('npm', [...args, '--silent'], { cwd, env, shell: process.platform === 'win32' });

/** What npm keeps of the packages that it has installed, by their folders. */
interface Lock {
  readonly packages: Readonly<Record<string, Installed>>;
}
interface Installed {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** These packages and those that they bring along, as far as they are installed. */
const broughtBy = (lock: Lock, names: readonly string[]): readonly string[] => {
  const found = new Set<string>();
  const open = [...names];
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    const row = lock.packages[`node_modules/${name}`];
    if (!row || found.has(name)) continue;
    found.add(name);
    open.push(...Object.keys({ ...row.dependencies, ...row.optionalDependencies }));
  }
  return [...found];
};

/** Files below a folder, by path, with their sizes and times. */
const filesIn = async (path: string): Promise<readonly { readonly file: string; size: number; mtimeMs: number }[]> => {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(
    files.map(async (file) => {
      const { size, mtimeMs } = await stat(file);
      return { file, size, mtimeMs };
    }),
  );
};

test.before('the package is packed and installed as a user does it', async (t) => {
  t.timeout(300_000);
  await npm(root, 'run', 'package');
  await npm(root, 'pack', './package', '--pack-destination', folder);
  const [tarball = ''] = (await readdir(folder)).filter((name) => name.endsWith('.tgz'));
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  // Packages that are in place already aren't unpacked, which takes npm many times as long as to see that they are those it wants.
  const lock: Lock = JSON.parse(await readFile(join(root, 'node_modules/.package-lock.json'), 'utf8'));
  const { dependencies }: Pick<Installed, 'dependencies'> = JSON.parse(
    await readFile(join(root, 'package/package.json'), 'utf8'),
  );
  const needed = broughtBy(lock, Object.keys(dependencies ?? {})).map((name) => `node_modules/${name}`);
  // Where this `cp` is missing, npm unpacks them.
  await execute('cp', ['-r', '--parents', ...needed, folder], { cwd: root }).catch(() => undefined);
  await npm(folder, 'install', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', join(folder, tarball));
});

test.after.always(() => rm(folder, { recursive: true, force: true }));

test('the package has what runs and nothing else, and brings little along', async (t) => {
  t.deepEqual((await readdir(gateway)).toSorted(), [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist',
    'engine',
    'package.json',
    'tsconfig.json',
    'ui',
  ]);
  const own = await filesIn(gateway);
  t.deepEqual(
    own.filter(({ file }) => /(?<!\.d)\.tsx?$|\.test\.|\.map$|\.png$|\/\.|pack\.js$/.test(file.slice(gateway.length))),
    [],
  );
  const schema: unknown = JSON.parse(await readFile(join(gateway, 'dist/config.schema.json'), 'utf8'));
  t.deepEqual(schema, configSchema());
  const lock: Lock = JSON.parse(await readFile(join(packages, '.package-lock.json'), 'utf8'));
  // Without the package itself. On Node.js 22, both releases of uWebSockets.js have a build for it, which makes one more.
  const brought = Object.keys(lock.packages).length - 1;
  const [, most] = /brings (\d+) packages at most/.exec(await readFile(join(root, 'docs/SECURITY.md'), 'utf8')) ?? [];
  t.true(brought === Number(most) || brought === Number(most) - 1, `${brought} packages`);
  const bytes = (await filesIn(packages)).reduce((sum, { size }) => sum + size, 0);
  t.true(bytes < 56_000_000, `${bytes} bytes`);
});

test('whatever runs outside the bundle is installed with it, and the bundle has the licenses of what is in it', async (t) => {
  const manifest: { readonly dependencies: object; readonly optionalDependencies: object } = JSON.parse(
    await readFile(join(gateway, 'package.json'), 'utf8'),
  );
  const direct = new Set(Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies }));
  const own: typeof manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const licenses = await readFile(join(gateway, 'dist/licenses.txt'), 'utf8');
  for (const name of Object.keys(own.dependencies)) {
    t.true(direct.has(name) || licenses.includes(`\n${name} `) || licenses.startsWith(`${name} `), name);
  }
  t.regex(licenses, /^pino-roll \d.* \(MIT\)\n\n(?:MIT License|.*Copyright)/m);
  t.true((await readFile(join(gateway, 'ui/dist/licenses.txt'), 'utf8')).includes('Meta Platforms'));
});

test('what is loaded on first use is in the package: the log, the encoding, the metrics and the client of the store', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer(answer));
  t.teardown(upstream.close);
  let greeted = (_text: string): void => undefined;
  const greeting = new Promise<string>((resolve) => {
    greeted = resolve;
  });
  const store = createServer((socket) => {
    socket.on('error', () => undefined).once('data', (bytes) => greeted(String(bytes)));
  });
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve));
  t.teardown(() => store.close());
  const place = store.address();
  const port = typeof place === 'object' ? place?.port : undefined;
  const fleet = { store: `redis://127.0.0.1:${port}`, name: 'one', key: '0123456789abcdef'.repeat(4) };
  const plain = { ...configFor(upstream.url), transformers: [], LOG: true, FLEET: fleet };
  const rig = await commandRig(t, plain, join(gateway, 'engine/cli/junctor.js'));
  const service = rig.begin(['start']);
  await service.says('Try it:');
  const address = addressIn(service.out());
  const post = async (path: string, body: object): Promise<string> =>
    (await fetch(address + path, { method: 'POST', body: JSON.stringify(body) })).text();
  const content = 'internationalization '.repeat(100);
  const request = { model: 'any', messages: [{ role: 'user', content }] };
  t.like(JSON.parse(await post('/v1/messages', { ...request, max_tokens: 9 })), { content: [{ text: 'Good day.' }] });
  const counted: { readonly input_tokens: number } = JSON.parse(await post('/v1/messages/count_tokens', request));
  const encoding = get_encoding('o200k_base');
  const tokens = encoding.encode_ordinary(content).length;
  encoding.free();
  const around = counted.input_tokens - tokens;
  t.true(around >= 0 && around < 30, `${counted.input_tokens}, of which ${tokens} are the text's`);
  t.true(content.length / 4 > tokens + 100, 'an estimate by length is told apart');
  t.regex(await (await fetch(`${address}/metrics`)).text(), /^junctor_requests_total\{.*\} 1$/m);
  t.regex(await greeting, /HELLO|CLIENT|AUTH|PING/);
  await until(async () => {
    const names = (await readdir(join(rig.home, 'logs'))).filter((name) => name.endsWith('.log'));
    const texts = await Promise.all(names.map((name) => readFile(join(rig.home, 'logs', name), 'utf8')));
    return texts.join('').includes('request completed');
  });
});

for (const { server, args } of [
  { server: '', args: ['start'] },
  { server: 'node', args: [] },
]) {
  test(`the installed command serves requests and the interface, with a custom transformer (${server || 'default'})`, async (t) => {
    const upstream = await startUpstream(() => jsonAnswer(answer));
    t.teardown(upstream.close);
    const { bin }: { readonly bin: { readonly junctor: string } } = JSON.parse(
      readFileSync(join(gateway, 'package.json'), 'utf8'),
    );
    const rig = await commandRig(t, configFor(upstream.url), join(gateway, bin.junctor));
    await copyFile(join(root, 'docs/examples/house-rules.ts'), join(rig.home, 'house-rules.ts'));
    const before = await filesIn(gateway);

    const service = rig.begin(args, { env: { JUNCTOR_HTTP: server } });
    await service.says('Try it:');
    const address = addressIn(service.out());
    if (server === 'node') t.regex(service.out(), /HTTP server +node:http/);
    const reply = await fetch(`${address}/v1/messages`, {
      method: 'POST',
      body: JSON.stringify({ model: 'any', max_tokens: 9, messages: [{ role: 'user', content: 'Hello!' }] }),
    });
    t.is(reply.status, 200);
    t.like(await reply.json(), { content: [{ type: 'text', text: 'Good day.' }] });
    t.like(upstream.requests[0]?.body, { messages: { 0: { role: 'system', content: 'Be kind.' } } });

    const page = await (await fetch(`${address}/ui`)).text();
    const linked = [...page.matchAll(/"(ui\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '');
    t.true(linked.some((path) => path.endsWith('.js')) && linked.some((path) => path.endsWith('.css')));
    const statuses = await Promise.all(linked.map(async (path) => (await fetch(`${address}/${path}`)).status));
    t.deepEqual(new Set(statuses), new Set([200]));
    t.deepEqual(await filesIn(gateway), before, 'nothing was built or written');
    t.false((await readdir(packages)).includes('.cache'));
  });
}

const configFor = (url: string) => ({
  Providers: [{ name: 'up', baseUrl: url, apiKey: 'k', models: ['m'] }],
  Router: { default: 'up,m' },
  transformers: [{ path: 'house-rules.ts', options: { rules: 'Be kind.' } }],
});

const answer = {
  id: 'a',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Good day.' } }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};

for (const { module, skipLibCheck } of [
  { module: 'nodenext', skipLibCheck: false },
  { module: 'preserve', skipLibCheck: true },
]) {
  test(`a user's own compiler finds what is wrong in a custom transformer, and nothing else (${module})`, async (t) => {
    const home = await mkdtemp(join(tmpdir(), 'junctor-types-'));
    t.teardown(() => rm(home, { recursive: true, force: true }));
    await symlink(packages, join(home, 'node_modules'), 'junction');
    // The language's own declarations are no matter of the package's.
    const compilerOptions = { strict: true, noEmit: true, skipLibCheck, skipDefaultLibCheck: true, module };
    await writeFile(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    for (const name of ['house-rules.ts', 'mask-words.ts', 'look-up.ts']) {
      await copyFile(join(root, 'docs/examples', name), join(home, name));
    }
    const good = await readFile(join(home, 'house-rules.ts'), 'utf8');
    await writeFile(join(home, 'wrong.ts'), good.replace('...request, system }', '...request, system: rules }'));
    await writeFile(
      join(home, 'wrong-event.ts'),
      "import type { ModelEvent } from 'junctor/transformer';\nexport const event: ModelEvent = { type: 'text' };\n",
    );
    const tsc = join(root, 'node_modules/typescript/bin/tsc');
    const failed = await t.throwsAsync<Error & { readonly stdout: string }>(
      execute(process.execPath, [tsc, '-p', home, '--pretty', 'false', '--singleThreaded'], { cwd: home }),
    );
    const faults = failed?.stdout.split('\n').flatMap((line) => /^(\S+)\(\d.*: error/.exec(line)?.[1] ?? []);
    t.deepEqual([...new Set(faults)].toSorted(), ['wrong-event.ts', 'wrong.ts']);
  });
}
