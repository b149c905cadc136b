import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { target } from '../../docs/examples/my-gateway.ts';
import { type BenchOptions, readOptions, readRemote } from '../../engine/bench/options.ts';
import { createProgram } from '../../engine/cli/commands/commands.ts';
import { parseConfig } from '../../engine/config/parse.ts';
import { ConfigFile } from '../../engine/config/schema.ts';
import { isJsonObject, type JsonObject } from '../../engine/model/json/json.ts';
import { startGateway } from '../support/gateway.ts';
import { addressIn, bin, commandRig } from '../support/processes/command.ts';
import { chatReply, chatStream } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, sseAnswer, startUpstream } from '../support/upstreams/upstream.ts';

// Every block of the README and of the pages for users is run or checked; one of a language without a rule fails.

const root = resolve(import.meta.dirname, '../..');
const docs = join(root, 'docs');

interface Block {
  /** The page and the line of its first line. */
  readonly at: string;
  readonly language: string;
  readonly text: string;
}

const blocksOf = (page: string, text: string): readonly Block[] =>
  [...text.matchAll(/^( *)```(.*)\n([\s\S]*?)^ *```$/gm)].map(
    ({ index, 1: indent = '', 2: language = '', 3: body = '' }) => ({
      at: `${page}:${text.slice(0, index).split('\n').length + 1}`,
      language,
      text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );

const pages = [
  'README.md',
  ...(await readdir(docs)).filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`),
];
const texts = await Promise.all(pages.map(async (page) => ({ page, text: await readFile(join(root, page), 'utf8') })));
const blocks = texts.flatMap(({ page, text }) => blocksOf(page, text));
const contributors = await Promise.all(
  (await readdir(join(docs, 'contributing'))).map(async (page) =>
    blocksOf(page, await readFile(join(docs, 'contributing', page), 'utf8')),
  ),
);
const blocksIn = (...languages: readonly string[]): readonly Block[] =>
  blocks.filter(({ language }) => languages.includes(language));

test('every block is of a language that has a rule below', (t) => {
  const known = ['ini', 'json', 'jsonc', 'sh', 'text', 'ts'];
  t.deepEqual(
    blocks.filter(({ language }) => !known.includes(language)).map(({ at, language }) => `${at}: ${language}`),
    [],
  );
  const fences = texts.flatMap(({ text }) => text.match(/^ *```/gm) ?? []);
  t.is(blocks.length, fences.length / 2);
});

/** Pages of functions that most users don't need, which are short. */
const furtherPages = [
  'docs/SECURITY.md',
  'docs/agents.md',
  'docs/around.md',
  'docs/benchmark.md',
  'docs/captures.md',
  'docs/clients.md',
  'docs/clouds.md',
  'docs/comparison.md',
  'docs/credentials.md',
  'docs/decides.md',
  'docs/doctor.md',
  'docs/fleet.md',
  'docs/gallery.md',
  'docs/history.md',
  'docs/hosts.md',
  'docs/judge.md',
  'docs/kubernetes.md',
  'docs/local-models.md',
  'docs/losses.md',
  'docs/memory.md',
  'docs/models.md',
  'docs/performance.md',
  'docs/pools.md',
  'docs/privacy.md',
  'docs/reasoning.md',
  'docs/responses.md',
  'docs/rules.md',
  'docs/search.md',
  'docs/see.md',
  'docs/taught.md',
  'docs/telemetry.md',
  'docs/testing-stages.md',
  'docs/troubleshooting.md',
  'docs/upgrading.md',
  'docs/usage.md',
  'docs/web-interface.md',
];

/** What isn't read from beginning to end: the model's page is written from its types. */
const lookedUp = ['README.md', 'docs/model.md'];
/** Nor are the tables of a run of the bench, which stand between marks. */
const figures = /<!-- figures: [\s\S]*<!-- end of the figures -->/;

