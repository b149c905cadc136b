import Type, { type Static } from 'typebox';
import type { Json } from '../../model/json/json.ts';
import { listOf, orNull, Wire } from '../../model/schema-parts.ts';

const times = (description: string) => Type.Optional(Type.Number({ description }));
const tokens = Type.Optional(Type.Integer({ minimum: 0 }));

/** A field that a conversion dropped or approximated. */
export const SummaryLoss = Type.Object({
  step: Type.String({ description: "A format's, protocol's or stage's name." }),
  field: Type.String({ description: "Path in the client's own spelling." }),
  action: Type.Union([Type.Literal('dropped'), Type.Literal('approximated')]),
  note: Type.Optional(Type.String()),
});
export type SummaryLoss = Static<typeof SummaryLoss>;

/** Number of nodes of the fleet in an answer. */
export const AnsweredNodes = Type.Object(
  {
    known: Type.Integer({ description: 'All of the fleet, the one asked included.' }),
    heard: Type.Integer({ description: 'Those whose answer came in time.' }),
  },
  { description: 'Absent: there is one machine.' },
);
export type AnsweredNodes = Static<typeof AnsweredNodes>;

/** Summary of an ended model request. Texts chosen by clients are cut to a bounded length. */
export const RequestSummary = Type.Object({
  n: Type.Integer({ description: 'Grows from request to request.' }),
  id: Type.String({ description: "The request's `x-request-id`." }),
  machine: Type.Optional(Type.String({ description: 'The machine of the fleet that served it, if another one.' })),
  startedAt: Type.Integer({ description: 'Milliseconds since 1970.' }),
  path: Type.String(),
  protocol: Wire,
  preset: Type.Optional(Type.String()),
  client: Type.Optional(Type.String({ description: 'The name of the client whose own key it carried.' })),
  session: Type.Optional(
    Type.String({ description: "The conversation: an agent's id of it, else a hash of its first user turn." }),
  ),
  tools: Type.Optional(
    listOf(Type.String(), { description: 'The called tools whose results it brought, 20 at most; absent: none.' }),
  ),
  turns: Type.Optional(
    Type.Integer({ description: 'Turns of the user in its conversation, tool results not counted; absent: none.' }),
  ),
  title: Type.Optional(
    Type.String({
      description:
        'Of a captured request: the first words of its last user turn, 80 characters at most, or its tools. Never on disk.',
    }),
  ),
  asked: Type.String({ description: 'The model asked for; empty when the body could not be read.' }),
  stream: Type.Boolean(),
  scenario: Type.Optional(Type.String()),
  reason: Type.Optional(Type.String({ description: 'Why it went where it went.' })),
  pool: Type.Optional(Type.String({ description: 'The pool of which the destination was chosen.' })),
  provider: Type.Optional(Type.String()),
  model: Type.Optional(Type.String({ description: "The upstream's name of it." })),
  upstreamId: Type.Optional(Type.String({ description: "The upstream's own id of the last call, if it named one." })),
  status: Type.Integer({ description: '499: the client went before the end.' }),
  fault: Type.Optional(Type.Object({ kind: Type.String(), message: Type.String() })),
  usage: Type.Optional(
    Type.Object({ input: tokens, cacheRead: tokens, cacheWrite: tokens, output: tokens, reasoning: tokens }),
  ),
  cost: Type.Optional(
    Type.Integer({ minimum: 0, description: 'Billionths of a USD, at the prices that are known; absent: unknown.' }),
  ),
  defaultCost: Type.Optional(
    Type.Integer({ minimum: 0, description: 'What the same tokens would have cost at `Router.default`.' }),
  ),
  charged: Type.Optional(Type.Boolean({ description: 'True if an upstream may charge for it.' })),
  admitted: Type.Optional(
    Type.Boolean({ description: "True if the limits of its client allowed it: it is part of the client's use." }),
  ),
  estimated: Type.Optional(
    Type.Boolean({
      description: "True if the upstream did not count all tokens: some are estimated by the texts' size.",
    }),
  ),
  retries: Type.Optional(Type.Integer({ description: 'Calls after the first one; absent: none.' })),
  firstByteMs: times('From the arrival of the body to the first byte of the answer.'),
  durationMs: Type.Number({ description: 'From the arrival of the body to the end.' }),
  overheadMs: times('Time to the first byte that the upstream had no part in.'),
  losses: listOf(SummaryLoss),
  lossesOmitted: Type.Optional(Type.Integer({ description: 'How many more there were.' })),
  relayed: Type.Object({ request: Type.Boolean(), reply: Type.Boolean() }, { description: 'What passed as it came.' }),
  failedAttempts: Type.Optional(
    listOf(
      Type.Object({
        provider: Type.String(),
        model: Type.String(),
        outcome: Type.String({ description: "The upstream's status, else what went wrong in one word." }),
      }),
      { description: 'Tries that came to nothing before this answer, in order.' },
    ),
  ),
  cause: Type.Optional(
    Type.Object(
      {
        id: Type.String({ description: 'Of the request that it was made for.' }),
        stage: Type.String({ description: 'The transformer that made it, or `rule/NAME` of the rule that asks.' }),
        kind: Type.Enum(['next', 'ask', 'decide']),
      },
      { description: 'Present if a transformer or a condition made it: no client has sent it.' },
    ),
  ),
  captured: Type.Boolean(),
});
export type RequestSummary = Static<typeof RequestSummary>;

