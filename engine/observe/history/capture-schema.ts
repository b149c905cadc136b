import Type, { type Static, type TSchema } from 'typebox';
import { RequestSummary, SummaryLoss } from './summary.ts';

const ms = Type.Number({ description: 'Milliseconds since the request began.' });
const HeaderTable = Type.Record(Type.String(), Type.String(), { description: 'Secrets are masked.' });
const truncated = Type.Boolean({ description: 'There was more than is kept.' });

/** A chunk of a stream: `text`, or `base64` if its bytes aren't valid UTF-8. */
const Chunk = Type.Object({ atMs: ms, text: Type.Optional(Type.String()), base64: Type.Optional(Type.String()) });
export type Chunk = Static<typeof Chunk>;

const orNull = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

/** All recorded data of one request. */
export const Capture = Type.Object({
  client: Type.Object({
    method: Type.String(),
    path: Type.String({ description: 'With the query.' }),
    headers: HeaderTable,
    body: Type.String(),
    truncated,
  }),
  steps: Type.Array(
    Type.Object({
      name: Type.String(),
      kind: Type.Enum(['decode', 'route', 'stage', 'encode']),
      ms: Type.Number({ description: 'What the step took.' }),
      request: Type.Unknown({
        description:
          "The typed request after this step, for `encode` the upstream's body; null where it was too large.",
      }),
      losses: Type.Array(SummaryLoss),
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
      chunks: Type.Array(Chunk),
      truncated,
      ended: Type.Enum(['complete', 'failed', 'abandoned'], { description: '`abandoned`: the client had gone.' }),
      fault: Type.Optional(Type.Object({ kind: Type.String(), message: Type.String() })),
    }),
  ),
  events: Type.Array(
    Type.Object({
      step: Type.String({ description: '`decode`, or the name of a stage.' }),
      atMs: ms,
      events: Type.Array(Type.Unknown()),
    }),
  ),
  reply: Type.Object({
    status: Type.Integer(),
    headers: HeaderTable,
    chunks: Type.Array(Chunk),
    truncated,
  }),
  timing: Type.Array(Type.Object({ name: Type.String(), atMs: ms })),
  curl: Type.Object({ client: Type.String(), upstream: orNull(Type.String()) }),
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
