import Type, { type Static } from 'typebox';
import { RuleFile, StageWhen } from './rule-schema.ts';

const text = (description: string, ...examples: readonly string[]) =>
  Type.Optional(Type.String({ description, examples }));
/**
 * What is secret in a text: `text`, all of it; `url`, its user and password, and parameters with the name of a secret;
 * `named`, on a map or list of free form: members with such a name. Whatever shows or logs a configuration goes by it.
 */
export type SecretMark = 'text' | 'url' | 'named';
/**
 * The groups in which forms show the settings of the service, in this order, with what is said of them beside the descriptions of their
 * fields. A group with one field that is an object shows its members.
 */
const settingGroups = {
  Listening: 'Where the gateway listens.',
  Key: 'Required from all clients, including the web interface, which asks for the new one after a change. $NAME takes it from the gateway’s environment, which keeps it out of config.json and its backups.',
  Clients: '',
  'Behind a balancer': 'How connections of a load balancer are treated.',
  'Chat Completions': 'What Chat Completions clients may request.',
  Logs: 'What is written to the log files.',
  Limits: '',
  Timeouts: '',
  Retries: 'A response that has started is never retried.',
  Refusals: 'What is learned when a provider refuses a field.',
  Breakers: '',
  'Key cooldowns': '',
  History: '',
  Telemetry: '',
  Machines: '',
};
/** Annotations of a setting of the service, which presets can't have: its group, and its name in forms. */
interface SettingMarks {
  readonly group: keyof typeof settingGroups;
  readonly title?: string;
  /** A change takes effect after a restart. */
  readonly restart?: true;
}
const setting = (group: SettingMarks['group'], more: Omit<SettingMarks, 'group'> = {}): SettingMarks => ({
  group,
  ...more,
});
const secret = <const M extends SecretMark>(mark: M): { readonly secret: M } => ({ secret: mark });
const url = (description: string, ...examples: readonly string[]) =>
  Type.Optional(Type.String({ description, ...secret('url'), examples }));
const texts = (description: string, example: readonly string[], marks: Partial<SettingMarks> = {}) =>
  Type.Array(Type.String(), { description, ...marks, examples: [example] });
const flag = (description: string, value: boolean, marks: Partial<SettingMarks> = {}) =>
  Type.Boolean({ description, ...marks, default: value });
const whole = (description: string, value: number, minimum = 1) =>
  Type.Integer({ description, default: value, minimum });

/** The longest timer in milliseconds; Node.js fires longer ones at once. Source: Node.js documentation, `setTimeout`. */
export const longestTimerMs = 2 ** 31 - 1;
/** What a number counts, for forms: an annotation of the schema. */
type Unit = 'bytes' | 'ms' | 'minutes' | 'days';
const unit = (name: Unit): { readonly unit: Unit } => ({ unit: name });
const milliseconds = (description: string, value: number, minimum = 1) =>
  Type.Integer({ description, ...unit('ms'), default: value, minimum, maximum: longestTimerMs });
const bytes = (description: string, value: number) =>
  Type.Integer({ description, ...unit('bytes'), default: value, minimum: 1 });

/** The longest string in V8. Source: V8, `String::kMaxLength` on 64-bit platforms (`buffer.constants.MAX_STRING_LENGTH`). */
export const maxStringBytes = 2 ** 29 - 24;
/** A byte limit for data that is decoded into one string. */
const textBytes = (description: string, value: number) =>
  Type.Integer({ description, ...unit('bytes'), default: value, minimum: 1, maximum: maxStringBytes });
const mebibyte = 1024 * 1024;

/** Maximum nesting: deeper values could exhaust the stack when walked recursively. */
const maxJsonDepth = 1_000;

/**
 * Milliseconds of silence after which a streaming client gets a keep-alive. The first one sends status 200, so later failures
 * can't have their own status and headers.
 */
export const keepAliveMs = 15_000;

const callMs = 'Milliseconds for a whole call to a provider, from sending it to the end of the answer; 0: no limit.';
const firstByteMs = "Milliseconds for the first byte of a provider's answer.";
const idleMs = "Milliseconds between two pieces of a provider's answer.";
const ownMilliseconds = (description: string, example: number, minimum = 1) =>
  Type.Optional(Type.Integer({ description, ...unit('ms'), minimum, maximum: longestTimerMs, examples: [example] }));

/** `timeouts` of a provider. */
const ProviderTimeouts = Type.Object(
  {
    firstByteMs: ownMilliseconds(firstByteMs, 1_800_000),
    idleMs: ownMilliseconds(idleMs, 1_800_000),
    callMs: ownMilliseconds(callMs, 3_600_000, 0),
  },
  {
    description: 'How long it may take, where that differs from `TIMEOUTS`.',
    examples: [{ firstByteMs: 1_800_000 }],
  },
);
export type ProviderTimeouts = Readonly<Static<typeof ProviderTimeouts>>;

