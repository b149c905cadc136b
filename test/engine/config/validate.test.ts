import test from 'ava';
import type { Config } from '../../../engine/config/config.ts';
import { formatFinding } from '../../../engine/config/diagnostics.ts';
import { keepAliveMs, ServiceSettings, settingSections } from '../../../engine/config/schema.ts';
import { validateConfig } from '../../../engine/config/validate.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';

const env = { KEY: 's3cret', HOST_NAME: '127.0.0.2', PORT_NUMBER: '4000', BLANK: '  ' };
const p = { name: 'p', baseUrl: 'https://h.example/v1', apiKey: '$KEY', models: ['m', 'n'] };
const q = { name: 'Q', baseUrl: 'http://127.0.0.1:9/', apiKey: '', models: ['m', 'a/b:c'] };

/** All that is said of a configuration, a line each. */
const findings = (written: JsonObject): { readonly faults: string[]; readonly warnings: string[] } => {
  const result = validateConfig(written, env);
  return {
    faults: 'faults' in result ? result.faults.map(formatFinding) : [],
    warnings: result.warnings.map(formatFinding),
  };
};

const configOf = (written: JsonObject): Config => {
  const result = validateConfig(written, env);
  if ('faults' in result) throw new Error(result.faults.map(formatFinding).join('\n'));
  return result.config;
};

/** Node.js runs a timer of more milliseconds at once. */
const longestTimerMs = 2_147_483_647;

const millisecondFields = Object.entries(settingSections).flatMap(([section, { properties }]) =>
  Object.keys(properties).flatMap((name) => (name.endsWith('Ms') ? [[section, name] as const] : [])),
);

for (const [section, name] of millisecondFields) {
  const isWait = name === 'waitMs';
  // The waits for retries end before a stream gets its first keep-alive.
  const longestMs = isWait ? keepAliveMs - 1 : longestTimerMs;
  test(`${section}.${name} is at most ${isWait ? 'the time until a keep-alive' : 'what a timer can wait'}`, (t) => {
    const at = (ms: number) => findings({ [section]: { [name]: ms } }).faults;
    t.deepEqual(at(longestMs), []);
    t.deepEqual(at(longestMs + 1), [`${section}.${name} must be <= ${longestMs}`]);
  });
}

test('a provider at the own address is reported', (t) => {
  const own = (baseUrl: string, more: JsonObject = {}) =>
    findings({ PORT: 4100, ...more, Providers: [{ ...p, apiKey: 'k', baseUrl }] }).warnings;
  const said = ['Providers has "p", whose baseUrl leads to this gateway itself'];
  for (const url of ['http://127.0.0.1:4100/v1', 'http://localhost:4100', 'http://[::1]:4100/'])
    t.deepEqual(own(url), said);
  t.deepEqual(own('http://gate.example/', { PORT: 80, HOST: 'gate.example', APIKEY: 'k' }), said);
  for (const url of ['http://127.0.0.1:4101/v1', 'https://127.0.0.1:4100', 'http://h.example:4100'])
    t.deepEqual(own(url), []);
});

test('all faults are listed, however many', (t) => {
  const names = Array.from({ length: 12 }, (_, index) => `p${index}`);
  const { faults } = findings({
    Providers: names.map((name) => ({ name, baseUrl: 1, models: 'all' })),
    PORT: 'x',
    LOG: 'loud',
  });
  for (const index of names.keys()) {
    t.true(faults.some((fault) => fault.startsWith(`Providers[${index}].baseUrl `)));
    t.true(faults.some((fault) => fault.startsWith(`Providers[${index}].models `)));
  }
  t.true(faults.some((fault) => fault.startsWith('PORT ')) && faults.some((fault) => fault.startsWith('LOG ')));
});