test('the pages for users are read in an hour', (t) => {
  const counts = texts
    .filter(({ page }) => !lookedUp.includes(page))
    .map(({ page, text }) => ({ page, words: text.replace(figures, '').match(/\S+/g)?.length ?? 0 }));
  const [further, usual] = [true, false].map((is) => counts.filter(({ page }) => furtherPages.includes(page) === is));
  t.deepEqual(
    further?.filter(({ words }) => words > 900),
    [],
  );
  const sum = usual?.reduce((total, { words }) => total + words, 0) ?? 0;
  t.true(sum <= 12_000, `${sum} words`);
});

test('text: what the service prints at its first start', async (t) => {
  const rig = await commandRig(t);
  const service = rig.begin(['start'], { env: { JUNCTOR_PORT: '0' } });
  await service.says('Try it');
  const printed = service
    .out()
    .replaceAll(addressIn(service.out()), 'http://127.0.0.1:3456')
    .replaceAll(rig.home, '~/.junctor')
    .split('\n');
  for (const { at, text } of blocksIn('text')) {
    t.deepEqual(
      text
        .trimEnd()
        .split('\n')
        .filter((line) => !printed.includes(line)),
      [],
      at,
    );
  }
});

test('ts: each block is a file of docs/examples, which the compiler checks; each transformer loads', async (t) => {
  const files = new Map<string, string>();
  for (const name of await readdir(join(docs, 'examples')))
    files.set(name, await readFile(join(docs, 'examples', name), 'utf8'));
  for (const { at, text } of blocksIn('ts')) t.true([...files.values()].includes(text), at);
  t.is(target.name, 'my-gateway');

  const modules = [...files].filter(([, text]) => text.includes('transformer({'));
  const options = {
    ...{ rules: 'Be brief.', words: ['hush'], url: 'http://127.0.0.1:9' },
    ...{ minutes: 1, names: ['Ada'], guard: 'p,m', other: 'p,m', judge: 'p,m', seer: 'p,m' },
  };
  const gateway = await startGateway(
    {
      LOG: false,
      Providers: [{ name: 'p', baseUrl: 'http://127.0.0.1:9', apiKey: 'k', models: ['m'] }],
      transformers: modules.map(([path]) => ({ path, options })),
    },
    {},
    { files: Object.fromEntries(modules) },
  );
  t.teardown(gateway.stop);
  t.true(modules.length >= 4);
  const faults = gateway.reports.filter((line) => !line.includes('is unknown'));
  t.deepEqual(faults, []);
});

test('ts: each block of the pages for contributors is a file of docs/examples or transformers', async (t) => {
  const files = await Promise.all(
    [join(docs, 'examples'), join(root, 'transformers')].map(async (folder) =>
      Promise.all(
        (await readdir(folder))
          .filter((name) => name.endsWith('.ts'))
          .map((name) => readFile(join(folder, name), 'utf8')),
      ),
    ),
  );
  const found = contributors.flat();
  t.deepEqual(
    [...new Set(found.map(({ language }) => language))].toSorted(),
    ['', 'sh', 'ts'],
    'drawings, commands, sources',
  );
  for (const { at, language, text } of found) if (language === 'ts') t.true(files.flat().includes(text), at);
});

/** Providers that fragments of a configuration may refer to. */
const providers = [
  ['anthropic', 'claude-opus-5-5', 'claude-haiku-5-5'],
  ['openai', 'gpt-6.2-sol'],
  ['google', 'gemini-4-carbon'],
  ['deepseek', 'deepseek-flash'],
  ['azure', 'gpt-6.2-sol'],
  ['local', 'qwen3.8-27b'],
].map(([name, ...models]) => ({ name, baseUrl: 'https://models.example', apiKey: 'k', models }));

/** The whole configuration that a block is, or is a part of; `undefined` for anything else. */
const configurationOf = (block: JsonObject): JsonObject | undefined => {
  const names = Object.keys(block);
  if (names.length > 0 && names.every((name) => name in ConfigFile.properties))
    return { Providers: providers, ...block };
  if ('baseUrl' in block) return { Providers: [block] };
  if ('name' in block || 'path' in block) return { Providers: providers, transformers: [block] };
  return undefined;
};