/** A key that a program prints. */
const KeyCommandFile = Type.Object(
  {
    command: Type.Array(Type.String(), {
      description:
        'The program and its arguments, without a shell. It prints the key as one line, within 10 s. It runs only if the service is started with `--allow-key-command` and this command.',
      minItems: 1,
      maxItems: 64,
      examples: [['gcloud', 'auth', 'print-access-token']],
    }),
    forMs: Type.Optional(
      Type.Integer({
        description: 'How long the key is used; it is renewed before that, and when the provider refuses it.',
        ...unit('ms'),
        minimum: 1_000,
        maximum: 86_400_000,
        default: 300_000,
      }),
    ),
  },
  { description: 'A key by command.', examples: [{ command: ['gcloud', 'auth', 'print-access-token'] }] },
);
type KeyCommandFile = Static<typeof KeyCommandFile>;

/** A credential in the source. */
export type CredentialFile = string | KeyCommandFile;

const CredentialText = Type.String(secret('text'));
const credential = (description: string) =>
  Type.Optional(
    Type.Union([CredentialText, KeyCommandFile, Type.Array(Type.Union([CredentialText, KeyCommandFile]))], {
      description,
      examples: [
        '$PROVIDER_KEY',
        ['$FIRST_KEY', '$SECOND_KEY'],
        { command: ['gcloud', 'auth', 'print-access-token'], forMs: 1_800_000 },
      ],
    }),
  );

const StageUse = Type.Union(
  [
    Type.String({ description: "The transformer's name." }),
    Type.Array(Type.Unknown(), {
      minItems: 1,
      maxItems: 2,
      description: 'The name and the options.',
      ...secret('named'),
    }),
  ],
  {
    description: 'A transformer in the older spelling.',
    examples: ['enhancetool', ['maxtoken', { max_tokens: 8192 }]],
  },
);
export type StageUse = Static<typeof StageUse>;

const StageUses = Type.Array(StageUse, {
  description: 'Transformers in the older spelling.',
  examples: [['enhancetool']],
});

const values = (description: string, example: Readonly<Record<string, string>>) =>
  Type.Optional(Type.Record(Type.String(), Type.String(), { description, ...secret('named'), examples: [example] }));

/** What calls to a provider or model have beside what the format makes of a request. */
const callExtras = {
  headers: values('Headers that calls have in addition.', { 'http-referer': 'https://example.org' }),
  query: values('Parameters that the URL of calls has in addition.', { 'api-version': '2026-10-01' }),
  body: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Members that are merged into the body of calls; null removes a member.',
      ...secret('named'),
      examples: [{ provider: { sort: 'price' } }],
    }),
  ),
};
const CallExtrasFile = Type.Object(callExtras);
/** Source of `CallExtras`. */
export type CallExtrasFile = Static<typeof CallExtrasFile>;

const usd = (description: string, example: number) => Type.Number({ description, minimum: 0, examples: [example] });

/** `price` of a model. */
export const ModelPriceFile = Type.Object(
  {
    input: usd('Tokens of prompts.', 3),
    output: usd('Tokens of answers.', 15),
    cacheRead: Type.Optional(usd('Prompt tokens that come from a cache; default: `input`.', 0.3)),
    cacheWrite: Type.Optional(usd('Prompt tokens that are written to a cache; default: `input`.', 3.75)),
    cacheWrite1h: Type.Optional(usd('Those that stay there for an hour; default: `cacheWrite`.', 6)),
  },
  { description: 'What it costs, in USD per million tokens.', examples: [{ input: 3, output: 15 }] },
);

const modelTokens = (description: string, example: number) =>
  Type.Optional(Type.Integer({ description, minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [example] }));

/** An object element of a provider's `models`. */
export const ModelFile = Type.Object({
  name: Type.String({ description: "The model's name.", minLength: 1, examples: ['large-model'] }),
  context: modelTokens('Tokens of its context window.', 131_072),
  maxOutput: modelTokens('Tokens that an answer may have.', 32_768),
  input: Type.Optional(
    Type.Array(Type.Enum(['text', 'image', 'pdf', 'audio', 'video']), {
      description: 'What it takes.',
      examples: [['text', 'image']],
    }),
  ),
  price: Type.Optional(ModelPriceFile),
  lacks: Type.Optional(
    Type.Array(Type.Enum(['sampling', 'forcedToolChoice', 'reasoningOff', 'reasoningBudget', 'minimalEffort']), {
      description: 'What it lacks: requests that ask for it are adapted, which is recorded as a loss.',
      examples: [['sampling', 'reasoningOff']],
    }),
  ),
  ...callExtras,
});
export type ModelFile = Static<typeof ModelFile>;