test('an empty configuration is complete', (t) => {
  t.deepEqual(configOf({}), {
    host: '127.0.0.1',
    port: 3456,
    workers: 1,
    apiKey: undefined,
    clients: undefined,
    fleet: undefined,
    telemetry: undefined,
    secrets: [],
    log: true,
    logLevel: 'info',
    allowedHosts: [],
    allowedOrigins: [],
    proxies: [],
    keepAlive: true,
    chatStrict: true,
    learn: true,
    grammar: 'off',
    limits: {
      bodyBytes: 33_554_432,
      decompressedBytes: 67_108_864,
      bodiesBytes: 536_870_912,
      answersBytes: 536_870_912,
      ratio: 200,
      jsonDepth: 256,
      requestsPerClient: 1024,
      connectionsPerClient: 1024,
      webSockets: 4096,
      connectionsPerProvider: 2048,
      queuePerProvider: 1024,
      recordBytes: 67_108_864,
      replyBytes: 67_108_864,
      decompressedReplyBytes: 67_108_864,
    },
    timeouts: {
      connectMs: 10_000,
      firstByteMs: 600_000,
      idleMs: 600_000,
      callMs: 0,
      queueMs: 30_000,
      stageMs: 30_000,
      leaveMs: 0,
      drainMs: 30_000,
    },
    retry: { attempts: 2, budget: 0.2, floor: 3, baseMs: 500, maxMs: 8_000, waitMs: 10_000 },
    breaker: { faults: 5, openMs: 30_000 },
    keys: { limitedMs: 30_000, refusedMs: 300_000 },
    history: { days: 30, bytes: 268_435_456, captureFailed: true, captureMinutes: 1_440 },
    providers: [],
    pools: [],
    router: { default: undefined, routes: {}, fallback: {} },
    transformers: [],
  });
});

test('a section has the default of each absent field, and no unknown members', (t) => {
  const { limits, retry } = configOf({ LIMITS: { ratio: 3, unknown: 1 }, RETRY: {} });
  t.deepEqual(limits, { ...configOf({}).limits, ratio: 3 });
  t.deepEqual(retry, configOf({}).retry);
});

