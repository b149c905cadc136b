import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { opener } from '../../../engine/cli/commands/ui.ts';
import { BlobJournal } from '../../../engine/hub/blob-journal.ts';
import { TaughtMemory } from '../../../engine/routing/taught.ts';
import { configOf } from '../../support/gateway-of.ts';
import { commandRig } from '../../support/processes/command.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const provider = { name: 'p', baseUrl: 'https://models.example/v1', apiKey: '$P_KEY', models: ['small', 'large'] };
const config = { PORT: 39_001, Providers: [provider], Router: { default: 'p,small', routes: { think: 'p,large' } } };
const env = { P_KEY: 'a-secret-of-p' };

test('config check lists every fault and warning with its path', async (t) => {
  const rig = await commandRig(t, { PORT: 'x', Nonsense: 1, Providers: [{ ...provider, models: 'all' }] });
  const bad = await rig.run(['config', 'check']);
  t.is(bad.code, 1);
  t.regex(bad.out, /^fault +PORT /m);
  t.regex(bad.out, /^fault +Providers\[0\]\.models must be array/m);
  t.regex(bad.out, /^warning +Nonsense is unknown/m);
  t.regex(bad.out, /2 faults, \d warnings?\n$/);

  const misspelt = { name: 'maxtoken', options: { max_tokens: 9, max_token: 9 } };
  const transformers = ['no-such-stage', { name: 'maxtoken' }, { path: 'absent.ts' }, misspelt];
  await writeFile(join(rig.home, 'config.json'), JSON.stringify({ ...config, transformers }));
  const refused = await rig.ask(['config', 'check']);
  t.is(refused.code, 1, 'what a running service would refuse');
  t.regex(refused.out, /^fault +transformers\[0\] names a transformer that is not loaded/m);
  t.regex(refused.out, /^fault +transformers\[1\]\.options\.max_tokens is required$/m);
  t.regex(refused.out, /^fault +transformers\[2\]\S* can't be used: absent\.ts: /m);
  t.regex(refused.out, /^warning +transformers\[3\]\.options\.max_token is unknown .*did you mean max_tokens\?$/m);

  await writeFile(join(rig.home, 'config.json'), JSON.stringify({ ...config, transformers: [misspelt] }));
  const fair = await rig.ask(['config', 'check']);
  t.is(fair.code, 0, 'warnings do not keep a service from starting');
  t.regex(fair.out, /^warning +transformers\[0\]\.options\.max_token is unknown/m);
  t.regex(fair.out, /^warning +Providers\[0\] .*P_KEY/m);
  t.is((await rig.ask(['config', 'check'], { env: { P_KEY: 'x', JUNCTOR_PORT: 'y' } })).code, 1);
});

test('config check names a command for a key that the given command line does not allow', async (t) => {
  const apiKey = [{ command: ['vault', 'read'] }, '$P_KEY'];
  const { ask } = await commandRig(t, { ...config, Providers: [{ ...provider, apiKey }] });
  const refused = await ask(['config', 'check'], { env });
  t.is(refused.code, 0);
  t.regex(
    refused.out,
    /^warning +Providers\[0\] has a command for the key of "p", which runs only if .*--allow-key-command/m,
  );
  t.regex((await ask(['config', 'check', '--allow-key-command', 'vault read'], { env })).out, /0 faults, 0 warnings/);
});

test('config check without a file describes the first start', async (t) => {
  const { ask } = await commandRig(t);
  const { code, out } = await ask(['config', 'check']);
  t.is(code, 0);
  t.regex(out, /config\.json does not exist/);
});

test('explain and models without a file use the configuration of a first start', async (t) => {
  const { ask } = await commandRig(t);
  t.regex((await ask(['explain', '--model', 'any'])).out, /^route +demo,echo /m);
  const { out } = await ask(['explain', '--model', 'any', '--client', 'chat'], { env: { OPENAI_API_KEY: 'canary' } });
  t.regex(out, /^call +POST https:\/\/api\.openai\.com\/v1\/chat\/completions$/m);
  t.false(out.includes('canary'));
  t.regex((await ask(['models'])).out, /^demo,echo /m);
});

test('models lists names and aliases with their routes', async (t) => {
  const { ask } = await commandRig(t, config);
  const { out } = await ask(['models'], { env });
  t.regex(out, /^p,small +small \(p\) +← default$/m);
  t.regex(out, /^p,large +large \(p\) +← think$/m);
  t.regex(out, /^Built-in facts of \d{4}-\d\d-\d\d, \d+ days? old/m);
  t.regex(out, /^junctor-default /m);
  const listed: { readonly id: string }[] = JSON.parse((await ask(['models', '--json'], { env })).out);
  t.true(['p,small', 'p,large', 'small', 'large'].every((id) => listed.some((row) => row.id === id)));
});

test('explain shows the members of a pool, and which one would be passed over; models lists the pool', async (t) => {
  const { ask } = await commandRig(t, {
    ...config,
    Pools: [
      {
        name: 'both',
        members: [
          { to: 'p,small', weight: 3 },
          { to: 'p,large', models: ['big-*'] },
        ],
      },
    ],
    Router: { default: 'both' },
  });
  const { out, code, err } = await ask(['explain', '--model', 'any'], { env });
  t.is(code, 0, err);
  t.regex(out, /^rule +default: .*; pool both, weighted: p,small, the only member that can be used$/m);
  t.regex(out, /^member +p,small \(weight 3\)$/m);
  t.regex(out, /^member +p,large \(weight 1\): passed over, it serves other models$/m);
  t.regex((await ask(['models'], { env })).out, /^both +both \(pool\) +← default$/m);
});

test('explain shows which stages a request is left without, and by which fact', async (t) => {
  const { ask } = await commandRig(t, {
    ...config,
    transformers: [
      { name: 'tooluse', when: { tools: 'mcp__*' } },
      { name: 'cachepoints', when: { client: 'messages' } },
    ],
  });
  const { out, code, err } = await ask(['explain', '--model', 'p,small'], { env });
  t.is(code, 0, err);
  t.regex(
    out,
    /^stage +tooluse \(transformers\[0\]\) is left out: its condition doesn't hold: not \(a tool is mcp__\*\)$/m,
  );
  t.regex(out, /^stage +cachepoints \(transformers\[1\]\) runs: client is messages$/m);
});

test('explain without a service knows what refusals have taught it, and leaves the file as it is', async (t) => {
  const { home, ask } = await commandRig(t, config);
  const [p] = configOf(config, env).providers;
  if (!p) throw new Error('There is no provider.');
  const path = join(home, 'taught.jsonl');
  const journal = new BlobJournal({ path, report: (line) => t.fail(line) });
  const publish = ({ id: name, ...fact }: { id: string; value: string; forMs: number }) =>
    journal.append({ name, ...fact });
  const memory = new TaughtMemory(Date.now, { publish, onEntry: () => undefined });
  const at = { provider: p, model: 'small' };
  memory.learn(at, { does: 'limit', field: 'max_tokens', max: 500 }, 'max_tokens is too large');
  memory.learn(at, { does: 'leave', field: 'stop' }, 'no stop');
  memory.forget(at, { does: 'leave', field: 'stop' });
  journal.flush();
  const before = await readFile(path, 'utf8');
  const { out, code, err } = await ask(['explain', '--model', 'any'], { env });
  t.is(code, 0, err);
  t.regex(out, /^taught +max_tokens: at most 500, since 2\S+Z, until 2\S+Z$/m);
  t.regex(out, /^ +by "max_tokens is too large"$/m);
  t.regex(out, /^ +for good, in the model's entry: \{"maxOutput":500\}$/m);
  t.regex(out, /^ +"max_tokens": 500/m);
  t.is(out.match(/^taught/gm)?.length, 1);
  t.is(await readFile(path, 'utf8'), before);
});

test('explain shows the rule, the call and the losses, but no secret', async (t) => {
  const { home, ask, run } = await commandRig(t, config);
  const request = {
    model: 'whatever',
    max_tokens: 5000,
    top_k: 5,
    thinking: { type: 'enabled', budget_tokens: 2048 },
    messages: [{ role: 'user', content: 'Hi' }],
  };
  await writeFile(join(home, 'request.json'), JSON.stringify(request));
  const plain = await ask(['explain', join(home, 'request.json')], { env });
  t.is(plain.code, 0, plain.err);
  t.regex(plain.out, /^rule +think: /m);
  t.regex(plain.out, /^route +p,large \(openai\)$/m);
  t.regex(plain.out, /^call +POST https:\/\/models\.example\/v1\/chat\/completions$/m);
  t.regex(plain.out, /authorization: \*\*\*$/m);
  t.regex(plain.out, /^loss +top_k dropped/m);
  t.regex(plain.out, /"model": "large"/);
  t.false(plain.out.includes(env.P_KEY));

  const piped = await run(['explain', '-', '--json'], { env, input: JSON.stringify(request) });
  t.like(JSON.parse(piped.out), {
    scenario: 'think',
    provider: 'p',
    model: 'large',
    relays: { request: false, reply: false },
  });
  const small = await ask(['explain', '--client', 'chat', '--model', 'p,small', '--text', 'Hi', '--json'], { env });
  t.like(JSON.parse(small.out), {
    scenario: 'explicit',
    relays: { request: true, reply: true },
    body: { model: 'small', messages: [{ role: 'user', content: 'Hi' }] },
  });
  const summary = ['--client', 'responses', '--path', '/v1/responses/compact', '--model', 'p,small', '--text', 'Hi'];
  t.regex(
    (await ask(['explain', ...summary], { env })).out,
    /^compaction +of about \d+ tokens, by a summary of the model$/m,
  );

  for (const [args, says] of [
    [['explain'], /Pass a file/],
    [['explain', 'none.json'], /Cannot read \S*none\.json\./],
    [['explain', '--model', 'q,x'], /would be rejected: .*q/],
    [['explain', '--model', 'p,x', '--client', 'morse'], /--client must be one of messages, chat, responses/],
  ] as const) {
    const refused = await ask(args, { env });
    t.is(refused.code, 1);
    t.regex(refused.err, says);
  }
});

const expected: readonly (readonly [program: string, lines: readonly RegExp[]])[] = [
  [
    'claude-code',
    [
      /^export ANTHROPIC_BASE_URL='http:\/\/127\.0\.0\.1:39001'$/m,
      /^export ANTHROPIC_AUTH_TOKEN='it'\\''s'$/m,
      /^unset ANTHROPIC_API_KEY$/m,
    ],
  ],
  [
    'codex',
    [
      /^export JUNCTOR_API_KEY=/m,
      /^# {3}base_url = "http:\/\/127\.0\.0\.1:39001\/v1"$/m,
      /^# {3}wire_api = "responses"$/m,
      /^# {3}supports_websockets = false$/m,
    ],
  ],
  ['openai', [/^export OPENAI_BASE_URL='http:\/\/127\.0\.0\.1:39001\/v1'$/m, /^export OPENAI_API_KEY=/m]],
  ['anthropic', [/^export ANTHROPIC_BASE_URL='http:\/\/127\.0\.0\.1:39001'$/m, /^export ANTHROPIC_API_KEY=/m]],
];

test('env prints the variables for a client', async (t) => {
  const { ask } = await commandRig(t, { ...config, APIKEY: "it's" });
  for (const [program, lines] of expected) {
    const { out, err } = await ask(['env', '--for', program], { env: { ...env, NO_PROXY: 'intern.example' } });
    for (const line of lines) t.regex(out, line);
    t.regex(out, /^export NO_PROXY='intern\.example,127\.0\.0\.1,localhost'$/m);
    t.regex(err, /not running/);
  }
  const fish = await ask(['env', '--for', 'openai', '--shell', 'fish'], { env });
  t.regex(fish.out, /^set -gx OPENAI_API_KEY 'it\\'s'$/m);
  t.is((await ask(['env', '--for', 'telegraph'], { env })).code, 1);
});

test('env sets the context window for clients that have one', async (t) => {
  const { ask } = await commandRig(t, config);
  const claude = await ask(['env', '--for', 'claude-code', '--context', '131072'], { env });
  t.regex(claude.out, /^export CLAUDE_CODE_MAX_CONTEXT_TOKENS='131072'$/m);
  t.notRegex((await ask(['env', '--for', 'claude-code'], { env })).out, /CONTEXT_TOKENS/);
  t.regex(
    (await ask(['env', '--for', 'codex', '--context', '131072'], { env })).out,
    /^# {3}model_context_window = 131072$/m,
  );
  const refused = await ask(['env', '--for', 'claude-code', '--context', 'much'], { env });
  t.is(refused.code, 1);
  t.regex(refused.err, /--context/);
});

test('env tells the smallest window of the default model and its fallbacks, models what is known', async (t) => {
  const models = [
    'small',
    { name: 'large', context: 150_000, price: { input: 1, output: 2 } },
    { name: 'm', context: 120_000 },
  ];
  const router = { default: 'p,large', fallback: { default: ['p,m'] } };
  const { ask } = await commandRig(t, { ...config, Providers: [{ ...provider, models }], Router: router });
  const { out } = await ask(['env', '--for', 'claude-code'], { env });
  t.regex(out, /^export CLAUDE_CODE_MAX_CONTEXT_TOKENS='120000'$/m);
  t.regex(out, /^export CLAUDE_CODE_AUTO_COMPACT_WINDOW='120000'$/m);
  t.regex((await ask(['env', '--for', 'codex'], { env })).out, /^# {3}model_context_window = 120000$/m);
  const listed = await ask(['models'], { env });
  t.regex(listed.out, /^p,large +large \(p\) +\(150,000 tokens, \$1 in, \$2 out per million\) +← default$/m);
});

test('models --refresh asks the providers, with and without a running service', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer({ data: [{ id: 'small', context_length: 7_000 }] }));
  t.teardown(upstream.close);
  const at = { ...provider, baseUrl: `${upstream.url}/v1` };
  const { ask, begin } = await commandRig(t, { ...config, PORT: 0, Providers: [at] });
  t.notRegex((await ask(['models'], { env })).out, /7,000/);
  const offline = await ask(['models', '--refresh'], { env });
  t.is(offline.err, 'p: 1 models.\n');
  t.regex(offline.out, /^p,small +small \(p\) +\(7,000 tokens\)/m);
  await begin(['start'], { env }).says('Try it');
  const online = await ask(['models', '--refresh', '--json'], { env });
  t.is(online.err, 'p: 1 models.\n');
  const rows: { readonly id: string; readonly context?: number }[] = JSON.parse(online.out);
  t.is(rows.find(({ id }) => id === 'small')?.context, 7_000);
  t.is(upstream.requests.length, 2);
  t.true(
    upstream.requests.every(
      ({ url, headers }) => url === '/v1/models' && headers.authorization?.includes('a-secret-of-p'),
    ),
  );
});

test('run sets the variables, inherits input and output, and returns the exit code', async (t) => {
  const models = [{ name: 'small', context: 90_000 }, 'large'];
  const Providers = [{ ...provider, models }];
  const { home, ask, run, begin } = await commandRig(t, { ...config, Providers, PORT: 0, APIKEY: 'a-key-of-mine' });
  const refused = await ask(['run', 'node', '-e', '0'], { env });
  t.is(refused.code, 1);
  t.regex(refused.err, /is not running/);
  await begin(['start'], { env }).says('Try it');
  const script =
    'process.stdin.pipe(process.stdout); console.log(process.env.OPENAI_BASE_URL, process.env.ANTHROPIC_API_KEY, ...process.argv.slice(1)); process.exitCode = 7';
  const ran = await run(['run', process.execPath, '-e', script, '--', '--version', '-x'], { env, input: 'typed' });
  t.is(ran.code, 7);
  t.regex(ran.out, /^http:\/\/127\.0\.0\.1:\d+\/v1 a-key-of-mine --version -x\ntyped$/);

  const tools = join(home, 'tools');
  await mkdir(tools);
  const codex = `#!${process.execPath}\nconsole.log(process.argv.slice(2).join(' '), process.env.JUNCTOR_API_KEY)`;
  await writeFile(join(tools, 'codex'), codex, { mode: 0o755 });
  const known = await run(['run', 'codex', 'exec'], { env: { ...env, PATH: `${tools}:${process.env.PATH}` } });
  t.regex(
    known.out,
    /^-c model_provider="junctor" .*base_url="http:\/\/127\.0\.0\.1:\d+\/v1" .* exec a-key-of-mine\n$/,
  );

  const claude = `#!${process.execPath}\nconsole.log(process.env.CLAUDE_CODE_MAX_CONTEXT_TOKENS)`;
  await writeFile(join(tools, 'claude'), claude, { mode: 0o755 });
  for (const [own, window] of [
    [{}, '90000'],
    [{ CLAUDE_CODE_MAX_CONTEXT_TOKENS: '7' }, '7'],
  ] as const) {
    const { out } = await run(['run', 'claude'], { env: { ...env, ...own, PATH: `${tools}:${process.env.PATH}` } });
    t.is(out, `${window}\n`);
  }

  const ended = await run(['run', process.execPath, '-e', 'process.kill(process.pid, "SIGTERM")'], { env });
  t.is(ended.code, 143);
  const absent = await run(['run', 'no-such-program'], { env });
  t.is(absent.code, 1);
  t.regex(absent.err, /^junctor: Cannot run no-such-program: command not found\.\n$/);
});

test('ui prints the URL of the web interface', async (t) => {
  const { ask, begin } = await commandRig(t, { Providers: [] });
  t.is((await ask(['ui'])).code, 1);
  await begin(['start']).says('Try it');
  t.regex((await ask(['ui'])).out, /^http:\/\/127\.0\.0\.1:\d+\/ui\n$/);
});

test('the browser is opened without a shell, with the URL as one argument', (t) => {
  const url = 'http://127.0.0.1:3456/ui?a=1&b="$(x)"';
  for (const platform of ['linux', 'darwin', 'win32', 'freebsd']) {
    const [program, args] = opener(platform, url);
    t.regex(program, /^[\w-]+$/);
    t.is(args.at(-1), url);
  }
});