/** An element of `Providers` in the source. The older spellings are claude-code-router's. */
export const ProviderFile = Type.Object({
  name: Type.String({
    description: 'The part before the comma in `provider,model`.',
    minLength: 1,
    examples: ['work', 'local'],
  }),
  baseUrl: url("Base URL of the provider's API.", 'https://api.vendor.example/v1', 'http://127.0.0.1:11434/v1'),
  otherBaseUrls: Type.Optional(
    Type.Array(Type.String(secret('url')), {
      description:
        'Further base URLs of the same API and keys, in order; each takes requests while those before it fail.',
      maxItems: 8,
      examples: [['https://eu.vendor.example/v1']],
    }),
  ),
  apiKey: credential(
    'The credential, preferably a reference such as `$PROVIDER_KEY`, a command that prints it, or a list of several used in rotation. Empty if none is needed.',
  ),
  credentials: Type.Optional(
    Type.Literal('client', {
      description:
        "`client`: each client sends the vendor's own key or login, in place of `apiKey`; it goes to this provider alone.",
      examples: ['client'],
    }),
  ),
  models: Type.Array(
    Type.Union([Type.String({ description: "The model's name." }), ModelFile], {
      description: 'A model: its name, or an object with what is known of it and what its calls have in addition.',
      examples: ['large-model'],
    }),
    { description: 'The models that the provider supports.', examples: [['large-model', 'small-model']] },
  ),
  ...callExtras,
  timeouts: Type.Optional(ProviderTimeouts),
  webSocket: Type.Optional(
    Type.Boolean({
      description: 'Streamed Responses requests go over a WebSocket, which later requests of a conversation reuse.',
      default: false,
    }),
  ),
  learn: Type.Optional(
    Type.Boolean({
      description:
        'Whether a refusal of a field is answered by one more try without it, and remembered; absent: as the `learn` of all providers.',
      examples: [false],
    }),
  ),
  api_base_url: url('Older spelling of `baseUrl`.', 'https://api.vendor.example/v1'),
  api_key: credential('Older spelling of `apiKey`.'),
  transformer: Type.Optional(
    Type.Record(Type.String(), Type.Union([StageUses, Type.Object({ use: StageUses })]), {
      description: 'Older spelling of `transformers`: `use` for all models, or a model name with its own `use`.',
      examples: [{ use: ['enhancetool'] }],
    }),
  ),
});
export type ProviderFile = Static<typeof ProviderFile>;

const destination = 'as `provider,model`, as a model that some provider lists, or as a pool';
const exampleModel = 'work,large-model';
const routed = (requests: string) => text(`Where ${requests} go, ${destination}.`, exampleModel);

const routes = {
  compact: routed('requests to summarize a conversation'),
  longContext: routed('requests longer than `longContextThreshold`'),
  image: routed('requests with an image in the latest user turn'),
  webSearch: routed('requests for a web search'),
  background: routed("an agent's small tasks"),
  think: routed('requests for deep thinking'),
};

const destinations = (rule: string) =>
  Type.Optional(texts(`Where requests of ${rule} go instead, in this order, ${destination}.`, [exampleModel]));

/** Fallbacks in the source. */
export const FallbackFile = Type.Object(
  {
    default: destinations('the default'),
    compact: destinations('that scenario'),
    longContext: destinations('that scenario'),
    image: destinations('that scenario'),
    webSearch: destinations('that scenario'),
    background: destinations('that scenario'),
    think: destinations('that scenario'),
  },
  {
    description: 'Fallback destinations by scenario (or `default`), used if the chosen one fails.',
    examples: [{ default: [exampleModel] }],
  },
);
export type FallbackFile = Static<typeof FallbackFile>;

/** `Router.module` in the source, as an object. */
export const RouterModuleFile = Type.Object({
  path: Type.String({
    description: "The module, absolute or relative to the configuration's folder.",
    minLength: 1,
    examples: ['custom-router.js'],
  }),
  form: Type.Optional(
    Type.Enum(['question', 'messages'], {
      description: 'What its function takes: a question, or a Messages request and the configuration.',
      default: 'question',
    }),
  ),
});