test('json, jsonc: each block is a configuration, or a part of one, without faults and warnings', async (t) => {
  const names = ['house-rules.ts', 'judge.ts', 'mask.ts', 'guard.ts', 'cache.ts', 'look-up.ts', 'route.ts'];
  const modules = await Promise.all(
    names.map(async (name) => [name, await readFile(join(docs, 'examples', name), 'utf8')] as const),
  );
  const env = Object.fromEntries(
    [
      'ANTHROPIC_API_KEY',
      'OPENAI_API_KEY',
      'GEMINI_API_KEY',
      'OPENROUTER_API_KEY',
      'TYPESAFE_API_KEY',
      'JUNCTOR_KEY',
      'AWS_BEARER_TOKEN_BEDROCK',
    ].map((name) => [name, 'a-key']),
  );
  Object.assign(env, {
    COLLECTOR_TOKEN: 'a-token',
    STORE_USER: 'sy',
    STORE_PASSWORD: 'pw',
    JUNCTOR_FLEET_KEY: '0123456789abcdef'.repeat(4),
  });
  // The options that the page with the block gives to `junctor start`.
  const keyCommands = ['gcloud auth print-access-token', 'aws configure export-credentials'];
  const gateway = await startGateway({ LOG: false }, env, { files: Object.fromEntries(modules), keyCommands });
  t.teardown(gateway.stop);
  for (const { at, language, text } of blocksIn('json', 'jsonc')) {
    const parsed = parseConfig(text);
    if ('faults' in parsed) {
      t.fail(`${at}: ${JSON.stringify(parsed.faults)}`);
      continue;
    }
    if (language === 'json') t.notThrows(() => JSON.parse(text), at);
    const whole = isJsonObject(parsed.source) ? configurationOf(parsed.source) : undefined;
    if (!whole) {
      t.fail(`${at}: neither a configuration nor a part of one`);
      continue;
    }
    const answer = await request(`${gateway.baseUrl}/api/config/check`, {
      method: 'POST',
      body: JSON.stringify(whole),
    });
    t.like(await answer.body.json(), { faults: [], warnings: [] }, at);
  }
});

/** The commands of a block of shell, without their comments. A command ends with its line, unless a quote or `\` goes on. */
const commandsIn = (text: string): readonly string[] => {
  const commands: string[] = [];
  let command = '';
  let quote = '';
  for (let at = 0; at <= text.length; at += 1) {
    const char = text[at] ?? '\n';
    if (quote !== '') {
      if (char === quote) quote = '';
    } else if (char === '"' || char === "'") {
      quote = char;
    } else if (char === '\\' && text[at + 1] === '\n') {
      at += 1;
      continue;
    } else if (char === '#' && /\s$/.test(command)) {
      at = text.indexOf('\n', at) - 1;
      continue;
    } else if (char === '\n') {
      if (command.trim() !== '') commands.push(command.trim());
      command = '';
      continue;
    }
    command += char;
  }
  if (command !== '') throw new Error(`a quote isn't closed: ${command}`);
  return commands;
};

/** Commands that can't run here, by how they begin, and why. */
const unrunnable: readonly (readonly [start: string, reason: string])[] = [
  ['junctor doctor', 'needs a whole vendor, which doctor.test.ts has'],
  ['git clone', 'it names no repository'],
  ['npm install && npm start', 'installs packages'],
  ['npm link', 'installs the command; newcomer.sh does it'],
  ['npm ci && npm test', 'installs packages, and runs this test'],
  ['npm install --save-dev', 'installs packages; installed-package.test.ts follows the page'],
  ['node --test', 'needs the package, which installed-package.test.ts has'],
  ['docker build', 'needs a container engine'],
  ['docker run', 'needs a container engine'],
  ['docker push', 'needs a container engine'],
  ...['rollout', 'port-forward', 'exec', 'get'].map(
    (verb) => [`kubectl --namespace junctor ${verb}`, 'needs a cluster'] as const,
  ),
  ['helm', 'needs a cluster'],
  ['JUNCTOR_APIKEY=choose-one docker compose up', 'needs a container engine'],
  ['junctor import --from', 'needs a folder of an earlier installation, which import-folder.test.ts has'],
  ['junctor service install', 'changes the services of the user'],
  ['junctor service uninstall', 'changes the services of the user'],
];