/** An ended request as it is kept on disk. */
export const KeptRequest = Type.Object({
  endedAt: Type.Integer({ description: 'Milliseconds since 1970; of a process, they never go back.' }),
  ...RequestSummary.properties,
});
export type KeptRequest = Static<typeof KeptRequest>;

/** Reply of `GET /api/history`. */
export const HistoryPage = Type.Object({
  requests: listOf(KeptRequest, { description: 'In the order that was asked for.' }),
  next: orNull(Type.String(), { description: 'Goes on with the next older ones as `before`; null: there are none.' }),
  days: Type.Integer({ description: 'For how many days requests are kept, as `HISTORY` says; 0: none are.' }),
});
export type HistoryPage = Static<typeof HistoryPage>;

const requestCount = Type.Integer({ description: 'How many requests.' });

const facet = (description: string) =>
  listOf(Type.Object({ value: Type.String(), requests: requestCount }), { description });

const classes = (description: string) => facet(`${description}; \`value\` is where a class begins.`);

/** Reply of `GET /api/history/facets`. */
export const HistoryFacets = Type.Object({
  requests: Type.Integer({ description: 'Those that pass all filters.' }),
  failed: Type.Integer({ description: 'Answered with an error or broken off.' }),
  lossy: Type.Integer({ description: 'With a field that was dropped or approximated.' }),
  facets: Type.Object(
    {
      model: facet('By `provider,model`.'),
      provider: facet('By provider.'),
      client: facet('By client of `CLIENTS`.'),
      scenario: facet('By the rule that matched.'),
      preset: facet('By preset.'),
      status: facet('By status.'),
      session: facet('By session.'),
      duration: classes('By milliseconds to the end'),
      firstByte: classes('By milliseconds to the first byte'),
      cost: classes('By cost in billionths of a USD'),
      tools: classes('By the number of called tools whose results it brought'),
    },
    {
      description:
        'Each counts what passes all filters but its own. The 20 most frequent values, the newest first among equals; classes in order.',
    },
  ),
});
export type HistoryFacets = Static<typeof HistoryFacets>;

/** Reply of `GET /api/history/histogram`. */
export const HistoryHistogram = Type.Object({
  barMs: Type.Integer({ description: 'The length of a bar.' }),
  bars: listOf(
    Type.Object({
      from: Type.Integer({ description: 'Its beginning, in milliseconds since 1970.' }),
      requests: requestCount,
      failed: Type.Integer({ description: 'Answered with an error or broken off.' }),
      p95Ms: Type.Optional(Type.Number({ description: '95 % of them took no longer. Absent: there are none.' })),
    }),
    { description: 'Oldest first, with those that have none.' },
  ),
});
export type HistoryHistogram = Static<typeof HistoryHistogram>;