/** `Router` in the source. Scenarios directly on it are claude-code-router's spelling. */
export const RouterFile = Type.Object(
  {
    default: text(`Where a bare model name goes when no scenario fits, ${destination}.`, exampleModel),
    longContextThreshold: Type.Optional(
      Type.Integer({
        description:
          'Tokens above which a request counts as long. Default: 90 % of the window of the default route, or 60,000 if that is unknown.',
        minimum: 0,
        examples: [60_000],
      }),
    ),
    compactPrompt: Type.Optional(
      Type.String({
        description: 'The prompt for the summary of a conversation, where the provider has no compaction.',
        minLength: 1,
        maxLength: 20_000,
        examples: ['Summarize the conversation. Keep all names, paths and decisions.'],
      }),
    ),
    routes: Type.Optional(
      Type.Object(routes, { description: 'Destinations by scenario.', examples: [{ think: exampleModel }] }),
    ),
    fallback: Type.Optional(FallbackFile),
    module: Type.Optional(
      Type.Union([Type.String(), RouterModuleFile], {
        description: 'A module that is asked for the destination before the rules: its path, or an object.',
        examples: ['route.ts', { path: 'custom-router.js', form: 'messages' }],
      }),
    ),
    rules: Type.Optional(
      Type.Array(RuleFile, {
        maxItems: 100,
        description: 'Rules of your own, looked at before the scenarios; the first one that matches decides.',
        examples: [[{ name: 'reviews', when: { model: '*opus*' }, to: exampleModel }]],
      }),
    ),
    ...routes,
  },
  { description: 'Which destination a request gets.' },
);
export type RouterFile = Static<typeof RouterFile>;

/** How a pool chooses one of its members. */
const PoolStrategy = Type.Enum(['weighted', 'fastest', 'least-busy', 'sticky'], {
  description:
    '`weighted`: by the weights; `fastest`: of two, the one whose answers begin sooner; `least-busy`: the one with the fewest requests in flight; `sticky`: the same for all requests of a conversation.',
  default: 'weighted',
});
export type PoolStrategy = Static<typeof PoolStrategy>;

/** A member of a pool in the source. */
export const PoolMemberFile = Type.Object({
  to: Type.String({
    description: 'The destination, as `provider,model`, or as a model that some provider lists.',
    examples: [exampleModel],
  }),
  weight: Type.Optional(
    Type.Number({
      description: 'Its share compared with the others, where the strategy is `weighted` or `sticky`.',
      default: 1,
      exclusiveMinimum: 0,
      maximum: 1_000,
    }),
  ),
  models: Type.Optional(
    texts('The models that clients ask for which it serves: globs with `*`; absent: all.', ['large-*', '*-mini']),
  ),
});
export type PoolMemberFile = Static<typeof PoolMemberFile>;

/** An element of `Pools` in the source. */
export const PoolFile = Type.Object({
  name: Type.String({
    description: 'What destinations and clients call it. Unique, without a comma.',
    maxLength: 100,
    examples: ['large'],
  }),
  strategy: Type.Optional(PoolStrategy),
  members: Type.Array(PoolMemberFile, {
    description: 'The destinations among which it chooses.',
    maxItems: 100,
    examples: [[{ to: exampleModel, weight: 2 }, { to: 'spare,large-model' }]],
  }),
});
export type PoolFile = Static<typeof PoolFile>;

/** An object element of `transformers`. */
export const TransformerFile = Type.Object({
  name: text("The transformer's name; optional if `path` is given.", 'maxtoken'),
  provider: text('The provider it applies to; absent: all.', 'local'),
  models: Type.Optional(texts('The models it applies to; absent: all.', ['qwen3-coder'])),
  path: text("A module to load, absolute or relative to the configuration's folder.", 'stages/house-rules.ts'),
  ask: Type.Optional(
    texts('Destinations that the module may call besides that of the request: `provider,model`, or pools.', [
      'local,guard',
    ]),
  ),
  timeoutMs: ownMilliseconds(
    "How long the module's operators and its `around` may take, where that differs from `TIMEOUTS.stageMs`.",
    5_000,
  ),
  when: Type.Optional(StageWhen),
  onError: Type.Optional(
    Type.Enum(['fail', 'skip'], {
      description:
        'What follows when the stage fails: `fail`, the request fails; `skip`, it goes on without the stage.',
      default: 'fail',
      examples: ['skip'],
    }),
  ),
  options: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: "The transformer's options.",
      ...secret('named'),
      examples: [{ max_tokens: 8192 }],
    }),
  ),
});
export type TransformerFile = Static<typeof TransformerFile>;

/** An element of `transformers`. */
export const TransformerEntryFile = Type.Union([
  Type.String({ description: 'The name of a transformer, for every provider.' }),
  TransformerFile,
]);