test('every field is read', (t) => {
  const config = configOf({
    HOST: '0.0.0.0',
    PORT: 0,
    WORKERS: 3,
    APIKEY: '$KEY',
    FLEET: {
      store: ['rediss://valkey.example'],
      primary: ' main ',
      ca: '/ca.pem',
      name: 'f',
      key: '01'.repeat(32),
      replicas: 2,
      withoutStore: 'refuse',
    },
    CLIENTS: [{ name: 'team', key: `sha256:${'A'.repeat(64)}`, models: ['p,* '], routes: ['think'] }],
    TELEMETRY: {
      endpoint: 'http://c.example/o',
      headers: { 'X-Token': ' $KEY ' },
      service: ' s ',
      traces: false,
      ratio: 0,
    },
    LOG: false,
    LOG_LEVEL: 'warn',
    ALLOWED_HOSTS: ['gw.example', ' ', '$NONE'],
    ALLOWED_ORIGINS: [' HTTPS://App.Example:443', 'App://Obsidian.md', 'http://localhost:3000', '$NONE'],
    PROXIES: [' 10.0.0.0/8', '$NONE', '::1'],
    KEEP_ALIVE: false,
    CHAT_STRICT: false,
    learn: false,
    GRAMMAR: 'watch',
    LIMITS: {
      bodyBytes: 1000,
      ratio: 3,
      requestsPerClient: 2000,
      webSockets: 0,
      connectionsPerProvider: 7,
      queuePerProvider: 0,
      bodiesBytes: 7_000,
      answersBytes: 9_000,
      recordBytes: 8,
      replyBytes: 9,
      decompressedReplyBytes: 10,
    },
    TIMEOUTS: { idleMs: 5, stageMs: 7, drainMs: 0, queueMs: 9 },
    RETRY: { attempts: 1, budget: 0.5, floor: 0, baseMs: 1, maxMs: 2, waitMs: 3 },
    BREAKER: { faults: 2, openMs: 4 },
    KEYS: { limitedMs: 5, refusedMs: 6 },
    Providers: [p, { ...q, apiKey: ['$KEY', ' k2 '] }],
    Router: {
      default: 'p,m',
      longContextThreshold: 10,
      routes: { think: 'q,a/b:c', image: 'n' },
      fallback: { default: ['q,m', 'n'], think: ['p,m', ' '] },
    },
    transformers: [
      'tooluse',
      { name: 'maxtoken', provider: 'q', models: ['m'], options: { max_tokens: 5, k: '$KEY' } },
    ],
  });
  t.deepEqual(
    { ...config, providers: config.providers.map((provider) => ({ ...provider, baseUrl: provider.baseUrl.href })) },
    {
      host: '0.0.0.0',
      port: 0,
      workers: 3,
      apiKey: 's3cret',
      fleet: {
        urls: [new URL('rediss://valkey.example')],
        primary: 'main',
        ca: '/ca.pem',
        name: 'f',
        keys: [Buffer.alloc(32, 1)],
        address: undefined,
        replicas: 2,
        withoutStore: 'refuse',
      },
      telemetry: {
        endpoint: new URL('http://c.example/o'),
        headers: { 'x-token': 's3cret' },
        service: 's',
        traces: false,
        metrics: true,
        ratio: 0,
      },
      clients: [{ name: 'team', keyHash: 'a'.repeat(64), models: ['p,*'], routes: ['think'], limits: {} }],
      log: false,
      logLevel: 'warn',
      allowedHosts: ['gw.example'],
      referred: [{ text: 's3cret', shown: '$KEY' }],
      secrets: ['s3cret', '01'.repeat(32), 'k2'],
      allowedOrigins: ['https://app.example', 'app://obsidian.md', 'http://localhost:3000'],
      proxies: ['10.0.0.0/8', '::1'],
      keepAlive: false,
      chatStrict: false,
      learn: false,
      grammar: 'watch',
      limits: {
        bodyBytes: 1000,
        decompressedBytes: 2000,
        ratio: 3,
        jsonDepth: 256,
        requestsPerClient: 2000,
        connectionsPerClient: 2000,
        webSockets: 0,
        connectionsPerProvider: 7,
        queuePerProvider: 0,
        bodiesBytes: 7_000,
        answersBytes: 9_000,
        recordBytes: 8,
        replyBytes: 9,
        decompressedReplyBytes: 10,
      },
      timeouts: {
        connectMs: 10_000,
        firstByteMs: 600_000,
        idleMs: 5,
        callMs: 0,
        queueMs: 9,
        stageMs: 7,
        leaveMs: 0,
        drainMs: 0,
      },
      retry: { attempts: 1, budget: 0.5, floor: 0, baseMs: 1, maxMs: 2, waitMs: 3 },
      breaker: { faults: 2, openMs: 4 },
      keys: { limitedMs: 5, refusedMs: 6 },
      history: { days: 30, bytes: 268_435_456, captureFailed: true, captureMinutes: 1_440 },
      providers: [
        { name: 'p', baseUrl: 'https://h.example/v1', apiKeys: ['s3cret'], models: ['m', 'n'], unset: [] },
        { name: 'Q', baseUrl: 'http://127.0.0.1:9/', apiKeys: ['s3cret', 'k2'], models: ['m', 'a/b:c'], unset: [] },
      ],
      pools: [],
      router: {
        default: 'p,m',
        longContextThreshold: 10,
        routes: { think: 'q,a/b:c', image: 'n' },
        fallback: { default: ['q,m', 'n'], think: ['p,m'] },
      },
      transformers: [
        { at: 'transformers[0]', name: 'tooluse', options: {} },
        {
          at: 'transformers[1]',
          name: 'maxtoken',
          provider: 'Q',
          models: ['m'],
          options: { max_tokens: 5, k: 's3cret' },
        },
      ],
    },
  );
});

const settings: JsonObject = JSON.parse(JSON.stringify(ServiceSettings.properties));
for (const [name, field] of Object.entries(settings)) {
  const usual = isJsonObject(field) ? field.default : undefined;
  if (usual === undefined) continue;
  const other = typeof usual === 'boolean' ? !usual : usual;
  test(`${name} may be a text from the environment`, (t) => {
    const referred = validateConfig({ [name]: '$OTHER' }, { OTHER: ` ${String(other).toUpperCase()} ` });
    const { faults } = findings({ [name]: other });
    t.deepEqual('faults' in referred ? referred.faults.map(formatFinding) : [], faults);
    if (faults.length === 0) t.like(referred, { config: configOf({ [name]: other }) });
  });
}