/** Reply of `GET /api/history/failures`. */
export const HistoryFailures = Type.Object({
  failures: listOf(
    Type.Object({
      message: Type.String({ description: "The fault's kind and message; empty: there was a status alone." }),
      requests: requestCount,
      firstAt: Type.Integer({ description: 'When the first one ended, in milliseconds since 1970.' }),
      lastAt: Type.Integer({ description: 'When the last one ended.' }),
      statuses: listOf(Type.Integer()),
      models: listOf(Type.String(), { description: '`provider,model`.' }),
    }),
    { description: 'The most frequent first.' },
  ),
});
export type HistoryFailures = Static<typeof HistoryFailures>;

/** Reply of `GET /api/history/sums`. */
export const HistorySums = Type.Object({
  sums: listOf(
    Type.Object({
      client: orNull(Type.String(), { description: 'Null: no client of `CLIENTS`.' }),
      provider: orNull(Type.String()),
      model: orNull(Type.String()),
      requests: requestCount,
      failed: Type.Integer(),
      tokens: Type.Integer({ description: 'Of prompts and answers, cached ones included.' }),
      cost: Type.Integer({ description: 'Billionths of a USD, as far as it is known.' }),
    }),
    { description: 'The highest cost first; 1,000 at most.' },
  ),
});
export type HistorySums = Static<typeof HistorySums>;

/** Reply of `GET /api/history/extent`. */
export const HistoryExtent = Type.Object({
  requests: Type.Integer(),
  bytes: Type.Integer({ description: 'On disk.' }),
  from: Type.Optional(Type.String({ description: 'When the first one ended, ISO 8601. Absent: there is none.' })),
  to: Type.Optional(Type.String({ description: 'When the last one ended.' })),
  days: Type.Integer({ description: 'For how many days requests are kept, as `HISTORY` says; 0: none are.' }),
});
export type HistoryExtent = Static<typeof HistoryExtent>;

const sum = Type.Integer({ minimum: 0 });

/** Sums of the requests of one conversation. */
export const Session = Type.Object({
  id: Type.String(),
  client: Type.Optional(Type.String({ description: 'The client whose own key the newest request carried.' })),
  startedAt: Type.Integer({ description: 'When its first request began, in milliseconds since 1970.' }),
  endedAt: Type.Integer({ description: 'When its last request ended.' }),
  requests: Type.Integer(),
  turns: Type.Integer({ description: 'Turns of the user in the longest conversation of its requests; at least 1.' }),
  failed: Type.Integer({ description: 'Requests answered with an error or broken off.' }),
  busyMs: Type.Number({ description: 'What its requests took together.' }),
  tools: listOf(Type.Object({ name: Type.String(), calls: Type.Integer() }), {
    description: 'The tools called, the most called first; 50 at most.',
  }),
  usage: Type.Object({ input: sum, cacheRead: sum, cacheWrite: sum, output: sum, reasoning: sum }),
  cost: Type.Integer({ description: 'Billionths of a USD, of the requests whose cost is known.' }),
  unpriced: Type.Integer({ description: 'Requests with tokens whose cost is not known.' }),
  models: listOf(
    Type.Object({
      provider: Type.String(),
      model: Type.String(),
      scenario: Type.Optional(Type.String()),
      startedAt: Type.Integer(),
      requests: Type.Integer({ description: 'In a row.' }),
    }),
    { description: 'The models that answered, in order: a new entry where it changes. The last 100.' },
  ),
});
export type Session = Static<typeof Session>;

const truncatedSearch = Type.Boolean({ description: 'Sums are of the newest 10,000 requests of a session.' });

/** Reply of `GET /api/sessions`. */
export const SessionList = Type.Object({
  sessions: listOf(Session, { description: 'The one that was used last comes first.' }),
  single: Type.Integer({ description: 'How many have one request alone, of all that pass the other filters.' }),
  next: orNull(Type.String(), { description: 'Goes on with the next older ones as `before`; null: there are none.' }),
  truncated: truncatedSearch,
});
export type SessionList = Static<typeof SessionList>;

