import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { copyFile, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { get_encoding } from 'tiktoken';
import { componentsOf } from '../../deploy/components.js';
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
/** What a release publishes. */
const released = join(folder, 'release');

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
  // As a release packs it.
  await execute(process.execPath, ['deploy/release.js', released, '--dry-run'], { cwd: root, env });
  const [tarball = ''] = (await readdir(released)).filter((name) => name.endsWith('.tgz'));
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  // Packages that are in place already aren't unpacked, which takes npm many times as long as to see that they are those it wants.
  const lock: Lock = JSON.parse(await readFile(join(root, 'node_modules/.package-lock.json'), 'utf8'));
  const { dependencies }: Pick<Installed, 'dependencies'> = JSON.parse(
    await readFile(join(root, 'package/package.json'), 'utf8'),
  );
  const needed = broughtBy(lock, Object.keys(dependencies ?? {})).map((name) => `node_modules/${name}`);
  // Where this `cp` is missing, npm unpacks them.
  await execute('cp', ['-r', '--parents', ...needed, folder], { cwd: root }).catch(() => undefined);
  await npm(folder, 'install', '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', join(released, tarball));
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
  // The second build of uWebSockets.js has 7 MB.
  t.true(bytes < (brought === Number(most) ? 67_000_000 : 60_000_000), `${bytes} bytes`);
});

test("a release's checksums are those of its files, which say how it was made", async (t) => {
  const read = (name: string): Promise<Buffer> => readFile(join(released, name));
  const { version }: { readonly version: string } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const names = [`junctor-${version}.cdx.json`, `junctor-${version}.tgz`, 'release.json'];
  t.deepEqual((await readdir(released)).toSorted(), ['SHA256SUMS', ...names]);
  const sums = await Promise.all(
    names.map(
      async (name) =>
        `${createHash('sha256')
          .update(await read(name))
          .digest('hex')}  ${name}\n`,
    ),
  );
  t.is(String(await read('SHA256SUMS')), sums.join(''));
  const made: object = JSON.parse(String(await read('release.json')));
  t.like(made, { version, node: process.version });
  const list: unknown = JSON.parse(String(await read(`junctor-${version}.cdx.json`)));
  t.deepEqual(list, componentsOf(root));
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
  t.true(licenses.includes('\nlibsql '));
  t.regex(licenses, /^pino-roll \d.* \(MIT\)\n\n(?:MIT License|.*Copyright)/m);
  t.true((await readFile(join(gateway, 'ui/dist/licenses.txt'), 'utf8')).includes('Jason Miller'));
});