test('text from the environment may stand for a port, a flag or a level', (t) => {
  const config = configOf({ HOST: '$HOST_NAME', PORT: '$PORT_NUMBER', LOG: 'false', LOG_LEVEL: 'WARN' });
  t.deepEqual([config.host, config.port, config.log, config.logLevel], ['127.0.0.2', 4000, false, 'warn']);
});

const levels = [
  ['trace', 'debug'],
  ['debug', 'debug'],
  ['info', 'info'],
  ['error', 'error'],
  ['fatal', 'error'],
] as const;
for (const [written, level] of levels) {
  test(`LOG_LEVEL ${written} is ${level}`, (t) => t.is(configOf({ LOG_LEVEL: written }).logLevel, level));
}

test('blank fields count as absent', (t) => {
  const { transformers } = configOf({ constructor: 'x', transformers: [{ name: 'tooluse', provider: ' ' }] });
  t.deepEqual(transformers, [{ at: 'transformers[0]', name: 'tooluse', options: {} }]);
  const config = configOf({ HOST: '', APIKEY: '', LOG_LEVEL: '', Router: { default: '', background: ' ' } });
  t.deepEqual([config.host, config.apiKey, config.logLevel], ['127.0.0.1', undefined, 'info']);
  t.deepEqual([config.router.default, config.router.routes], [undefined, {}]);
});

test("claude-code-router's spellings", (t) => {
  const config = configOf({
    Providers: [
      {
        name: 'P',
        api_base_url: 'https://h.example/api/v1/chat/completions',
        api_key: `\${KEY}`,
        models: ['m', 'x'],
        transformer: { use: ['Anthropic', ['maxtoken', { max_tokens: 7 }], 'mine'], x: { use: ['tooluse'] } },
      },
    ],
    Router: { default: 'p,m', background: 'p,x', longContext: 'm', longContextThreshold: 9, think: '', webSearch: 'x' },
    fallback: { default: ['p,x'], think: [] },
    transformers: [
      { path: '/plugins/mine.js', options: { project: 'z' }, ask: ['p,m'], timeoutMs: 9 },
      { path: './all.ts' },
    ],
  });
  t.is(config.providers[0]?.baseUrl.href, 'https://h.example/api/v1/chat/completions');
  t.deepEqual(config.providers[0]?.apiKeys, ['s3cret']);
  t.deepEqual(config.router, {
    default: 'p,m',
    longContextThreshold: 9,
    routes: { longContext: 'm', webSearch: 'x', background: 'p,x' },
    fallback: { default: ['p,x'] },
  });
  const at = 'Providers[0].transformer';
  t.deepEqual(config.transformers, [
    { at: 'transformers[1]', name: 'all', path: './all.ts', options: {} },
    { at: `${at}.use[0]`, name: 'anthropic', provider: 'P', options: {} },
    { at: `${at}.use[1]`, name: 'maxtoken', provider: 'P', options: { max_tokens: 7 } },
    {
      at: `${at}.use[2]`,
      name: 'mine',
      provider: 'P',
      path: '/plugins/mine.js',
      ask: ['p,m'],
      timeoutMs: 9,
      options: { project: 'z' },
    },
    { at: `${at}.x.use[0]`, name: 'tooluse', provider: 'P', models: ['x'], options: {} },
  ]);
});

test('a provider with an unset variable is kept with a warning', (t) => {
  const written = {
    Providers: [{ ...p, apiKey: '$NO_KEY', baseUrl: 'https://$NO_HOST/v1' }],
    Router: { default: 'p,m' },
  };
  const { providers } = configOf(written);
  t.deepEqual(providers[0]?.unset, ['NO_HOST', 'NO_KEY']);
  t.is(providers[0]?.baseUrl.hostname, 'unset.invalid');
  t.deepEqual(findings(written).warnings, [
    "Providers[0] can't be used: the environment variable NO_HOST is not set",
    "Providers[0] can't be used: the environment variable NO_KEY is not set",
  ]);
});

test('a missing key is an empty key', (t) => {
  for (const apiKey of ['', [], [''], [' ']]) {
    t.deepEqual(configOf({ Providers: [{ ...p, apiKey }] }).providers[0]?.apiKeys, ['']);
  }
});

