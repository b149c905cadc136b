import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import test from 'ava';
import { request } from 'undici';
import { keyCheck } from '../../engine/http/access/access.ts';
import { startGateway } from '../support/gateway.ts';
import { chatReply } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../support/upstreams/upstream.ts';

const root = resolve(import.meta.dirname, '../..');
const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

test('S11 JSON nested deeper than LIMITS.jsonDepth is refused everywhere, also where a configuration is posted', async (t) => {
  const gateway = await startGateway({ LOG: false });
  t.teardown(gateway.stop);
  const post = async (path: string, body: string) => {
    const answer = await request(`${gateway.baseUrl}${path}`, { method: 'POST', body });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  for (const path of [
    '/v1/messages',
    '/v1/responses',
    '/chat/completions',
    '/v1/messages/count_tokens',
    '/api/config',
    '/api/config/restore',
    '/api/explain',
  ]) {
    for (const levels of [257, 100_000]) {
      const { status, text } = await post(path, nested(levels));
      t.is(status, 400, `${path} ${levels}`);
      t.regex(text, /nested deeper than 256 levels/, path);
    }
  }
  t.deepEqual(await (await request(`${gateway.baseUrl}/api/config`)).body.json(), { LOG: false });
});

test('S13 prototypes stay, and what is relayed stays as written: duplicate keys, huge numbers, lone surrogates', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer(chatReply('ok')));
  const provider = { name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] };
  const gateway = await startGateway({ LOG: false, Providers: [provider] });
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const odd =
    '"seed":12345678901234567890123,"x_big":1e400,"x_small":-0.0,"x_twice":1,"x_twice":2,"x_half":"\\ud800",' +
    '"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}';
  const body = `{"model":"p,m",${odd},"messages":[{"role":"user","content":"hi \\udc00"}]}`;
  const answer = await request(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', body });
  t.is(answer.statusCode, 200);
  await answer.body.dump();
  t.is(upstream.requests[0]?.text, body.replace('"p,m"', '"m"'));
  const other = await request(`${gateway.baseUrl}/v1/messages`, {
    method: 'POST',
    body: `{"model":"p,m","max_tokens":9,${odd},"messages":[{"role":"user","content":"hi","__proto__":{"polluted":true}}]}`,
  });
  await other.body.dump();
  t.false('polluted' in {});
});

/** Hosts that a request may not make the gateway call: its own machine, its network, a cloud's metadata. */
const traps = [
  'http://127.0.0.1:{port}/x.png',
  'http://localhost:{port}/x.pdf',
  'http://[::1]:{port}/x',
  'http://169.254.169.254/latest/meta-data',
];

test('S14 no URL in a request is ever fetched, for any vendor', async (t) => {
  let fetched = 0;
  const trap = createServer((_, answer) => {
    fetched += 1;
    answer.end();
  });
  await new Promise<void>((done) => {
    trap.listen(0, '127.0.0.1', done);
  });
  // The border to Node: a server that listens on a port has an address of this form.
  const { port } = trap.address() as AddressInfo;
  const upstream = await startUpstream(() => jsonAnswer({ error: { message: 'no' } }, 400));
  const names = ['openai', 'anthropic', 'deepseek', 'gemini', 'openrouter', 'groq'];
  const gateway = await startGateway({
    LOG: false,
    Providers: names.map((name) => ({ name, baseUrl: upstream.url, apiKey: 'k', models: ['m'] })),
    transformers: names.map((name) => ({ name, provider: name })),
  });
  t.teardown(async () => {
    trap.close();
    await gateway.stop();
    await upstream.close();
  });
  for (const name of names) {
    for (const url of traps.map((trapped) => trapped.replace('{port}', String(port)))) {
      const model = `${name},m`;
      const ask = { model, max_tokens: 9 };
      const user = (part: object) => [{ role: 'user', content: [part] }];
      const image = { type: 'image', source: { type: 'url', url } };
      const document = { type: 'document', source: { type: 'url', url } };
      const bodies = [
        ['/v1/messages', { ...ask, messages: user(image) }],
        ['/v1/messages', { ...ask, messages: user(document) }],
        ['/v1/messages/count_tokens', { model, messages: user(image) }],
        ['/v1/chat/completions', { ...ask, messages: user({ type: 'image_url', image_url: { url } }) }],
        ['/v1/responses', { model, input: user({ type: 'input_image', image_url: url }) }],
        ['/v1/responses', { model, input: user({ type: 'input_file', file_url: url }) }],
      ] as const;
      for (const [path, body] of bodies) {
        const answer = await request(`${gateway.baseUrl}${path}`, { method: 'POST', body: JSON.stringify(body) });
        await answer.body.dump();
      }
    }
  }
  t.is(fetched, 0);
  t.true(upstream.requests.length > 30, `the vendors were asked: ${upstream.requests.length}`);
});

