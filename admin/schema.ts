import Type, { type Static } from 'typebox';
import type { Json, JsonObject } from '../engine/model/json/json.ts';
import { listOf, orNull, Wire } from '../engine/model/schema-parts.ts';
import { clientWires } from '../engine/model/wire/client-wires.ts';

// Schemas of what the service's own endpoints take and reply. Only typebox is behind them, so the web interface can import their types.

const texts = listOf(Type.String());
const date = Type.String({ format: 'date-time' });
const count = (description: string) => Type.Integer({ description, minimum: 0 });

/** Reply of operations that change something. */
export const Outcome = Type.Object({ success: Type.Boolean(), message: Type.String() });
export type Outcome = Static<typeof Outcome>;

/** A fault or warning of a configuration. */
const Finding = Type.Object({
  path: Type.String({ description: '`Providers[0].baseUrl`.' }),
  message: Type.String(),
});

/** `POST /api/config/check`. */
export const CheckedConfig = Type.Object({
  faults: listOf(Finding),
  warnings: listOf(Finding),
  restart: listOf(Type.String(), { description: 'Fields that only a restart applies.' }),
});
export type CheckedConfig = Static<typeof CheckedConfig>;

/** `GET /api/config/backups`. */
export const BackupList = Type.Object({
  backups: listOf(
    Type.Object({ name: Type.String(), replacedAt: date, size: Type.Integer({ description: 'In bytes.' }) }),
  ),
});
export type BackupList = Static<typeof BackupList>;

/** `GET /api/presets`. */
export const PresetList = Type.Object({
  presets: listOf(
    Type.Object({
      name: Type.String(),
      path: Type.String({ description: 'Of its manifest.' }),
      faults: Type.Optional(listOf(Finding)),
    }),
  ),
});
export type PresetList = Static<typeof PresetList>;

/** One element of `GET /api/logs/files`. Source: interface specification, "Log file entry". */
export const LogFile = Type.Object({
  name: Type.String(),
  path: Type.String(),
  size: Type.Integer(),
  lastModified: date,
});
export type LogFile = Static<typeof LogFile>;

/** `POST /api/providers/test`. */
export const TestOutcome = Type.Object({
  ok: Type.Boolean(),
  status: Type.Optional(Type.Integer({ description: "The upstream's." })),
  ms: Type.Integer(),
  message: Type.String({ description: 'What happened.' }),
  reply: Type.Optional(Type.String({ description: 'The first words of the answer.' })),
});
export type TestOutcome = Static<typeof TestOutcome>;

/** `POST /api/providers/models`. */
export const ModelsOutcome = Type.Object({ ok: Type.Boolean(), models: texts, message: Type.String() });
export type ModelsOutcome = Static<typeof ModelsOutcome>;

const PeriodUse = (description: string) =>
  Type.Object(
    {
      requests: count('Accepted.'),
      input: count('Tokens of prompts.'),
      output: count('Tokens of answers.'),
      cost: count('Billionths of a USD, at the prices that were known.'),
      unpriced: count("Requests whose cost isn't known, which is not in `cost`."),
    },
    { description },
  );

/** A client with a key of its own. Its key isn't shown, nor its digest. */
const ClientRow = Type.Object({
  name: Type.String(),
  models: Type.Optional(texts),
  routes: Type.Optional(texts),
  limits: listOf(
    Type.Object({
      limit: Type.Enum(['requestsPerMinute', 'tokensPerMinute', 'streams']),
      most: count('In all processes.'),
      remaining: count('In the process that answers.'),
    }),
  ),
  budget: Type.Optional(
    Type.Object({
      per: Type.Enum(['day', 'month']),
      tokens: Type.Optional(count('Per day or month.')),
      remaining: Type.Optional(count('Tokens of all processes, as far as the one that answers knows.')),
      usd: Type.Optional(Type.Number({ description: 'Per day or month.' })),
      remainingUsd: Type.Optional(Type.Number({ description: 'As `remaining`, in USD.' })),
      isUsedUp: Type.Boolean(),
      renewsAt: date,
    }),
  ),
  unpricedModels: Type.Optional(
    Type.Array(Type.String(), {
      description: "Of a client with a budget in USD: the models whose requests don't count, since no price is known.",
    }),
  ),
  expires: Type.Optional(date),
  isExpired: Type.Optional(Type.Boolean({ description: 'Whether its key is refused since then.' })),
  usage: Type.Object({
    today: PeriodUse('Since midnight, UTC.'),
    month: PeriodUse('Since the first of the month, UTC.'),
  }),
});