/** `LIMITS`: size limits of requests and answers, and concurrency limits. */
export const Limits = Type.Object({
  bodyBytes: textBytes('Bytes of a request body as sent.', 32 * mebibyte),
  decompressedBytes: Type.Optional(
    Type.Integer({
      description: 'Bytes of a request body once decompressed; default: twice `bodyBytes`.',
      ...unit('bytes'),
      examples: [64 * mebibyte],
      minimum: 1,
      maximum: maxStringBytes,
    }),
  ),
  bodiesBytes: bytes('Bytes of memory for all active request bodies together, in all their forms.', 512 * mebibyte),
  answersBytes: bytes(
    "Bytes of memory for what is held of providers' answers, all active ones together, in all their forms.",
    512 * mebibyte,
  ),
  ratio: whole('Decompressed bytes per compressed byte.', 200),
  jsonDepth: Type.Integer({
    description: "Nesting of a request's JSON.",
    default: 256,
    minimum: 1,
    maximum: maxJsonDepth,
  }),
  requestsPerClient: whole('Concurrent requests of one client address.', 1024),
  connectionsPerClient: Type.Optional(
    Type.Integer({
      description: 'Connections of one client address; default: 1024, or `requestsPerClient` if that is more.',
      examples: [1024],
      minimum: 1,
    }),
  ),
  webSockets: whole(
    'WebSocket connections of all clients; beyond, and with 0, a client is told to send plain requests.',
    4096,
    0,
  ),
  connectionsPerProvider: whole('Concurrent connections to one provider.', 2048),
  queuePerProvider: whole('Calls that may wait for one of these connections.', 1024, 0),
  recordBytes: textBytes("Bytes of one record of a provider's stream.", 64 * mebibyte),
  replyBytes: textBytes(
    "Bytes of a provider's whole answer, and of the content of a stream that is converted.",
    64 * mebibyte,
  ),
  decompressedReplyBytes: bytes(
    "Bytes of a provider's compressed answer, as sent and once decompressed.",
    64 * mebibyte,
  ),
});
export type Limits = Readonly<Required<Static<typeof Limits>>>;

/** `TIMEOUTS`. */
export const Timeouts = Type.Object({
  connectMs: milliseconds('Milliseconds for a connection to a provider.', 10_000),
  firstByteMs: milliseconds(firstByteMs, 600_000),
  idleMs: milliseconds(idleMs, 600_000),
  callMs: milliseconds(callMs, 0, 0),
  queueMs: milliseconds('Milliseconds to wait for a free connection to a provider.', 30_000),
  stageMs: milliseconds(
    'Milliseconds that a custom transformer may take over a request, or over a batch of an answer.',
    30_000,
  ),
  leaveMs: milliseconds(
    'Milliseconds for which a stopping service still accepts connections, for a balancer to see that it is not ready.',
    0,
    0,
  ),
  drainMs: milliseconds('Milliseconds that active streams have to finish when the service stops.', 30_000, 0),
});
export type Timeouts = Readonly<Static<typeof Timeouts>>;

/** `RETRY`: how failed calls are retried. */
export const RetryPolicy = Type.Object({
  attempts: Type.Integer({ description: 'Retries at one destination.', default: 2, minimum: 0, maximum: 10 }),
  budget: Type.Number({
    description: "The share of a provider's active requests that may be retries.",
    default: 0.2,
    minimum: 0,
    maximum: 1,
  }),
  floor: whole('Retries that are always allowed, however few requests are active.', 3, 0),
  baseMs: milliseconds('Upper bound of the random first wait, in milliseconds; doubles with each retry.', 500, 0),
  maxMs: milliseconds('The longest of these waits, in milliseconds.', 8_000, 0),
  waitMs: Type.Integer({
    description: 'The longest total wait of one request, in milliseconds.',
    ...unit('ms'),
    default: 10_000,
    minimum: 0,
    maximum: keepAliveMs - 1,
  }),
});
export type RetryPolicy = Readonly<Static<typeof RetryPolicy>>;

/** `BREAKER`: when the circuit breaker of a provider's model opens. */
export const BreakerPolicy = Type.Object({
  faults: whole('Consecutive failures after which calls to a model are suspended.', 5),
  openMs: milliseconds('Milliseconds for which calls to it are suspended.', 30_000),
});
export type BreakerPolicy = Readonly<Static<typeof BreakerPolicy>>;

/** `KEYS`: cooldowns of keys. */
export const KeyPolicy = Type.Object({
  limitedMs: milliseconds('Cooldown of a key in milliseconds, after a rate limit that states no time.', 30_000),
  refusedMs: milliseconds('Cooldown of a key in milliseconds, after it was rejected.', 300_000),
});
export type KeyPolicy = Readonly<Static<typeof KeyPolicy>>;