test('several keys: unusable ones are ignored with a warning, as long as one is left', (t) => {
  const written = { Providers: [{ ...p, apiKey: ['$KEY', '$NO_KEY', ' ', 's3cret', 'k2'] }] };
  t.deepEqual(configOf(written).providers[0]?.apiKeys, ['s3cret', 'k2']);
  t.deepEqual(configOf(written).providers[0]?.unset, []);
  t.deepEqual(findings(written).warnings, [
    'Providers[0].apiKey[1] is ignored: the environment variable NO_KEY is not set',
    'Providers[0].apiKey[2] is ignored: it is blank',
    'Providers[0].apiKey[3] is ignored: the key is listed before',
  ]);
  const none = configOf({
    Providers: [{ name: 'p', api_base_url: 'http://h', api_key: ['$NO_KEY', '$NO'], models: [] }],
  });
  t.deepEqual([none.providers[0]?.apiKeys, none.providers[0]?.unset], [[''], ['NO_KEY', 'NO']]);
});

test('keys by command: a text that no key can be stands for each', (t) => {
  const command = ['$KEY', 'print'];
  const one = configOf({ Providers: [{ ...p, apiKey: { command } }] }).providers[0];
  const [name = ''] = one?.apiKeys ?? [];
  t.deepEqual([...(one?.keyCommands ?? [])], [[name, { command: ['s3cret', 'print'], forMs: 300_000 }]]);
  const written = {
    Providers: [{ ...p, apiKey: [{ command, forMs: 1_000 }, 'k', { command, forMs: 2_000 }, { command: ['$NO'] }] }],
  };
  const several = configOf(written).providers[0];
  t.deepEqual(several?.apiKeys, [name, 'k']);
  t.deepEqual([...(several?.keyCommands?.values() ?? [])], [{ command: ['s3cret', 'print'], forMs: 1_000 }]);
  t.deepEqual(findings(written).warnings, [
    'Providers[0].apiKey[2] is ignored: the key is listed before',
    'Providers[0].apiKey[3] is ignored: the environment variable NO is not set',
  ]);
  t.deepEqual(configOf({ Providers: [{ ...p, apiKey: { command: ['$NO'] } }] }).providers[0]?.unset, ['NO']);
  t.deepEqual(findings({ Providers: [{ ...p, apiKey: name }] }).faults, [
    'Providers[0].apiKey has a character that no HTTP header can hold, such as a line break',
  ]);
  for (const apiKey of [
    { command: [] },
    { command: 'gcloud' },
    {},
    [{ command: [' '] }],
    { command: ['a'], forMs: 5 },
  ]) {
    const { faults } = findings({ Providers: [{ ...p, apiKey }] });
    t.true(faults.length > 0 && faults.every((fault) => fault.startsWith('Providers[0].apiKey')), faults.join());
  }
  t.deepEqual(findings({ Providers: [{ ...p, apiKey: { command: ['a'], forms: 5_000 } }] }).warnings, [
    'Providers[0].apiKey.forms is unknown and has no effect; did you mean forMs?',
  ]);
});

const withRouter = (Router: JsonObject): JsonObject => ({ Providers: [p, q], Router });