/** `GET /api/clients`. */
export const ClientList = Type.Object({
  clients: listOf(ClientRow),
  isKeyNeeded: Type.Boolean({ description: 'Whether requests to the model routes need a key.' }),
  keyRefusals: Type.Integer({ description: 'Requests refused since the start because their key is missing or wrong.' }),
});
export type ClientList = Static<typeof ClientList>;

/** `POST /api/clients`. */
export const AddedClient = Type.Object({
  message: Type.String(),
  key: Type.String({ description: 'The key of the client. It is not stored, and shown only here.' }),
});
export type AddedClient = Static<typeof AddedClient>;

/** `GET /api/service`. */
export const ServiceState = Type.Object({
  pid: Type.Integer({ description: 'The process that takes signals for the whole service.' }),
  startedAt: date,
  restarts: Type.Integer(),
  home: Type.String({ description: "The configuration's folder." }),
  baseUrl: Type.String(),
  http: Type.Object(
    { server: Type.Enum(['uws', 'node']), reason: Type.String() },
    { description: 'The library that serves, uWebSockets.js or `node:http`, and why.' },
  ),
  providers: texts,
  overrides: listOf(
    Type.Object({
      field: Type.String(),
      variable: Type.String(),
      value: Type.Optional(Type.String({ description: 'Absent: a secret.' })),
    }),
    { description: 'Fields of the configuration that environment variables override.' },
  ),
  workers: listOf(Type.Object({ pid: Type.Integer(), startedAt: date }), {
    description: 'The processes that take new connections.',
  }),
  answeredBy: Type.Integer({ description: 'The process that gave this answer.' }),
  holds: listOf(Type.Object({ step: Type.String(), count: Type.Integer(), longestMs: Type.Integer() }), {
    description: 'Steps that held the event loop of that process for 200 ms or more, the longest first.',
  }),
});
export type ServiceState = Static<typeof ServiceState>;

/** `GET /api/fleet`. */
export const FleetState = Type.Object({
  store: orNull(
    Type.Object({
      up: Type.Boolean({ description: 'Whether it answers; if not, limits go on by shares.' }),
      seconds: Type.Number({ description: 'How long the last exchange took.' }),
      problem: orNull(Type.String({ description: "Why it doesn't answer, and what to do." })),
      clockOffSeconds: Type.Number({ description: "How far this machine's clock is ahead of the store's." }),
    }),
  ),
  drift: Type.Boolean({ description: 'Members have had different configurations for more than 60 seconds.' }),
  members: listOf(
    Type.Object({
      machine: Type.String({ description: "The machine's host name." }),
      pid: Type.Integer(),
      address: Type.String(),
      version: Type.String(),
      config: Type.String({ description: 'Digest of its configuration.' }),
      configSeconds: count('Seconds since this configuration came into use.'),
      streams: count('Active streams.'),
      isThis: Type.Boolean({ description: 'It gave this answer.' }),
      isStranger: Type.Boolean({
        description: 'It has another `FLEET.key`: it belongs to another fleet of this name.',
      }),
    }),
  ),
});
export type FleetState = Static<typeof FleetState>;

/** `GET /api/providers/local`. */
export const LocalServers = Type.Object({
  servers: listOf(
    Type.Object({
      name: Type.String({ description: 'A name for its provider.' }),
      title: Type.String(),
      baseUrl: Type.String(),
      models: listOf(
        Type.Object({
          name: Type.String(),
          contextWindow: Type.Optional(Type.Integer({ description: 'Tokens; absent: unknown.' })),
        }),
      ),
    }),
  ),
});
export type LocalServers = Static<typeof LocalServers>;

/** One element of `GET /v1/models`, for clients that send no version header. */
export const PlainModel = Type.Object({
  id: Type.String({ description: '`provider,model`, a bare model name, or an alias.' }),
  object: Type.Literal('model'),
  created: Type.Integer({ description: 'When the service started, in seconds since 1970.' }),
  owned_by: Type.String(),
  context_length: Type.Optional(Type.Integer({ description: 'Tokens of its window; absent: unknown.' })),
  max_completion_tokens: Type.Optional(Type.Integer({ description: 'Tokens of an answer; absent: unknown.' })),
  architecture: Type.Optional(Type.Object({ input_modalities: texts })),
  pricing: Type.Optional(
    Type.Object(
      {
        prompt: Type.String(),
        completion: Type.String(),
        input_cache_read: Type.Optional(Type.String()),
        input_cache_write: Type.Optional(Type.String()),
      },
      { description: 'USD per token; absent: unknown.' },
    ),
  ),
});
export type PlainModel = Static<typeof PlainModel>;