/** `HISTORY`: what is kept of ended requests. */
export const HistoryPolicy = Type.Object({
  days: Type.Integer({
    description: 'Days for which summaries of requests are kept on disk; 0: none are written.',
    ...unit('days'),
    default: 30,
    minimum: 0,
    maximum: 3_650,
  }),
  bytes: Type.Integer({
    description: 'Size of their files together, beyond which the oldest are removed.',
    ...unit('bytes'),
    default: 268_435_456,
    minimum: 16_777_216,
    maximum: Number.MAX_SAFE_INTEGER,
  }),
  captureMinutes: Type.Integer({
    description: 'Minutes after which captures, which hold prompts and answers, are removed from memory.',
    ...unit('minutes'),
    default: 1_440,
    minimum: 1,
    maximum: 525_600,
  }),
  captureFailed: flag('Whether requests that fail or lose fields are captured without being asked.', true),
});
export type HistoryPolicy = Readonly<Static<typeof HistoryPolicy>>;

/** `trace` and `fatal` are claude-code-router's names for `debug` and `error`. */
const LogLevelFile = Type.Union(
  [
    Type.Literal('debug'),
    Type.Literal('info'),
    Type.Literal('warn'),
    Type.Literal('error'),
    Type.Literal('trace'),
    Type.Literal('fatal'),
  ],
  {
    description: 'The minimum level of log records.',
    ...setting('Logs', { title: 'Minimum level' }),
    default: 'info',
  },
);

const atLeastOne = (description: string, example: number) =>
  Type.Optional(Type.Integer({ description, minimum: 1, maximum: Number.MAX_SAFE_INTEGER, examples: [example] }));

/** The limits of a client. */
export const ClientLimits = Type.Object(
  {
    requestsPerMinute: atLeastOne('Requests in any minute.', 60),
    tokensPerMinute: atLeastOne('Tokens of prompts and answers in any minute.', 200_000),
    streams: atLeastOne('Answers in progress at a time, streamed or not.', 8),
  },
  { description: 'What it may use at most; absent: no limit.', examples: [{ requestsPerMinute: 60 }] },
);
export type ClientLimits = Readonly<Static<typeof ClientLimits>>;

/** The budget of a client. */
export const ClientBudget = Type.Object(
  {
    tokens: atLeastOne('Tokens of prompts and answers.', 5_000_000),
    usd: Type.Optional(
      Type.Number({
        description: 'USD, at the prices that are known of the models.',
        exclusiveMinimum: 0,
        maximum: 1_000_000,
        examples: [50],
      }),
    ),
    per: Type.Enum(['day', 'month'], { description: 'Days and months begin at midnight, UTC.', examples: ['month'] }),
  },
  {
    description: 'What it may use per day or month, in tokens, USD or both; absent: no limit.',
    examples: [{ tokens: 5_000_000, usd: 50, per: 'month' }],
  },
);
export type ClientBudget = Readonly<Static<typeof ClientBudget>>;

/** An element of `CLIENTS` in the source. */
export const ClientFile = Type.Object({
  name: Type.String({
    description: 'Unique; 1 to 64 letters, digits, dots, hyphens and underscores.',
    examples: ['team-a'],
  }),
  key: Type.String({
    description: 'SHA-256 of its key: `sha256:` and 64 hexadecimal digits.',
    ...secret('text'),
    examples: [`sha256:${'0123456789abcdef'.repeat(4)}`],
  }),
  models: Type.Optional(
    texts(
      'The models that it may use: globs with `*` for `provider,model`, or for the model if there is no comma; absent: all.',
      ['small-*', 'local,*'],
    ),
  ),
  routes: Type.Optional(
    texts(
      'The routes that it may use: `default`, scenarios, `rule/NAME`, `module`, `explicit` for a provider or tag named by the client, `preset/NAME`; absent: all.',
      ['default', 'background', 'preset/review'],
    ),
  ),
  limits: Type.Optional(ClientLimits),
  budget: Type.Optional(ClientBudget),
  expires: text(
    'When its key ends, as `2026-12-31` (0:00 UTC) or `2026-12-31T18:00Z`; absent: never. A new client may have a span instead: `90d`.',
    '2026-12-31',
  ),
});
export type ClientFile = Static<typeof ClientFile>;

const StoreText = Type.String(secret('url'));
const FleetKeyText = Type.String(secret('text'));
const secretExample = '$JUNCTOR_FLEET_KEY';
const storeExample = 'rediss://$STORE_USER:$STORE_PASSWORD@valkey.example:6379';
const ofFleet = {
  description: 'What several machines share: breakers, limits and reasoning.',
  ...setting('Machines', { restart: true }),
  examples: [{ store: storeExample, key: secretExample }],
};