test('what is loaded on first use is in the package: the log, the encoding, the metrics, the client of the store and SQLite', async (t) => {
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
  // SQLite: that of Node.js, else libSQL.
  await until(() => existsSync(join(rig.home, 'requests.db')));
  const kept = await fetch(`${address}/api/history`);
  t.is(kept.status, 200, await kept.text());
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

test('a newcomer follows the page on tests: writes a stage, tests it, tries it, and uses it', async (t) => {
  const upstream = await startUpstream(({ body }) => {
    const said = String(Object(body).messages.at(-1).content);
    return jsonAnswer({
      ...answer,
      choices: [{ ...answer.choices[0], message: { role: 'assistant', content: said } }],
    });
  });
  t.teardown(upstream.close);
  const page = await readFile(join(root, 'docs/testing-stages.md'), 'utf8');
  const [, block = ''] = /```sh\n(.*?)```/s.exec(page) ?? [];
  const [, entry = ''] = /```json\n(.*?)```/s.exec(page) ?? [];
  const rig = await commandRig(t, undefined, join(gateway, 'engine/cli/junctor.js'));
  // The package is installed already: what the page's first command would fetch.
  await symlink(packages, join(rig.home, 'node_modules'), 'junction');
  await writeFile(join(rig.home, 'package.json'), '{"devDependencies":{"junctor":"*"}}');
  const [install = '', ...commands] = block.trim().split('\n');
  t.is(install, 'npm install --save-dev junctor');
  t.is(commands.length, 3);
  const said: string[] = [];
  for (const command of commands) {
    const { stdout } = await execute('bash', ['-c', command], {
      cwd: rig.home,
      env: { ...env, JUNCTOR_HOME: rig.home },
    });
    said.push(stdout);
  }
  const [written = '', tested = '', tried = ''] = said;
  const [, file = ''] = /^Wrote (mask\.[jt]s) and mask\.test\.[jt]s\.$/m.exec(written) ?? [];
  t.regex(tested, /^# pass 3$|ℹ pass 3$/m);
  t.regex(tried, /^answer {4}.*"Ada was a countess\."$/m);
  t.regex(tried, /^cuts {6}\d+ places, no difference$/m);

  const added: object = JSON.parse(entry.replace('mask.ts', file));
  await writeFile(join(rig.home, 'config.json'), JSON.stringify({ ...configFor(upstream.url), PORT: 0, ...added }));
  const service = rig.begin(['start']);
  await service.says('Try it:');
  const reply = await fetch(`${addressIn(service.out())}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ model: 'any', max_tokens: 9, messages: [{ role: 'user', content: 'I am Ada Lovelace.' }] }),
  });
  t.like(await reply.json(), { content: [{ type: 'text', text: 'I am Ada Lovelace.' }] });
  t.regex(JSON.stringify(upstream.requests[0]?.body), /I am \[\[0\]\]\./);
});

for (const server of ['', 'node']) {
  test(`the installed command measures the gateway beside the bare stack (${server || 'default'})`, async (t) => {
    const rig = await commandRig(t, undefined, join(gateway, 'engine/cli/junctor.js'));
    const args = ['--quick', '--pairs', 'messages-chat,responses-gemini', '--rounds', '1', '--round-ms', '30'];
    const { code, out, err } = await rig.run(['bench', ...args], { env: { JUNCTOR_HTTP: server } });
    // The newest Node.js may have no build of uWebSockets.js that runs here; then nothing else is measured in its place.
    if (server === '' && Number.parseInt(process.versions.node, 10) >= 24 && code !== 0) {
      t.regex(err, /node:http would serve\. No build of uWebSockets\.js runs here .* set JUNCTOR_HTTP=node\./);
      return;
    }
    t.is(code, 0, err);
    t.regex(out, server === 'node' ? /^Node [\d.]+, node:http, / : /^Node [\d.]+, /);
    t.regex(out, /^responses→gemini, WebSocket +[\d,.]+ /m);
  });
}

/** The test runner replaces it where it stands as a whole. */
const ownAddress = ['import.meta', 'url'].join('.');

test('a stage with a copy of RxJS of its own is tested like any other, and as a file it gets the gateway’s', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'junctor-rxjs-'));
  t.teardown(() => rm(home, { recursive: true, force: true }));
  await symlink(packages, join(home, 'node_modules'), 'junction');
  await writeFile(
    join(home, 'own.mjs'),
    `import { concatMap, isObservable, map, Observable, of } from 'rxjs';
import { rx, transformer } from 'junctor/transformer';
const half = transformer({
  name: 'half',
  operators: () => ({ request: (source) => source.pipe(concatMap(async (request) => ({ ...request, temperature: 0 }))), events: (source) => source.pipe(map((batch) => batch)) }),
});
export { half };
export default transformer({
  name: 'own',
  around: (request, next, context) => {
    context.log(String(rx.Observable === Observable));
    return of(request).pipe(concatMap((given) => next(given)), map((batch) => batch));
  },
});
`,
  );
  await writeFile(
    join(home, 'own.test.mjs'),
    `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyCut, everyLeave, testStage } from 'junctor/testing';
import own, { half } from './own.mjs';

for (const stage of [own, half, new URL('./own.mjs', ${ownAddress})]) {
  test('a stage', async () => {
    const { text, log } = await testStage({ stage });
    assert.equal(text, 'Hello there!');
    if (stage !== half) assert.equal(log[0].text, String(stage instanceof URL));
    assert.ok((await everyCut({ stage })) > 10);
    assert.ok((await everyLeave({ stage })) > 5);
  });
}
test('a failure is an assertion', () =>
  assert.rejects(testStage({ stage: { name: 'x', around: () => 3 } }), { name: 'AssertionError', code: 'ERR_ASSERTION' }));
`,
  );
  const { stdout } = await execute(process.execPath, ['--test', 'own.test.mjs'], {
    cwd: home,
    env: { ...env },
  });
  t.regex(stdout, /^# pass 4$|ℹ pass 4$/m);
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
    for (const name of ['house-rules.ts', 'mask-words.ts', 'look-up.ts', 'mask.ts']) {
      await copyFile(join(root, 'docs/examples', name), join(home, name));
    }
    const tested = await readFile(join(root, 'docs/examples/mask.test.ts'), 'utf8');
    // Its runner's types are no matter of the package's, and without them there is no other module's name.
    const types =
      'declare const assert: { equal: (one: unknown, other: unknown) => void; deepEqual: (one: unknown, other: unknown) => void };\ndeclare const test: (title: string, run: () => Promise<void>) => void;\n';
    const importing = tested.replace(/^import .* from 'node:.*\n/gm, '').replace('./mask.ts', './mask.js');
    await writeFile(join(home, 'mask.test.ts'), types + importing);
    await writeFile(join(home, 'wrong-test.ts'), types + importing.replace("request: 'Who is Ada?'", 'request: 3'));
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
    t.deepEqual([...new Set(faults)].toSorted(), ['wrong-event.ts', 'wrong-test.ts', 'wrong.ts']);
  });
}