/** Programs in place of those that the machine lacks: they end well. */
const standIns = ['claude', 'codex', 'opencode', 'copilot', 'qwen', 'kimi', 'agy', 'aider', 'python', 'fish'];

/** Runs commands of pages against a service in a folder of its own; the result is what went wrong, empty for nothing. */
const commandRunner = async (t: ExecutionContext): Promise<(page: string, command: string) => Promise<string>> => {
  const upstream = await startUpstream(({ text }) =>
    text.includes('"stream":true') ? sseAnswer(chatStream(['Hello', ' there'])) : jsonAnswer(chatReply('Hello there')),
  );
  t.teardown(upstream.close);
  const rig = await commandRig(t, {
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] }],
    Router: { default: 'p,m' },
  });
  const tools = join(rig.home, 'tools');
  const programs = new Map([
    ...standIns.map((name) => [name, 'exit 0'] as const),
    ['junctor', `exec ${process.execPath} ${bin} "$@"`],
  ]);
  await mkdir(tools);
  for (const [name, script] of programs) {
    await writeFile(join(tools, name), `#!/bin/sh\n${script}\n`);
    await chmod(join(tools, name), 0o755);
  }
  const files = {
    'request.json': { model: 'any', messages: [{ role: 'user', content: 'Hello!' }] },
    '.claude-code-router/config.json': {
      Providers: [{ name: 'p', api_base_url: `${upstream.url}/v1/chat/completions`, api_key: 'k', models: ['m'] }],
      Router: { default: 'p,m' },
    },
  };
  await mkdir(join(rig.home, '.claude-code-router'));
  for (const [path, value] of Object.entries(files)) await writeFile(join(rig.home, path), JSON.stringify(value));

  const { PATH = '', JUNCTOR_HTTP = '' } = process.env;
  const env = { PATH: `${tools}:${PATH}`, HOME: rig.home, JUNCTOR_HOME: rig.home, JUNCTOR_HTTP };
  const shell = (command: string, cwd = rig.home): Promise<string> =>
    new Promise((done) => {
      const child = spawn('bash', ['-eo', 'pipefail', '-c', command], { cwd, env });
      let out = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (out += data));
      child.stdin.end();
      child.once('close', (code) => done(code === 0 ? '' : `exit code ${code}: ${out}`));
    });

  const isRunning = (): boolean => existsSync(join(rig.home, 'junctor.pid'));
  const start = (args: readonly string[]): Promise<void> => rig.begin(args, { cwd: rig.home }).says('Try it');

  const stop = async (): Promise<void> => {
    if (isRunning()) await rig.ask(['stop', '--force']);
  };
  const file = join(rig.home, 'config.json');
  const config = await readFile(file, 'utf8');
  let last = '';

  return async (page, written) => {
    if (unrunnable.some(([start]) => written.startsWith(start))) return '';
    const command = runnable(written);
    if (page !== last && (await readFile(file, 'utf8')) !== config) {
      // What one page changes is not there for the next.
      await stop();
      await writeFile(file, config);
    }
    last = page;
    if (command.startsWith('junctor start')) {
      await stop();
      // The commands that follow are for this service.
      if (command.includes('--daemon')) return shell(command);
      return start(command.split(' ').slice(1)).then(() => '', String);
    }
    const bench = /^(?:npm run bench(?: --)?|junctor bench)(.*)$/.exec(command)?.[1];
    // The module is imported above; another checkout is any, such as this one.
    if (bench !== undefined)
      return readBench(
        bench
          .replace('docs/examples/my-gateway.ts', 'junctor')
          .replace('../before', root)
          .replace('redact.ts', join(docs, 'examples/house-rules.ts')),
      );
    // The files that are named are there; they are tests themselves.
    const tests = /^npx ava (.*)$/.exec(command)?.[1]?.replaceAll("'", '').split(' ');
    if (tests) return tests.filter((path) => !existsSync(join(root, path.replace(/\*.*$/, '')))).join(' ');
    if (command.startsWith('kubectl ')) return hasKubectl ? shell(withoutCluster(command), root) : '';
    if (!isRunning()) await start(['start']);
    if (/^junctor |^lines=/.test(command)) return shell(command);
    if (command.startsWith('curl ')) {
      const { baseUrl } = JSON.parse((await rig.ask(['status', '--json'])).out);
      return shell(command.replace('curl ', 'curl -sSf ').replaceAll('http://127.0.0.1:3456', baseUrl));
    }
    return 'no rule';
  };
};