/** `FLEET`: what several machines share. */
export const FleetFile = Type.Object(
  {
    store: Type.Union([StoreText, Type.Array(StoreText, { minItems: 1, maxItems: 100 })], {
      description: 'URL of a Valkey or Redis, `redis://` or `rediss://`; a list: nodes of a cluster, or sentinels.',
      examples: [storeExample],
    }),
    primary: text("The primary's name, if the addresses are sentinels.", 'mymaster'),
    ca: text("File of the certificates, in PEM, that sign the store's; absent: those of Node.js.", '/certs/ca.pem'),
    name: Type.String({ description: 'Tells fleets in one store apart.', default: 'junctor' }),
    key: Type.Union([FleetKeyText, Type.Array(FleetKeyText, { minItems: 1, maxItems: 10 })], {
      description:
        '32 bytes as base64 or hexadecimal digits, the same on all machines; a list: the first seals, all open.',
      examples: [secretExample, [secretExample, '$EARLIER_KEY']],
    }),
    address: url(
      "Base URL at which the others reach this machine; absent: that of `HOST`, or the machine's first address.",
      'http://10.0.0.7:3456',
    ),
    replicas: Type.Integer({
      description: 'Machines to assume until the store has answered.',
      default: 1,
      minimum: 1,
      maximum: 10_000,
    }),
    withoutStore: Type.Enum(['share', 'refuse', 'open'], {
      description: 'What limits grant while the store is silent: the part of one process, nothing, or everything.',
      default: 'share',
    }),
  },
  ofFleet,
);
export type FleetFile = Static<typeof FleetFile>;

const collectorExample = 'https://collector.example:4318';
const ofTelemetry = {
  description: 'Traces and metrics for an OpenTelemetry collector.',
  ...setting('Telemetry', { restart: true }),
  examples: [{ endpoint: collectorExample }],
};

/** `TELEMETRY`: what is exported by OTLP. */
export const TelemetryFile = Type.Object(
  {
    endpoint: url(
      "The collector's base URL, for OTLP over HTTP; default: `OTEL_EXPORTER_OTLP_ENDPOINT`, else `http://localhost:4318`.",
      collectorExample,
    ),
    headers: values('Headers that exports have in addition.', { authorization: 'Bearer $COLLECTOR_TOKEN' }),
    service: text('The name of the service; default: `OTEL_SERVICE_NAME`, else `junctor`.', 'junctor-eu'),
    traces: flag('Whether spans are sent.', true),
    metrics: flag('Whether metrics are sent.', true),
    ratio: Type.Number({
      description: 'The share of requests whose spans are sent, unless the client has decided that.',
      default: 1,
      minimum: 0,
      maximum: 1,
    }),
  },
  ofTelemetry,
);
export type TelemetryFile = Static<typeof TelemetryFile>;

/** The service settings that are objects. */
export const settingSections = {
  LIMITS: Limits,
  TIMEOUTS: Timeouts,
  RETRY: RetryPolicy,
  BREAKER: BreakerPolicy,
  KEYS: KeyPolicy,
  HISTORY: HistoryPolicy,
};

/** Most processes of a service. */
export const maxWorkers = 64;

