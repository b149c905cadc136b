import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { claudeLauncher } from '../../../../engine/cli/commands/clients/claude-code.ts';
import { type CommandRig, commandRig } from '../../../support/processes/command.ts';

/*
 * What the launcher sets is what the program uses, whatever its own files say. Each program here reads its files in the order of
 * the real one, and prints what it would use.
 */

const config = {
  APIKEY: 'key-of-the-gateway',
  Providers: [
    {
      name: 'p',
      baseUrl: 'https://models.example/v1',
      apiKey: '',
      models: [
        { name: 'm', context: 90_000, maxOutput: 7_000, input: ['text'] },
        { name: 'codex-own', context: 300_000 },
        'unknown',
      ],
    },
  ],
  Router: { default: 'p,codex-own', fallback: { default: ['p,m'] } },
};

/** A service that runs, and programs that its commands find. */
const start = async (t: ExecutionContext, programs: Readonly<Record<string, string>>) => {
  const rig = await commandRig(t, config);
  const tools = join(rig.home, 'tools');
  await mkdir(tools);
  for (const [name, text] of Object.entries(programs))
    await writeFile(join(tools, name), `#!${process.execPath}\n${text}`, { mode: 0o755 });
  await rig.begin(['start']).says('Try it');
  const project = join(rig.home, 'project');
  await mkdir(project);
  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    rig.run(['run', ...args], { cwd: project, env: { PATH: `${tools}:${process.env.PATH}`, ...env } });
  return { ...rig, project, run };
};

const write = async ({ home }: Pick<CommandRig, 'home'>, path: string, value: object): Promise<void> => {
  await mkdir(join(home, path, '..'), { recursive: true });
  await writeFile(join(home, path), JSON.stringify(value));
};

/** Claude Code: the environment, then the `env` of the user's, the project's and the last given settings; clouds come first. */
const claude = `
const { readFileSync } = require('node:fs');
const args = process.argv.slice(2);
const read = (text) => text.startsWith('{') ? JSON.parse(text) : JSON.parse(readFileSync(text, 'utf8'));
const attempt = (file) => { try { return read(file) } catch { return {} } };
const given = args.lastIndexOf('--settings');
const all = [
  attempt(process.env.HOME + '/.claude/settings.json'), attempt('.claude/settings.json'), attempt('.claude/settings.local.json'),
  given < 0 ? {} : read(args[given + 1]),
];
const env = Object.assign({}, process.env, ...all.map(({ env }) => env));
const { apiKeyHelper, permissions } = Object.assign({}, ...all);
console.log(JSON.stringify({
  cloud: Object.keys(env).find((name) => name.startsWith('CLAUDE_CODE_USE_') && env[name]),
  url: env.ANTHROPIC_BASE_URL, token: env.ANTHROPIC_AUTH_TOKEN, key: env.ANTHROPIC_API_KEY || undefined,
  window: env.CLAUDE_CODE_MAX_CONTEXT_TOKENS, output: env.CLAUDE_CODE_MAX_OUTPUT_TOKENS, helper: apiKeyHelper || undefined, permissions, mine: env.MINE,
  given: args[given + 1], args: args.filter((_, index) => index !== given && index !== given + 1),
}));
`;

const elsewhere = {
  ANTHROPIC_BASE_URL: 'https://other.example',
  ANTHROPIC_AUTH_TOKEN: 'a-token-for-others',
  ANTHROPIC_API_KEY: 'a-key-for-others',
  CLAUDE_CODE_MAX_CONTEXT_TOKENS: '7',
};

test('Claude Code uses the gateway, whatever its settings and the environment say', async (t) => {
  const rig = await start(t, { claude });
  await write(rig, '.claude/settings.json', { apiKeyHelper: 'echo other', env: elsewhere });
  await write(rig, 'project/.claude/settings.json', { env: { CLAUDE_CODE_USE_BEDROCK: '1' } });
  await write(rig, 'project/.claude/settings.local.json', { env: { CLAUDE_CODE_USE_FOUNDRY: '1', MINE: 'stays' } });
  const settings = { permissions: { deny: ['Bash'] }, env: elsewhere };
  const file = join(rig.home, 'own.json');
  await writeFile(file, JSON.stringify(settings));
  for (const own of [[], ['--settings', JSON.stringify(settings)], [`--settings=${file}`]]) {
    const { out, err, code } = await rig.run(['claude', ...own, '-p', 'hi'], { CLAUDE_CODE_USE_VERTEX: '1' });
    t.is(code, 0, err);
    const used = JSON.parse(out);
    t.like(used, { token: 'key-of-the-gateway', window: '90000', output: '7000', mine: 'stays' });
    t.deepEqual(used.args, ['-p', 'hi']);
    t.regex(used.url, /^http:\/\/127\.0\.0\.1:\d+$/);
    for (const absent of ['cloud', 'key', 'helper']) t.is(used[absent], undefined, absent);
    t.deepEqual(used.permissions, own.length > 0 ? settings.permissions : undefined);
    t.false(used.given.includes('key-of-the-gateway'), 'other users of the machine see arguments');
    t.deepEqual(await readdir(join(rig.home, 'run')), [], 'the file is gone when the program ends');
  }
  const refused = await rig.run(['claude', '--settings', 'no-such-file']);
  t.is(refused.code, 1);
  t.regex(refused.err, /--settings/);
});