/** One element of `GET /api/transformers`. */
export const TransformerRow = Type.Object({
  name: Type.String(),
  endpoint: orNull(Type.String(), { description: 'The path that a format calls.' }),
  kind: Type.Enum(['format', 'stage', 'custom']),
  about: Type.String({ description: 'One sentence; empty where a module says nothing of itself.' }),
  options: orNull(Type.Unsafe<JsonObject>({ type: 'object' }), {
    description: 'The JSON schema of its options, where there is one.',
  }),
  halves: Type.Object({
    request: Type.Boolean(),
    events: Type.Boolean(),
    call: Type.Boolean(),
    around: Type.Optional(Type.Boolean({ description: 'It has no halves: it is around the call.' })),
  }),
  asks: Type.Optional(Type.Boolean({ description: 'It asks models, which `ask` of its entry names.' })),
  state: Type.Enum(['loaded', 'failed', 'stale'], {
    description: '`stale`: its file was changed and can not be used; what was loaded before is in use.',
  }),
  error: Type.Optional(Type.String({ description: 'Why it could not be loaded.' })),
  path: Type.Optional(Type.String({ description: 'The module, as the configuration names it.' })),
  firstStart: Type.Optional(
    Type.Object(
      {
        title: Type.String({ description: "The vendor's name as it is written." }),
        variable: Type.String({ description: 'The environment variable that holds the key.' }),
        baseUrl: Type.String(),
        models: texts,
      },
      { description: "How a provider of a format's vendor begins." },
    ),
  ),
});
export type TransformerRow = Static<typeof TransformerRow>;

const rates = {
  input: Type.Number(),
  output: Type.Number(),
  cacheRead: Type.Optional(Type.Number()),
  cacheWrite: Type.Optional(Type.Number()),
  cacheWrite1h: Type.Optional(Type.Number()),
};
const source = Type.Optional(Type.Enum(['configuration', 'list', 'package', 'prices']));
const day = Type.Optional(Type.String({ description: '`2026-12-11`.' }));

/** The known facts of one model of a provider; absent ones are unknown. */
const KnownModelRow = Type.Object({
  model: Type.String(),
  context: Type.Optional(Type.Integer({ description: 'Tokens of its window.' })),
  maxInput: Type.Optional(Type.Integer({ description: 'Tokens of a prompt, where that is less.' })),
  maxOutput: Type.Optional(Type.Integer({ description: 'Tokens of an answer.' })),
  input: Type.Optional(listOf(Type.Enum(['text', 'image', 'pdf', 'audio', 'video']))),
  reasoning: Type.Optional(Type.Boolean()),
  tools: Type.Optional(Type.Boolean()),
  lacks: Type.Optional(
    listOf(Type.Enum(['sampling', 'forcedToolChoice', 'reasoningOff', 'reasoningBudget', 'minimalEffort'])),
  ),
  price: Type.Optional(
    Type.Object(
      {
        ...rates,
        tiers: Type.Optional(listOf(Type.Object({ aboveInputTokens: Type.Integer(), ...rates }))),
        changes: Type.Optional(listOf(Type.Object({ from: Type.String(), ...rates }))),
        peak: Type.Optional(
          Type.Object({ hours: listOf(Type.Immutable(Type.Tuple([Type.Integer(), Type.Integer()]))), ...rates }),
        ),
        fast: Type.Optional(Type.Number({ description: 'Times as much for a faster answer.' })),
        webSearchPer1000: Type.Optional(Type.Number()),
      },
      { description: 'USD per million tokens.' },
    ),
  ),
  retires: day,
  retiresNotBefore: day,
  status: Type.Optional(Type.String({ description: '`legacy`, `deprecated`, `preview`, `limited access`.' })),
  from: Type.Partial(
    Type.Object({ context: source, maxOutput: source, input: source, price: source, lacks: source, retires: source }),
    { description: 'Where it comes from: the configuration, the provider, the package, its table of prices.' },
  ),
});
export type KnownModelRow = Static<typeof KnownModelRow>;