const faults: readonly (readonly [string, JsonObject, readonly string[]])[] = [
  ['a port that is too high', { PORT: 65536 }, ['PORT must be <= 65535']],
  [
    'hosts that no Host header can match',
    {
      ALLOWED_HOSTS: [
        'a.example',
        'a.example:80',
        '[::1]:80',
        'app://obsidian.md',
        'http://localhost:3000',
        '*.example',
        'a/b',
        '::1',
      ],
    },
    [3, 4, 5, 6, 7].map((at) => {
      const hint = at < 5 ? 'origins of web pages belong in ALLOWED_ORIGINS' : 'IPv6 addresses in brackets';
      return `ALLOWED_HOSTS[${at}] must be a host name or an address, with or without a port; ${hint}`;
    }),
  ],
  [
    'origins that no Origin header can match',
    { ALLOWED_ORIGINS: ['app://x', 'null', '*', 'https://*.example', 'https://a.example/', 'a.example', 'https://'] },
    [1, 2, 3, 4, 5, 6].map(
      (at) =>
        `ALLOWED_ORIGINS[${at}] must be the origin of a web page or an app, without a path, such as https://app.example or app://notes`,
    ),
  ],
  [
    'proxies that are no addresses',
    { PROXIES: ['10.0.0.0/8', 'proxy.lan', '10.0.0.0/33', 'fe80::1%eth0', '::/129', '10.0.0.1/'] },
    [1, 2, 3, 4, 5].map((at) => `PROXIES[${at}] must be an IP address, or a network such as 10.0.0.0/8`),
  ],
  ['a port that is no number', { PORT: 'x' }, ['PORT must be integer']],
  [
    'an unknown level',
    { LOG_LEVEL: 'loud' },
    ['LOG_LEVEL must be "debug", "info", "warn", "error", "trace" or "fatal"'],
  ],
  ['an unknown way to check answers', { GRAMMAR: 'on' }, ['GRAMMAR must be "off" or "watch"']],
  ['a limit of nothing', { LIMITS: { bodyBytes: 0 } }, ['LIMITS.bodyBytes must be >= 1']],
  [
    'bodies that could not become a text',
    { LIMITS: { bodyBytes: 536_870_889, decompressedBytes: 2 ** 40 } },
    ['LIMITS.bodyBytes must be <= 536870888', 'LIMITS.decompressedBytes must be <= 536870888'],
  ],
  ['JSON too deep to be walked', { LIMITS: { jsonDepth: 100_000 } }, ['LIMITS.jsonDepth must be <= 1000']],
  [
    'an open address without a key',
    { HOST: '0.0.0.0' },
    [
      'HOST is not a loopback address: "0.0.0.0" can be reached from other machines, so APIKEY must be set, or HOST must be 127.0.0.1',
    ],
  ],
  [
    'a key whose variable is not set',
    { APIKEY: '$NO_KEY' },
    ['APIKEY names the environment variable NO_KEY, which is not set'],
  ],
  ['a key that is blank', { APIKEY: '$BLANK' }, ['APIKEY must not be blank']],
  ['providers that are no list', { Providers: {} }, ['Providers must be array']],
  [
    'a provider with nothing in it',
    { Providers: [{}] },
    ['Providers[0].name is required', 'Providers[0].models is required'],
  ],
  [
    'a provider without address and key',
    { Providers: [{ name: 'p', models: [] }] },
    ['Providers[0].baseUrl is required', 'Providers[0].apiKey is required'],
  ],
  ['no URL', { Providers: [{ ...p, baseUrl: 'h.example' }] }, ['Providers[0].baseUrl must be a URL (http or https)']],
  [
    'no web URL',
    { Providers: [{ ...p, baseUrl: 'file:///x' }] },
    ['Providers[0].baseUrl must be a URL (http or https)'],
  ],
  [
    'no URL in the older spelling',
    { Providers: [{ name: 'p', api_base_url: 'localhost:1/v1', api_key: '', models: [] }] },
    ['Providers[0].api_base_url must be a URL (http or https)'],
  ],
  ['a name given twice', { Providers: [p, p] }, ['Providers[1].name "p" is used twice; names must be unique']],
  [
    'a name with a comma',
    { Providers: [{ ...p, name: 'a,b' }] },
    ['Providers[0].name must not contain a comma, which separates the provider from the model'],
  ],
  ['a blank name', { Providers: [{ ...p, name: ' ' }] }, ['Providers[0].name must not be blank']],
  [
    'empty names, which schema and rule find',
    { Providers: [{ ...p, name: '' }], Pools: [{ name: '', members: [{ to: '' }] }] },
    [
      'Providers[0].name must not be blank',
      'Pools[0].name must not be blank',
      'Pools[0].members[0].to must not be blank',
    ],
  ],
  [
    'a default with an unknown provider',
    withRouter({ default: 'r,m' }),
    ['Router.default names the unknown provider "r"; known providers: "p", "Q"'],
  ],
  ['a route without a model', withRouter({ routes: { think: 'p,' } }), ['Router.routes.think has no model: "p,"']],
  [
    'a route to a model that no provider lists',
    withRouter({ image: 'a/b' }),
    ['Router.image must be `provider,model` or a model that a provider lists, not "a/b"; did you mean "a/b:c"?'],
  ],
  [
    'a URL with a password',
    { Providers: [{ ...p, baseUrl: 'https://me:hush@h.example' }] },
    ['Providers[0].baseUrl must not contain a user name or password, which would not be sent; use apiKey'],
  ],
  [
    'keys of a wrong kind',
    {
      Providers: [
        { ...p, apiKey: ['k', 5] },
        { ...q, apiKey: [] },
      ],
    },
    ['Providers[0].apiKey[1] must be string or object'],
  ],
  [
    'fallbacks that lead nowhere',
    { ...withRouter({ fallback: { default: ['p,m', 'r,m'], think: ['p,'] } }), fallback: { image: ['a/b'] } },
    [
      'Router.fallback.default[1] names the unknown provider "r"; known providers: "p", "Q"',
      'fallback.image[0] must be `provider,model` or a model that a provider lists, not "a/b"; did you mean "a/b:c"?',
      'Router.fallback.think[0] has no model: "p,"',
    ],
  ],
  [
    'a fallback that is no list',
    withRouter({ fallback: { default: 'p,m' } }),
    ['Router.fallback.default must be array'],
  ],
  [
    'retries without measure',
    { RETRY: { attempts: 11, budget: 1.5, baseMs: -1 }, BREAKER: { faults: 0 }, KEYS: { refusedMs: 'x' } },
    [
      'RETRY.attempts must be <= 10',
      'RETRY.budget must be <= 1',
      'RETRY.baseMs must be >= 0',
      'BREAKER.faults must be >= 1',
      'KEYS.refusedMs must be integer',
    ],
  ],
  ['a default that is no text', { Router: { default: 1 } }, ['Router.default must be string']],
  ['an entry without a name', { transformers: [{ options: {} }] }, ['transformers[0].name is required']],
  ['an entry that is blank', { transformers: [''] }, ['transformers[0] names nothing']],
  ['an entry of a wrong kind', { transformers: ['x', 5] }, ['transformers[1] must be string or object']],
  [
    'a use with options of a wrong kind',
    { Providers: [{ ...p, transformer: { use: [['maxtoken', 5]] } }] },
    ['Providers[0].transformer.use[0] must have an object of options as its second member'],
  ],
  [
    'a use of a model without `use`',
    { Providers: [{ ...p, transformer: { m: ['tooluse'] } }] },
    ['Providers[0].transformer.m must be an object with `use`'],
  ],
  [
    'one fault brings about no others',
    {
      Providers: [{ ...p, baseUrl: 'x' }],
      Router: { default: 'p,m', think: 'm' },
      transformers: [{ name: 'a', provider: 'p' }],
    },
    ['Providers[0].baseUrl must be a URL (http or https)'],
  ],
  [
    'all faults are told at once',
    {
      PORT: -1,
      Providers: [
        { ...p, models: 5 },
        { ...q, baseUrl: '' },
      ],
      Router: { default: 'z,m' },
    },
    [
      'PORT must be >= 0',
      'Providers[0].models must be array',
      'Providers[1].baseUrl must be a URL (http or https)',
      'Router.default names the unknown provider "z"; known providers: "p", "Q"',
    ],
  ],
];