test('files of runs that were killed are removed by the next', async (t) => {
  const rig = await start(t, { claude });
  // No process has this number.
  await write(rig, 'run/4194305/claude-code-settings.json', { env: { ANTHROPIC_AUTH_TOKEN: 'left-over' } });
  t.is((await rig.run(['claude'])).code, 0);
  t.deepEqual(await readdir(join(rig.home, 'run')), []);
});

test('env names the files of Claude Code that win over the variables, and unsets what leads elsewhere', async (t) => {
  const rig = await commandRig(t, config);
  const quiet = await rig.ask(['env', '--for', 'claude-code']);
  t.notRegex(quiet.err, /settings/);
  await write(rig, '.claude/settings.json', { env: { ...elsewhere, CLAUDE_CODE_USE_VERTEX: '0', OTHER: '1' } });
  const env = { CLAUDE_CODE_USE_BEDROCK: '1' };
  const { out, err } = await rig.ask(['env', '--for', 'claude-code'], { env });
  t.regex(out, /^unset CLAUDE_CODE_USE_BEDROCK$/m);
  t.regex(err, /^CLAUDE_CODE_USE_BEDROCK would direct it elsewhere/m);
  const names = Object.keys(elsewhere).join(', ');
  t.true(err.includes(`${join(rig.home, '.claude/settings.json')} sets ${names}, which wins over`), err);
  t.false(err.includes('for-others'));
});

test("an administrator's settings win over every argument", async (t) => {
  const rig = await commandRig(t, config);
  await write(rig, 'etc/claude-code/managed-settings.json', { env: { CLAUDE_CODE_USE_BEDROCK: true } });
  const found = await claudeLauncher.overruling?.({ env: { HOME: rig.home }, cwd: rig.home, root: rig.home });
  t.deepEqual(found, [
    {
      file: join(rig.home, 'etc/claude-code/managed-settings.json'),
      always: true,
      variables: { CLAUDE_CODE_USE_BEDROCK: 'true' },
    },
  ]);
});

/** Codex: `config.toml`, the file of `--profile`, then each `-c`; of these, the last one. Values here are JSON. */
const codex = `
const { readFileSync } = require('node:fs');
const args = process.argv.slice(2);
if (args[0] === 'debug') {
  console.log(args.join(' ') === 'debug models --bundled' ? process.env.OWN_MODELS : 'no');
  process.exit();
}
const used = new Map();
const set = (line) => { const [, name, value] = /^([^=]+?) ?= ?(.*)$/.exec(line) ?? []; if (name) used.set(name, JSON.parse(value)) };
const profile = args.indexOf('--profile') < 0 ? [] : [args[args.indexOf('--profile') + 1] + '.config.toml'];
for (const file of ['config.toml', ...profile])
  for (const line of readFileSync(process.env.HOME + '/.codex/' + file, 'utf8').split('\\n')) set(line);
args.forEach((arg, index) => { if (arg === '-c') set(args[index + 1]) });
const at = 'model_providers.' + used.get('model_provider') + '.';
console.log(JSON.stringify({
  url: used.get(at + 'base_url'), key: process.env[used.get(at + 'env_key')], wire: used.get(at + 'wire_api'), args,
  models: JSON.parse(readFileSync(used.get('model_catalog_json'), 'utf8')).models,
}));
`;