/** `GET /api/models`. */
export const ModelCatalogueReply = Type.Object({
  names: listOf(Type.Object({ id: Type.String(), owned_by: Type.String() }), {
    description: 'All names that requests may ask for, as `GET /v1/models` lists them.',
  }),
  providers: listOf(
    Type.Object({
      provider: Type.String(),
      listedAt: orNull(date, { description: 'When its list was asked for last; null: never.' }),
      factsOf: Type.Optional(Type.String({ description: 'The day of what the package knows of its models.' })),
      models: listOf(KnownModelRow),
    }),
  ),
});
export type ModelCatalogueReply = Static<typeof ModelCatalogueReply>;

/** `POST /api/models/refresh`. */
export const RefreshedModels = Type.Object({
  providers: listOf(
    Type.Object({
      provider: Type.String(),
      models: count('Of the new list.'),
      problem: Type.Optional(
        Type.String({ description: 'Why there is none, or why it is not kept; an older one stays in use.' }),
      ),
    }),
  ),
});
export type RefreshedModels = Static<typeof RefreshedModels>;

/** `GET /api/clients/guides`. */
export const ClientGuides = Type.Object({
  model: Type.String({ description: 'The name that the guides ask for; `junctor`: the rules choose.' }),
  models: listOf(Type.String(), { description: 'All destinations.' }),
  keyVariable: Type.String({ description: 'The variable that the guides read the key from.' }),
  keyLine: Type.String({ description: 'Sets it in the shell; `{key}` stands for the key.' }),
  withoutProxy: Type.String({ description: "Excludes the gateway's host from a proxy, in the shell." }),
  guides: listOf(
    Type.Object({
      name: Type.String({ description: 'As for `junctor env --for`.' }),
      title: Type.String(),
      protocol: Wire,
      baseUrl: Type.String({ description: "In the tool's form, with or without `/v1`." }),
      path: Type.Optional(Type.String({ description: "Of its requests, where it isn't the protocol's own." })),
      headers: Type.Record(Type.String(), Type.String()),
      snippets: listOf(
        Type.Object({ label: Type.String({ description: 'Where it goes: a shell, a file.' }), text: Type.String() }),
      ),
      notes: listOf(Type.String({ description: 'Text in backticks is code.' })),
    }),
  ),
});
export type ClientGuides = Static<typeof ClientGuides>;

const reason = Type.Union([Type.Literal('limited'), Type.Literal('refused'), Type.Literal('forbidden')]);
const forMs = Type.Integer({ description: 'For so many milliseconds more.' });
const keyNumber = Type.Integer({ description: 'The place of the key in the list, from 1 on.', minimum: 1 });

const TaughtRows = listOf(
  Type.Object({
    model: Type.String(),
    field: Type.String(),
    does: Type.String({ description: 'What is done with the field in requests to this model.' }),
    words: Type.String({ description: "The latest refusal's own." }),
    seen: count('Refusals that said so.'),
    since: date,
    until: Type.String({
      format: 'date-time',
      description: 'From then on it is sent again, to see whether it is refused still.',
    }),
    config: orNull(Type.String(), {
      description: "Members of the model's entry in `models` that say the same for good.",
    }),
  }),
  { description: "What its provider's refusals have taught." },
);

/** One element of `GET /api/upstreams`. */
export const UpstreamRow = Type.Object({
  provider: Type.String(),
  live: count('Requests at work, from their first try to the end of their answer.'),
  retrying: count('Of these, the ones on a further try.'),
  connections: Type.Object({ inUse: count('Of its origin, which other providers may share.'), idle: count('') }),
  queue: Type.Object({ length: count('Calls that wait for a connection.'), refused: count('That got none so far.') }),
  keys: listOf(Type.Object({ number: keyNumber, rest: orNull(Type.Object({ why: reason, forMs })) })),
  models: listOf(
    Type.Object({
      model: Type.String(),
      breaker: Type.Union([Type.Literal('closed'), Type.Literal('open'), Type.Literal('half-open')]),
      faults: count('In a row.'),
      waitMs: count('Milliseconds until a request may try; 0: one may now.'),
      resting: listOf(Type.Object({ number: keyNumber, why: reason, forMs })),
    }),
  ),
  taught: TaughtRows,
});
export type UpstreamRow = Static<typeof UpstreamRow>;