for (const [title, written, expected] of faults) {
  test(`a fault: ${title}`, (t) => t.deepEqual(findings(written).faults, [...expected]));
}

const warnings: readonly (readonly [string, JsonObject, readonly string[]])[] = [
  ['nothing to say', { ...withRouter({ default: 'p,m', routes: { think: 'q,m' } }), transformers: ['x'] }, []],
  ['an unknown field', { Provider: [] }, ['Provider is unknown and has no effect; did you mean Providers?']],
  [
    'unknown fields further in',
    { Providers: [{ ...p, timeout: 1 }], LIMITS: { body: 1 }, Router: { routes: { thinking: 'p,m' } } },
    [
      'LIMITS.body is unknown and has no effect; did you mean bodyBytes?',
      'Providers[0].timeout is unknown and has no effect; did you mean timeouts?',
      'Router.routes.thinking is unknown and has no effect; did you mean think?',
    ],
  ],
  [
    'a model that its provider does not list',
    withRouter({ default: 'p,z' }),
    [`Router.default names a model that p doesn't list: "p,z"`],
  ],
  [
    'a model that two list',
    withRouter({ default: 'm' }),
    ['Router.default names a model that 2 providers list: "m"; p is used'],
  ],
  [
    'a route in both spellings',
    withRouter({ think: 'p,m', routes: { think: 'p,n' } }),
    ['Router.think has no effect: Router.routes.think is set too'],
  ],
  [
    'fallbacks in both spellings',
    { ...withRouter({ fallback: { think: ['p,m'], image: ['p,m'] } }), fallback: { think: ['q,m'], image: ['p,m'] } },
    ['fallback.think has no effect: Router.fallback.think is set too'],
  ],
  [
    'unknown rules and figures',
    {
      ...withRouter({ fallback: { thinking: ['p,m'] } }),
      RETRY: { attempt: 1 },
      BREAKER: { x: 1 },
      fallback: { y: 1 },
    },
    [
      'RETRY.attempt is unknown and has no effect; did you mean attempts?',
      'BREAKER.x is unknown and has no effect',
      'Router.fallback.thinking is unknown and has no effect; did you mean think?',
      'fallback.y is unknown and has no effect',
    ],
  ],
  [
    'a field in both spellings',
    { Providers: [{ ...p, api_key: 'other' }] },
    ['Providers[0].api_key has no effect: apiKey is set too'],
  ],
  [
    'names that differ only in case',
    { Providers: [p, { ...q, name: 'P' }] },
    ['Providers[1].name differs from "p" only in case'],
  ],
  [
    'an entry for an unknown provider',
    { Providers: [p], transformers: [{ name: 'x', provider: 'z' }] },
    ['transformers[0].provider names the unknown provider "z": the entry has no effect'],
  ],
  [
    'variables that are not set',
    { HOST: '$H', Router: { default: '$D' }, transformers: [{ name: 'x', options: { k: '$K' } }] },
    [
      'HOST is ignored: the environment variable H is not set',
      'Router.default is ignored: the environment variable D is not set',
      'transformers[0].options.k names the environment variable K, which is not set',
    ],
  ],
];