/** Reads what `junctor bench` is asked to do; plays nothing. Resolves to what is wrong. */
const readBench = async (written: string): Promise<string> => {
  const program = createProgram(async () => undefined).exitOverride();
  const command = program.commands.find((each) => each.name() === 'bench');
  try {
    command?.exitOverride().parse(written.split(' ').filter(Boolean), { from: 'user' });
    const { config: _, capture: __, ...options }: BenchOptions & { readonly config?: string } = command?.opts() ?? {};
    if (options.target !== undefined) readRemote(command?.args ?? [], options.target, options);
    else await readOptions(command?.args ?? [], options);
    return '';
  } catch (error) {
    return String(error);
  }
};

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

/** What of the command needs no cluster: the object that it makes, the manifests that it applies. */
const withoutCluster = (command: string): string =>
  command.startsWith('kubectl apply -k ')
    ? command.replace('apply -k', 'kustomize')
    : `${command} --dry-run=client --output=yaml`;

/** The same command without npx, without the container, the other shell, and the folders of another machine. */
const runnable = (written: string): string =>
  written
    .replace(
      /^(?:docker exec junctor|\/usr\/bin\/)\s?node (?:\/opt\/junctor\/)?engine\/cli\/junctor\.js|^npx junctor/,
      'junctor',
    )
    .replace('| source', '| cat')
    .replace(/^eval ("\$\(junctor .*\)")$/, 'lines=$1; eval "$lines"')
    .replace('/srv/stages', '.');

const commands = [
  ...[...blocksIn('sh'), ...contributors.flat().filter(({ language }) => language === 'sh')].flatMap(({ at, text }) =>
    commandsIn(text).map((command) => ({ at, command })),
  ),
  ...blocksIn('ini').flatMap(({ at, text }) =>
    [...text.matchAll(/^ExecStart=(.*)$/gm)].map(({ 1: command = '' }) => ({ at, command })),
  ),
];

test('sh, ini: each command of the pages runs against a live gateway', async (t) => {
  t.timeout(300_000);
  const run = await commandRunner(t);
  const ran = new Set<string>();
  for (const { at, command } of commands) {
    if (!ran.has(runnable(command))) t.is(await run(at.replace(/:.*/, ''), command), '', `${at}: ${command}`);
    ran.add(runnable(command));
  }
});

test('every command that is listed as one that can not run is on a page', (t) => {
  t.true(commands.length > 30);
  const unused = unrunnable.filter(([start]) => !commands.some(({ command }) => command.startsWith(start)));
  t.deepEqual(unused, []);
});

test('commands inside sentences exist, with their options', async (t) => {
  const program = createProgram(async () => undefined);
  const spans = texts.flatMap(({ page, text }) =>
    [...text.replaceAll(/^ *```[\s\S]*?^ *```$/gm, '').matchAll(/`([^`\n]+)`/g)].map(({ 1: span = '' }) => ({
      page,
      span,
    })),
  );
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  for (const { page, span } of spans) {
    const [, script] = /^npm run ([\w:]+)/.exec(span) ?? [];
    if (script !== undefined) t.true(script in scripts, `${page}: ${span}`);
    for (const [, name = '', rest = ''] of span.matchAll(/(?:^|&& |npx )junctor ([a-z]+)(.*?)(?=$| &&)/g)) {
      const help = program.commands.find((command) => command.name() === name)?.helpInformation() ?? '';
      t.regex(help, new RegExp(`^Usage: junctor ${name}`), `${page}: ${span}`);
      for (const [option] of rest.matchAll(/--[\w-]+/g)) t.true(help.includes(option), `${page}: ${span}`);
    }
  }
});