const KnownRows = listOf(
  Type.Object({
    kind: Type.Enum(['host', 'family']),
    name: Type.String(),
    because: Type.Enum(['option', 'host', 'port', 'model'], { description: 'How it was recognised.' }),
  }),
  { description: 'The known host and model families whose differences apply.' },
);

/** The facts of a condition. */
const JudgedFacts = listOf(
  Type.Object({
    at: Type.String({ description: 'Its path in the condition: `any[0].model`.' }),
    says: Type.String({ description: 'What it requires.' }),
    holds: orNull(Type.Boolean()),
  }),
);

/** `GET` and `POST /api/explain`. */
export const Explanation = Type.Object({
  client: Wire,
  asked: Type.String({ description: 'The model asked for.' }),
  scenario: Type.String(),
  reason: Type.String(),
  tokens: orNull(Type.Number(), { description: 'Counted only where a rule looks at it.' }),
  provider: Type.String(),
  model: Type.String(),
  pool: orNull(
    Type.Object({
      name: Type.String(),
      strategy: Type.String(),
      members: listOf(
        Type.Object({
          provider: Type.String(),
          model: Type.String(),
          weight: Type.Number(),
          passed: orNull(Type.String(), { description: 'Why it would not be chosen now.' }),
        }),
      ),
    }),
    { description: 'The pool that the destination is a member of.' },
  ),
  format: Type.String(),
  because: Type.Enum(['entry', 'host', 'path', 'plain'], { description: 'Why the format was chosen.' }),
  rows: KnownRows,
  stream: Type.Boolean(),
  url: Type.String(),
  headers: Type.Record(Type.String(), Type.String(), { description: 'Secrets are masked.' }),
  body: Type.Unsafe<Json>(Type.Unknown({ description: "The upstream's; text where it is no JSON object." })),
  losses: listOf(
    Type.Object({
      path: Type.String(),
      outcome: Type.String(),
      step: Type.String(),
      note: Type.Optional(Type.String()),
    }),
  ),
  taught: TaughtRows,
  relays: Type.Object({ request: Type.Boolean(), reply: Type.Boolean() }),
  prefix: orNull(
    Type.Object({
      grows: Type.Boolean({ description: 'The call begins with that of the turn before; marks for a cache aside.' }),
      at: orNull(Type.String(), { description: "Where the upstream's body differs first." }),
      step: orNull(Type.String(), { description: 'The stage or format that made the difference.' }),
    }),
    {
      description:
        'What vendors cache, and some bind reasoning to. Null: the conversation has no turn before, or its call can not be made.',
    },
  ),
  compaction: orNull(
    Type.Object({
      by: Type.Enum(['provider', 'model'], {
        description: 'The provider compacts in its own form, or its model is asked for a summary.',
      }),
      tokens: Type.Integer({ description: 'Tokens of the conversation; estimated, unless a rule needed the count.' }),
    }),
    { description: 'Where the request asks for a summary of its conversation.' },
  ),
  fallbacks: listOf(
    Type.Object({
      provider: Type.String(),
      model: Type.String(),
      format: Type.String(),
      fault: orNull(Type.String(), { description: 'Why it cannot be used.' }),
    }),
    {
      description:
        "Who is asked when this destination cannot serve, in order: its pool's other members, the fallbacks.",
    },
  ),
  rules: listOf(
    Type.Object({
      name: Type.String(),
      matches: orNull(Type.Boolean()),
      facts: JudgedFacts,
    }),
    {
      description:
        'The rules of `Router.rules` that were looked at. Null: not known, since the tokens were not counted or a model was not asked.',
    },
  ),
  conditions: listOf(
    Type.Object({
      name: Type.String(),
      entry: Type.String({ description: 'Its place in the configuration: `transformers[0]`.' }),
      holds: Type.Boolean({ description: 'Whether the stage runs.' }),
      because: Type.String({ description: 'What decides it.' }),
      facts: JudgedFacts,
    }),
    { description: "The conditions of the destination's stages." },
  ),
  stages: Type.Optional(
    listOf(
      Type.Object({
        name: Type.String(),
        entry: Type.String({ description: 'Its place in the configuration: `transformers[0]`.' }),
        before: Type.Unsafe<Json>(Type.Unknown({ description: 'The request before it.' })),
        after: Type.Unsafe<Json>(Type.Unknown({ description: 'The request after it.' })),
      }),
      { description: 'The stages that the request runs through, where `stages` asks for them.' },
    ),
  ),
  warnings: texts,
});
export type Explanation = Static<typeof Explanation>;