/** Reply of `GET /api/sessions/{id}`. */
export const SessionDetail = Type.Object({
  session: Session,
  requests: listOf(KeptRequest, { description: 'In the order in which they began.' }),
  truncated: truncatedSearch,
});
export type SessionDetail = Static<typeof SessionDetail>;

const ms = Type.Number({ description: 'Milliseconds since the request began.' });
const HeaderTable = Type.Record(Type.String(), Type.String(), { description: 'Secrets are masked.' });
const truncated = Type.Boolean({ description: 'There was more than is kept.' });

/** A chunk of a stream: `text`, or `base64` if its bytes aren't valid UTF-8. */
const Chunk = Type.Object({ atMs: ms, text: Type.Optional(Type.String()), base64: Type.Optional(Type.String()) });
export type Chunk = Static<typeof Chunk>;

/** All recorded data of one request. */
export const Capture = Type.Object({
  client: Type.Object({
    method: Type.String(),
    path: Type.String({ description: 'With the query.' }),
    headers: HeaderTable,
    body: Type.String(),
    truncated,
  }),
  steps: listOf(
    Type.Object({
      name: Type.String(),
      kind: Type.Enum(['decode', 'route', 'stage', 'encode']),
      ms: Type.Number({ description: 'What the step took.' }),
      request: Type.Unsafe<Json>(
        Type.Unknown({
          description:
            "The typed request after this step, for `encode` the upstream's body; null where it was too large.",
        }),
      ),
      losses: listOf(SummaryLoss),
    }),
  ),
  upstream: orNull(
    Type.Object({
      url: Type.String(),
      method: Type.String(),
      headers: HeaderTable,
      body: Type.String(),
      bodyTruncated: truncated,
      status: orNull(Type.Integer()),
      responseHeaders: HeaderTable,
      chunks: listOf(Chunk),
      truncated,
      ended: Type.Enum(['complete', 'failed', 'abandoned'], { description: '`abandoned`: the client had gone.' }),
      fault: Type.Optional(Type.Object({ kind: Type.String(), message: Type.String() })),
    }),
  ),
  events: listOf(
    Type.Object({
      step: Type.String({ description: '`decode`, or the name of a stage.' }),
      atMs: ms,
      events: listOf(Type.Unsafe<Json>(Type.Unknown())),
    }),
  ),
  reply: Type.Object({
    status: Type.Integer(),
    headers: HeaderTable,
    chunks: listOf(Chunk),
    truncated,
  }),
  timing: listOf(Type.Object({ name: Type.String(), atMs: ms })),
  curl: Type.Object({ client: Type.String(), upstream: orNull(Type.String()) }),
  unasked: Type.Optional(
    Type.Boolean({
      description:
        'Captured because it failed or lost fields: without stages, and with no answer of the upstream but an error.',
    }),
  ),
  truncated: Type.Boolean({ description: 'Some step, event, body or stream was too large to be kept whole.' }),
});
export type Capture = Static<typeof Capture>;

/** Reply of `GET /api/requests/{id}`: the summary, and the capture if there is one. */
export const RequestDetail = Type.Object({ summary: RequestSummary, capture: orNull(Capture) });
export type RequestDetail = Static<typeof RequestDetail>;

/** State of capturing, and memory used by captures. */
export const CaptureState = Type.Object({
  on: Type.Boolean(),
  kept: Type.Integer({ description: 'Captures in memory.' }),
  bytes: Type.Integer({ description: 'What they take there.' }),
  most: Type.Integer({ description: 'Older ones give way beyond so many.' }),
  mostBytes: Type.Integer({ description: 'What one of them may take.' }),
});
export type CaptureState = Static<typeof CaptureState>;

/** A request that isn't finished. */
export const InFlight = Type.Object({
  id: Type.String(),
  startedAt: Type.Integer(),
  protocol: Wire,
  client: Type.Optional(Type.String({ description: 'The name of the client whose own key it carried.' })),
  asked: Type.String(),
  provider: Type.Optional(Type.String()),
  model: Type.Optional(Type.String()),
  scenario: Type.Optional(Type.String()),
  stream: Type.Boolean(),
  phase: Type.Enum(['deciding', 'waiting', 'streaming']),
});
export type InFlight = Static<typeof InFlight>;