const sourcesOf = (folder: string): readonly string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.[jt]s$/.test(file))
    .map((file) => `${folder}/${file}`);

/** Who may open a connection or look up a name: the edge to the vendors, and the command when it talks to its own service. */
/** The edge to the vendors; programs of their own, which serve nobody: the command, and the bench. */
const mayConnect = /^engine\/(?:upstream\/|cli\/|bench\/)/;
const mayAskDirectly: readonly string[] = [
  // Asks for model servers at four loopback ports, at a first start without keys or when the administrator asks; no text of a request.
  'engine/endpoints/local-servers.ts',
  // Asks whether the port of this very folder's service is open, before anything is served.
  'engine/service/workers/find-service.ts',
];
const listensOnly = new Map([
  ['engine/http/bind.ts', ['createServer']],
  ['engine/http/bind.ts', ['createServer', 'isIPv4']],
  ['engine/http/access/access.ts', ['BlockList', 'isIPv4', 'isIPv6']],
  ['engine/http/host-name.ts', ['isIPv4', 'isIPv6']],
  ['engine/hub/redis-link.ts', ['isIP']],
  ['engine/config/sections/service-settings.ts', ['isIPv4', 'isIPv6']],
  ['engine/http/uws/uws-server.ts', ['STATUS_CODES']],
  // Both belong to connections that clients have opened.
  ['engine/http/node/node-socket.ts', ['IncomingMessage', 'ServerResponse']],
  ['engine/http/node/node-server.ts', ['createServer', 'STATUS_CODES', 'Server as NetServer']],
  // Asks programs on this machine alone, for `mayAskDirectly`.
  ['engine/runtime/ask-directly.ts', ['request']],
]);