const Payload = Type.Enum(['bytes', 'request', 'records', 'events', 'text']);
const PassThrough = Type.Object({ open: Type.Boolean(), why: Type.String() });

/** One graph of `GET /api/graph`: what runs for one client protocol's requests to one model. */
export const PlanGraph = Type.Object({
  client: Wire,
  provider: Type.String(),
  model: Type.String(),
  routes: listOf(Type.String(), { description: 'The routes that lead here: `default`, scenarios, `explicit`.' }),
  pools: listOf(
    Type.Object({
      name: Type.String(),
      strategy: Type.String(),
      weight: Type.Number(),
      routes: listOf(Type.String(), { description: 'The routes that lead to the pool.' }),
    }),
    { description: 'The pools of which the destination is a member.' },
  ),
  format: Type.Object({
    name: Type.String(),
    because: Type.Enum(['entry', 'host', 'path', 'plain']),
    entry: Type.Optional(Type.String({ description: 'The entry of the configuration that names it.' })),
    rows: Type.Optional(KnownRows),
  }),
  passThrough: Type.Object({ request: PassThrough, reply: PassThrough }),
  fault: orNull(Type.String(), { description: "Why requests can't go this way." }),
  nodes: listOf(
    Type.Object({
      id: Type.String({ description: 'Unique in its graph.' }),
      step: Type.Enum([
        'client',
        'decode-request',
        'route',
        'stage-request',
        'stage-around',
        'encode-request',
        'forward-request',
        'stage-call',
        'call-upstream',
        'read-records',
        'decode-stream',
        'decode-reply',
        'stage-events',
        'stage-answer',
        'encode-stream',
        'encode-reply',
        'relay-reply',
      ]),
      name: Type.String({ description: 'What does the work: a protocol, a stage, a format, a provider.' }),
      takes: Payload,
      gives: Payload,
      entry: Type.Optional(Type.String({ description: 'The entry of the configuration that put it there.' })),
      because: Type.Optional(Type.String({ description: 'Why the format was chosen.' })),
      rows: Type.Optional(
        listOf(Type.String(), { description: 'The known host and model families whose differences apply, and why.' }),
      ),
      form: Type.Optional(Type.String({ description: 'How a stage is written.' })),
      but: Type.Optional(listOf(Type.String(), { description: 'What is replaced in bytes that pass through.' })),
      options: Type.Optional(listOf(Type.String(), { description: 'Names of the options that are set.' })),
      path: Type.Optional(Type.String({ description: "Of a custom stage's module, or of the router module." })),
      asks: Type.Optional(
        listOf(Type.String(), { description: 'Destinations that a stage may call besides that of the request.' }),
      ),
      timeoutMs: Type.Optional(Type.Integer({ description: 'How long a stage may take, where its entry says so.' })),
      when: Type.Optional(Type.String({ description: 'Which requests a stage runs for, where its entry says so.' })),
      onError: Type.Optional(Type.Enum(['skip'], { description: 'Requests go on without the stage when it fails.' })),
      wraps: Type.Optional(listOf(Type.String(), { description: 'The nodes that a stage is around, by `id`.' })),
      url: Type.Optional(Type.String({ description: 'Of the call.' })),
    }),
  ),
  edges: listOf(
    Type.Object({
      from: Type.String(),
      to: Type.String(),
      carries: Payload,
      when: Type.Optional(Type.Enum(['as-it-came', 'converted', 'streamed', 'whole'])),
    }),
  ),
});
export type PlanGraph = Static<typeof PlanGraph>;

/** The optional body of `POST /api/requests/{id}/replay`. */
export const ReplayRequest = Type.Object({
  client: Type.Optional(
    Type.Enum(clientWires, {
      description: 'What the answer is written in; default: as recorded.',
    }),
  ),
  speed: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1000, default: 0, description: 'Times as fast as recorded; 0: at once.' }),
  ),
  stream: Type.Optional(Type.Boolean({ description: 'Default: as it was asked for.' })),
});
export type ReplayRequest = Static<typeof ReplayRequest>;