/** The service settings with their defaults filled in. */
export const ServiceSettings = Type.Object({
  HOST: Type.String({
    description: 'Listen address.',
    ...setting('Listening', { title: 'Address', restart: true }),
    default: '127.0.0.1',
  }),
  PORT: Type.Integer({
    description: 'Listen port.',
    ...setting('Listening', { title: 'Port', restart: true }),
    default: 3456,
    minimum: 0,
    maximum: 65535,
  }),
  WORKERS: Type.Union([Type.Integer({ minimum: 1, maximum: maxWorkers }), Type.Literal('auto')], {
    description: 'Number of processes that share the port; `auto`: one per processor core.',
    ...setting('Listening', { title: 'Processes', restart: true }),
    default: 1,
  }),
  APIKEY: Type.Optional(
    Type.String({
      description: 'The key for all routes, which clients must send. Required if HOST is not a loopback address.',
      ...setting('Key', { title: 'Key' }),
      ...secret('text'),
      examples: ['$JUNCTOR_KEY'],
    }),
  ),
  CLIENTS: Type.Optional(
    Type.Array(ClientFile, {
      maxItems: 1_000,
      ...setting('Clients'),
      description:
        'Clients with keys of their own, for the model routes only. With at least one, these routes always need a key.',
      examples: [[{ name: 'team-a', key: `sha256:${'0123456789abcdef'.repeat(4)}` }]],
    }),
  ),
  FLEET: Type.Optional(FleetFile),
  TELEMETRY: Type.Optional(TelemetryFile),
  LOG: flag('Whether to write logs.', true, setting('Logs', { title: 'Write logs' })),
  LOG_LEVEL: LogLevelFile,
  ALLOWED_HOSTS: Type.Optional(
    texts(
      "Additional host names that a request's `Host` header may have.",
      ['gateway.example'],
      setting('Listening', { title: 'Additional host names' }),
    ),
  ),
  ALLOWED_ORIGINS: Type.Optional(
    texts(
      'Origins of web pages and apps that may call the model routes, with any scheme.',
      ['https://app.example', 'app://notes'],
      setting('Listening', { title: 'Web pages and apps that may call the model routes' }),
    ),
  ),
  PROXIES: Type.Optional(
    texts(
      'Addresses and networks of trusted proxies, whose `X-Forwarded-For` or PROXY protocol names the client.',
      ['10.0.0.0/8'],
      setting('Behind a balancer', { title: 'Trusted proxies' }),
    ),
  ),
  KEEP_ALIVE: flag(
    'Whether client connections stay open after an answer; false behind a balancer that keeps idle ones for 8 seconds or more.',
    true,
    setting('Behind a balancer', { title: 'Keep connections open after a response' }),
  ),
  CHAT_STRICT: flag(
    'Whether the chat route rejects `response_format: json_schema`, `functions` and `function_call`; false: they are converted as on the other routes.',
    true,
    setting('Chat Completions', { title: 'Reject JSON Schemas and legacy functions' }),
  ),
  learn: flag(
    "Whether a provider's refusal of a field is answered by one more try without it, and remembered for its model.",
    true,
    setting('Refusals', { title: 'Try again without a refused field' }),
  ),
  GRAMMAR: Type.Union([Type.Literal('off'), Type.Literal('watch')], {
    description:
      'Whether answers of providers are checked against the rules of their wire formats: counted and logged, never changed.',
    ...setting('Logs', { title: 'Check responses against their wire formats' }),
    default: 'off',
  }),
  ...settingSections,
});
export type ServiceSettings = Static<typeof ServiceSettings>;

/** The service settings of `config.json`: each may be absent. */
const ServiceSettingsFile = Type.Partial(
  Type.Object({
    ...ServiceSettings.properties,
    FLEET: Type.Optional(
      Type.Object(
        { ...Type.Partial(FleetFile).properties, store: FleetFile.properties.store, key: FleetFile.properties.key },
        ofFleet,
      ),
    ),
    TELEMETRY: Type.Optional(Type.Partial(TelemetryFile, ofTelemetry)),
    LIMITS: Type.Partial(Limits, {
      description: 'Size limits of requests and answers, and concurrency limits.',
      ...setting('Limits'),
    }),
    TIMEOUTS: Type.Partial(Timeouts, {
      description: 'How long each part of a request may take.',
      ...setting('Timeouts'),
    }),
    RETRY: Type.Partial(RetryPolicy, {
      description: 'How failed calls are retried.',
      ...setting('Retries'),
    }),
    BREAKER: Type.Partial(BreakerPolicy, {
      description: "When calls to a provider's model are suspended.",
      ...setting('Breakers'),
    }),
    KEYS: Type.Partial(KeyPolicy, {
      description: "For how long a provider's key isn't used after a failure.",
      ...setting('Key cooldowns'),
    }),
    HISTORY: Type.Partial(HistoryPolicy, {
      description: 'What is kept of requests that have ended.',
      ...setting('History'),
    }),
  }),
);

/** Fields of a preset's manifest that describe it. */
export const manifestFields = [
  'name',
  'version',
  'description',
  'author',
  'homepage',
  'repository',
  'license',
  'keywords',
];

/** `config.json`, with environment references resolved. Unknown fields are allowed. */
export const ConfigFile = Type.Object(
  {
    $schema: text('The JSON Schema of this file, for editors.', './config.schema.json'),
    ...ServiceSettingsFile.properties,
    Providers: Type.Optional(Type.Array(ProviderFile, { description: 'Upstream providers.' })),
    Pools: Type.Optional(
      Type.Array(PoolFile, { maxItems: 1_000, description: 'Several destinations under one name.' }),
    ),
    Router: Type.Optional(RouterFile),
    fallback: Type.Optional(FallbackFile),
    transformers: Type.Optional(
      Type.Array(TransformerEntryFile, { description: 'Outermost first on the way to the provider.' }),
    ),
  },
  { groups: settingGroups, manifest: manifestFields },
);
export type ConfigFile = Static<typeof ConfigFile>;