test('S14 nothing but the edge to the vendors can open a connection', (t) => {
  const sources = ['engine', 'protocols', 'transformers', 'admin'].flatMap(sourcesOf);
  t.true(sources.length > 200, 'the sources were found');
  const found = sources
    .filter((file) => !mayConnect.test(file))
    .flatMap((file) => {
      const code = readFileSync(join(root, file), 'utf8');
      const imports = [
        ...code.matchAll(
          /^import (type )?([^;]*?) from '(node:(?:net|tls|http|https|http2|dgram|dns)(?:\/\w+)?|undici)'/gm,
        ),
      ];
      const values = imports.flatMap(([, type, names = '']) =>
        type
          ? []
          : names
              .replace(/[{}]/g, '')
              .split(',')
              .map((name) => name.trim())
              .filter((name) => name !== '' && !name.startsWith('type ')),
      );
      const allowed = listensOnly.get(file) ?? [];
      const calls = /(?<![.\w`])(?:fetch|WebSocket|EventSource)\s*\(/.test(code) ? ['fetch'] : [];
      return [...values, ...calls].filter((name) => !allowed.includes(name)).map((name) => `${file}: ${name}`);
    });
  t.deepEqual(found, []);
  const asking = sources.filter(
    (file) => !mayConnect.test(file) && /\/ask-directly\.ts'/.test(readFileSync(join(root, file), 'utf8')),
  );
  t.deepEqual(asking.toSorted(), mayAskDirectly);
});

test('S16 keys are compared over equal lengths, in constant time', (t) => {
  const code = readFileSync(join(root, 'engine/http/access/access.ts'), 'utf8');
  t.regex(code, /timingSafeEqual\(writeKey\(block, given\), expected\)/);
  t.regex(code, /timingSafeEqual\(digest\(given\), expected\)/);
  t.regex(code, /timingSafeEqual\(hashed, client\.digest\)/);
  // Of any length, only the key itself is accepted; comparing texts of different length would be an error.
  for (const size of [64, 128, 129, 5_000]) {
    for (const letter of ['k', 'é', '密']) {
      const check = keyCheck({ apiKey: letter.repeat(size) });
      for (const length of [60_000, 0, 1, size - 1, size, size + 1, 127, 128, 129, 2 * size, 3 * size]) {
        const owner = check(['x-api-key', letter.repeat(length)]);
        t.is(owner?.type, length === size ? 'administrator' : undefined, `${letter} ${size} ${length}`);
      }
      t.is(check(['x-api-key', `${letter.repeat(size - 1)}\0`]), undefined);
    }
  }
  const others = ['engine', 'admin']
    .flatMap(sourcesOf)
    // Tells the provider's own keys apart, none that a client gave.
    .filter((file) => file !== 'engine/operators/retry/retry.ts')
    .filter((file) => /apiKey\s*[!=]==?\s*(?!undefined|'')\w/.test(readFileSync(join(root, file), 'utf8')));
  t.deepEqual(others, [], 'no other comparison of a key');
});

interface Lock {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly version?: string;
        readonly integrity?: string;
        readonly link?: boolean;
        readonly dev?: boolean;
        readonly hasInstallScript?: boolean;
        readonly dependencies?: Readonly<Record<string, string>>;
      }
    >
  >;
}
interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

test('S17 exact versions, a lock with integrity, no install scripts, few direct packages', (t) => {
  const lock: Lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const manifest: Manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const { devDependencies, allowScripts } = manifest;
  const dependencies = { ...manifest.dependencies, ...manifest.optionalDependencies };
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    t.regex(version, /^(?:npm:@?[\w./-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/, name);
  }
  const installed = Object.entries(lock.packages).filter(([path, { link }]) => path !== '' && !link);
  // Native builds that the registry of the releases doesn't serve have no hash in the lock file. A recorded build is compared
  // with its own hash before any of it runs, wherever it came from.
  t.deepEqual(
    installed
      .filter(
        ([path, { integrity }]) => !/^sha512-/.test(integrity ?? '') && !/node_modules\/@uwsjs\/[^/]+$/.test(path),
      )
      .map(([path]) => path),
    [],
  );
  const scripted = installed
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
  t.deepEqual(
    scripted.filter((name) => allowScripts[name] !== false),
    [],
    'packages that would run code while they are installed',
  );
  // Two releases of one package count once, and so does nothing that another package brings along anyway.
  const brought = new Set(installed.flatMap(([, row]) => (row.dev ? [] : Object.keys(row.dependencies ?? {}))));
  const direct = new Set(
    Object.entries(dependencies)
      .filter(([name]) => !brought.has(name))
      .map(([name, version]) => /^npm:(.+)@/.exec(version)?.[1] ?? name),
  );
  t.true(direct.size <= 18, [...direct].join(' '));
});

test('S18 no code or configuration is read from the working directory, and no reference is evaluated', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'junctor-cwd-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const proof = join(folder, 'ran');
  const run = `require('node:fs').writeFileSync(${JSON.stringify(proof)}, 'ran')`;
  const files: Readonly<Record<string, string>> = {
    'config.json': '{ "PORT": 1, "transformers": [{ "path": "evil.js" }] }',
    'evil.js': run,
    'junctor.config.js': run,
    'tsconfig.json': '{ "compilerOptions": { "paths": { "*": ["./evil.js"] } } }',
    'package.json': '{ "main": "evil.js", "imports": { "#x": "./evil.js" } }',
    '.env': `NODE_OPTIONS=--require=${join(folder, 'evil.js')}\nAPIKEY=from-dotenv\n`,
    '.npmrc': 'node-options=--require=./evil.js\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const home = mkdtempSync(join(tmpdir(), 'junctor-'));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  writeFileSync(
    join(home, 'config.json'),
    JSON.stringify({
      PORT: 0,
      Providers: [
        {
          name: 'p',
          baseUrl: 'http://127.0.0.1:1',
          apiKey: `$(touch ${proof})`,
          models: ['$' + '{process.exit(7)}', `\`touch ${proof}\``],
        },
      ],
    }),
  );
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'engine/cli/junctor.js'), 'config', 'check'],
    {
      cwd: folder,
      env: { ...process.env, JUNCTOR_HOME: home },
      encoding: 'utf8',
    },
  );
  t.is(status, 0, stdout + stderr);
  t.throws(() => readFileSync(proof), { code: 'ENOENT' });
  const sources = ['engine', 'protocols', 'transformers', 'admin'].flatMap(sourcesOf);
  const evaluating = sources.filter((file) =>
    /\beval\(|new Function\(|node:vm|\.runIn\w*Context/.test(readFileSync(join(root, file), 'utf8')),
  );
  t.deepEqual(evaluating, []);
});