test('Codex uses the gateway, whatever config.toml and a profile say', async (t) => {
  const rig = await start(t, { codex });
  await mkdir(join(rig.home, '.codex'));
  const lines = [
    'model_provider = "other"',
    'model_providers.other.base_url = "https://other.example"',
    'model_providers.junctor.base_url = "https://other.example"',
    'model_providers.junctor.env_key = "OTHER_KEY"',
    'model_catalog_json = "/no/such/file"',
  ].join('\n');
  await writeFile(join(rig.home, '.codex/config.toml'), lines);
  await writeFile(join(rig.home, '.codex/work.config.toml'), lines);
  const { out, err } = await rig.run(['codex', '--profile', 'work', 'exec', 'hi'], { OTHER_KEY: 'a-key-for-others' });
  const used = JSON.parse(out);
  t.like(used, { key: 'key-of-the-gateway', wire: 'responses' }, err);
  t.regex(used.url, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  t.false(used.args.join(' ').includes('key-of-the-gateway'));
});

/** Without one of these, Codex doesn't start. Source: its faults, version 0.171.0. */
const required = [
  'slug',
  'display_name',
  'supported_reasoning_levels',
  'shell_type',
  'visibility',
  'supported_in_api',
  'priority',
  'support_verbosity',
  'truncation_policy',
  'experimental_supported_tools',
  'base_instructions',
];

const ownModels = {
  models: [
    {
      ...Object.fromEntries(required.map((name) => [name, name])),
      slug: 'codex-own',
      context_window: 250_000,
      tool_mode: 'x',
    },
    { ...Object.fromEntries(required.map((name) => [name, name])), slug: 'elsewhere', context_window: 40_000 },
  ],
};

interface Entry {
  readonly slug: string;
  readonly context_window?: number;
  readonly max_context_window?: number;
  readonly input_modalities?: readonly string[];
  readonly tool_mode?: string;
}

for (const [title, own, windows] of [
  ['which says what it knows', JSON.stringify(ownModels), { 'codex-own': 250_000, elsewhere: 40_000 }],
  ['which is too old to be asked', 'error: unrecognized subcommand', { 'codex-own': 300_000 }],
] as const) {
  test(`Codex, ${title}, gets the windows of the gateway's models`, async (t) => {
    const rig = await start(t, { codex });
    await mkdir(join(rig.home, '.codex'));
    await writeFile(join(rig.home, '.codex/config.toml'), '');
    const { out, err } = await rig.run(['codex', 'exec'], { OWN_MODELS: own });
    const models: readonly Entry[] = JSON.parse(out).models;
    for (const entry of models) for (const name of required) t.true(name in entry, `${entry.slug}: ${name} ${err}`);
    const byName = new Map(models.map((entry) => [entry.slug, entry]));
    t.is(byName.size, models.length);
    // Names that it doesn't find begin with the empty one: they go by the rules, to the default route.
    const expected = {
      ...windows,
      junctor: 90_000,
      'p,m': 90_000,
      m: 90_000,
      'junctor-default': 90_000,
      '': 90_000,
    };
    for (const [name, window] of Object.entries(expected)) t.is(byName.get(name)?.context_window, window, name);
    for (const { context_window, max_context_window } of models)
      t.true((max_context_window ?? 0) >= (context_window ?? 0));
    t.is(byName.get('codex-own')?.max_context_window, 300_000, 'what config.toml says raises it no further');
    t.false('context_window' in (byName.get('p,unknown') ?? {}));
    t.deepEqual(byName.get('p,m')?.input_modalities, ['text']);
    t.is(byName.get('p,codex-own')?.tool_mode, own.startsWith('{') ? 'x' : undefined);
  });
}

/** opencode: a project's file, then the content of the variable, member by member. */
const opencode = `
const { readFileSync } = require('node:fs');
const merge = (one, other) => Object.assign({}, one, Object.fromEntries(Object.entries(other).map(([name, value]) => [
  name, value && typeof value === 'object' && !Array.isArray(value) ? merge(one[name] ?? {}, value) : value,
])));
const { model, provider, enabled_providers } = merge(
  JSON.parse(readFileSync('opencode.json', 'utf8')), JSON.parse(process.env.OPENCODE_CONFIG_CONTENT),
);
const { options, models } = provider[model.split('/')[0]];
console.log(JSON.stringify({ model, enabled_providers, options, models }));
`;

test('opencode uses the gateway, whatever a project says', async (t) => {
  const rig = await start(t, { opencode });
  const options = { baseURL: 'https://other.example', apiKey: 'a-key-for-others' };
  const own = { model: 'other/m', provider: { other: { options, models: {} }, junctor: { options } } };
  await write(rig, 'project/opencode.json', own);
  const { out, err } = await rig.run(['opencode']);
  const used = JSON.parse(out);
  t.like(used, { model: 'junctor/junctor', enabled_providers: ['junctor'] }, err);
  t.is(used.options.apiKey, 'key-of-the-gateway');
  t.regex(used.options.baseURL, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  t.deepEqual(used.models['p,m'].limit, { context: 90_000, output: 7_000 });
  t.false('limit' in used.models['p,unknown']);
});

test('Copilot CLI and aider use the gateway, whatever the environment says', async (t) => {
  const print = 'console.log(JSON.stringify(process.env))';
  const rig = await start(t, { copilot: print, aider: print });
  const copilot = JSON.parse(
    (
      await rig.run(['copilot'], {
        COPILOT_PROVIDER_BASE_URL: 'https://other.example',
        COPILOT_PROVIDER_HEADERS: 'x: y',
      })
    ).out,
  );
  t.like(copilot, { COPILOT_PROVIDER_API_KEY: 'key-of-the-gateway', COPILOT_PROVIDER_MAX_PROMPT_TOKENS: '90000' });
  t.regex(copilot.COPILOT_PROVIDER_BASE_URL, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  t.false('COPILOT_PROVIDER_HEADERS' in copilot);

  const aider = JSON.parse((await rig.run(['aider'], { OPENAI_API_BASE: 'https://other.example' })).out);
  t.regex(aider.AIDER_OPENAI_API_BASE, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  t.is(aider.AIDER_OPENAI_API_KEY, 'key-of-the-gateway');
  await writeFile(join(rig.project, '.env'), '# mine\nexport AIDER_OPENAI_API_BASE="https://other.example"\n');
  const refused = await rig.run(['aider']);
  t.is(refused.code, 1);
  t.regex(refused.err, /\.env sets AIDER_OPENAI_API_BASE, which wins over all else/);
});

test('programs that only their own settings direct are not started, and env prints these', async (t) => {
  const rig = await start(t, { cline: 'console.log("started")', zed: 'console.log("started")' });
  for (const [name, block] of [
    ['cline', /^# {3}cline auth -p openai-compatible -k "\$JUNCTOR_API_KEY" -m junctor -b http:\S+\/v1$/m],
    [
      'zed',
      /^# +"name": "p,m",\n# +"display_name": "m \(p\)",\n# +"max_tokens": 90000,\n# +"max_output_tokens": 7000,$/m,
    ],
  ] as const) {
    const refused = await rig.run([name]);
    t.deepEqual([refused.code, refused.out], [1, '']);
    t.true(refused.err.includes(`junctor env --for ${name}`));
    const { out } = await rig.ask(['env', '--for', name]);
    t.regex(out, block);
    t.regex(out, /^export JUNCTOR_API_KEY='key-of-the-gateway'$/m);
  }
});

test('env --for codex writes the models to a file that stays', async (t) => {
  const rig = await commandRig(t, config);
  const { out } = await rig.ask(['env', '--for', 'codex']);
  const file = join(rig.home, 'codex-models.json');
  t.true(out.includes(`#   model_catalog_json = ${JSON.stringify(file)}\n`), out);
  t.regex(out, /^# {3}model_context_window = 90000$/m);
  t.true(JSON.parse(await readFile(file, 'utf8')).models.length > 5);
});

/** Prints its variables and arguments. */
const teller = `console.log(JSON.stringify({ env: process.env, args: process.argv.slice(2) }));`;

test('Qwen Code and Kimi Code are launched with the gateway, its key and the routed name', async (t) => {
  const { run } = await start(t, { qwen: teller, kimi: teller });
  const told = async (args: readonly string[], env?: Readonly<Record<string, string>>) => {
    const { code, out, err } = await run(args, env);
    t.is(code, 0, err);
    return JSON.parse(out.split('\n').find((line) => line.startsWith('{')) ?? '{}');
  };
  const others = { OPENAI_BASE_URL: 'https://other.example/v1', OPENAI_API_KEY: 'a-key-for-others' };
  const qwen = await told(['qwen', '-p', 'hi'], others);
  t.regex(qwen.env.OPENAI_BASE_URL, /^http:\/\/127\.0\.0\.1:\d+\/v1$/);
  t.like(qwen.env, { OPENAI_API_KEY: 'key-of-the-gateway', OPENAI_MODEL: 'junctor' });
  t.deepEqual(qwen.args, ['--auth-type', 'openai', '-p', 'hi']);
  t.deepEqual((await told(['qwen', '--auth-type=oauth'])).args, ['--auth-type=oauth']);
  const kimi = await told(['kimi', '-c']);
  t.like(kimi.env, {
    KIMI_MODEL_PROVIDER_TYPE: 'openai',
    KIMI_MODEL_API_KEY: 'key-of-the-gateway',
    KIMI_MODEL_NAME: 'junctor',
  });
  t.deepEqual(kimi.args, ['-c']);
});