for (const [title, written, expected] of warnings) {
  test(`a warning: ${title}`, (t) => t.deepEqual(findings(written), { faults: [], warnings: [...expected] }));
}

test('no message contains a value from the environment', (t) => {
  const secret = '$KEY';
  const said = findings({
    HOST: '0.0.0.0',
    APIKEY: [secret],
    Providers: [{ name: 'p', baseUrl: secret, apiKey: secret, api_key: 'x', models: [5, secret] }],
    transformers: [{ name: 'x', options: secret }],
  });
  t.notDeepEqual(said.faults, []);
  t.false(JSON.stringify(said).includes(env.KEY));
});

test('S13 a configuration nested too deep to be read again is rejected', (t) => {
  const nested = (levels: number): JsonObject => JSON.parse(`${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`);
  t.deepEqual(findings(nested(257)).faults, ['The configuration is nested deeper than 256 levels']);
  t.deepEqual(findings(nested(256)).faults, []);
});

test('a key that no header can hold is named, without its value', (t) => {
  const said = (apiKey: string | readonly string[]) => findings({ Providers: [{ ...p, apiKey }] }).faults;
  const why = 'has a character that no HTTP header can hold, such as a line break';
  t.deepEqual(said('top\nsecret'), [`Providers[0].apiKey ${why}`]);
  t.deepEqual(said(['fine', 'ключ']), [`Providers[0].apiKey[1] ${why}`]);
  t.deepEqual(said(' a trailing line break is cut\n'), []);
});

test('a HOST that is more than a host says so', (t) => {
  for (const HOST of ['http://127.0.0.1', 'http://[::1]:3456', 'localhost:3456', '127.0.0.1:80', 'a b'])
    t.deepEqual(findings({ HOST }).faults, [
      'HOST must be an IP address or a host name alone, such as 127.0.0.1; the port is PORT',
    ]);
  for (const HOST of ['127.0.0.1', 'localhost', '::1', '[::1]', '::ffff:127.0.0.1'])
    t.deepEqual(findings({ HOST }).faults, []);
});