const time = Type.Optional(Type.Number({ description: 'Milliseconds.' }));

/** Statistics of one client protocol's requests to one model. */
const ActivityRoute = Type.Object({
  protocol: Wire,
  provider: Type.String(),
  model: Type.String(),
  requests: Type.Integer({ description: 'That are kept as summaries.' }),
  errors: Type.Integer({ description: 'Of these, answered with an error or broken off; not those whose client went.' }),
  losses: Type.Integer(),
  active: Type.Integer({ description: 'In flight.' }),
  perSecond: Type.Number({ description: 'That began in the last 10 s, however many.' }),
  p50Ms: time,
  p95Ms: time,
  firstByteP50Ms: time,
});
export type ActivityRoute = Static<typeof ActivityRoute>;

/** Requests that ended in the last hour, all of them. */
export const HourFigures = Type.Object(
  {
    ended: Type.Integer(),
    failed: Type.Integer({ description: 'Of these, answered with an error or broken off.' }),
  },
  { description: 'Requests that ended in the last hour, or since the start.' },
);
export type HourFigures = Static<typeof HourFigures>;

/** Requests in flight and statistics of the service. */
export const Activity = Type.Object({
  now: Type.Integer({ description: 'Milliseconds since 1970.' }),
  startedAt: Type.Integer({ description: 'When the service started.' }),
  process: Type.Object({
    pid: Type.Integer({ description: 'The process that answers, for all of them.' }),
    workers: Type.Integer({ description: 'How many there are.' }),
  }),
  machines: Type.Optional(AnsweredNodes),
  inFlight: listOf(InFlight, { description: 'At most 200, oldest first.' }),
  inFlightCount: Type.Integer(),
  lines: listOf(ActivityRoute),
  lastHour: HourFigures,
  traffic: Type.Optional(
    Type.Object(
      {
        stepMs: Type.Integer({ description: 'The length of a step.' }),
        steps: listOf(
          Type.Object({
            at: Type.Integer({ description: 'Its beginning, in milliseconds since 1970.' }),
            began: Type.Integer({ description: 'Requests that were routed, by when they began.' }),
            ended: Type.Integer(),
            failed: Type.Integer({ description: 'Of these, answered with an error or broken off.' }),
            firstByteP50Ms: time,
            firstByteP95Ms: time,
          }),
          { description: 'Oldest first. Times to the first byte are estimates.' },
        ),
        lines: listOf(
          Type.Object({
            protocol: Wire,
            provider: Type.String(),
            model: Type.String(),
            began: listOf(Type.Integer(), { description: 'Requests by minute, oldest first; the last is not over.' }),
            failed: listOf(Type.Integer(), { description: 'Likewise, of those that failed.' }),
          }),
          { description: 'The traffic of each protocol to each model, minute by minute.' },
        ),
      },
      { description: 'With `minutes`: that many, counted as requests came and ended.' },
    ),
  ),
});
export type Activity = Static<typeof Activity>;

/** Reply of `GET /api/requests`: the newest ended requests, newest first. */
export const RequestList = Type.Object({
  capture: CaptureState,
  newest: Type.Integer(),
  requests: listOf(RequestSummary),
  machines: Type.Optional(AnsweredNodes),
});
export type RequestList = Static<typeof RequestList>;

/** The event `requests` of `GET /api/feed`. */
export const FeedRequests = Type.Object({
  whole: Type.Boolean({ description: 'All that are in memory; else those that ended since the last event.' }),
  ...RequestList.properties,
});
export type FeedRequests = Static<typeof FeedRequests>;

/** The event `log` of `GET /api/feed`: the file has changed. */
export const FeedLog = Type.Object({ file: Type.String(), size: Type.Integer({ description: 'In bytes.' }) });
export type FeedLog = Static<typeof FeedLog>;
