import Type from 'typebox';
import { Activity } from '../engine/observe/history/activity.ts';
import { CaptureState, RequestDetail } from '../engine/observe/history/capture-schema.ts';
import { RequestSummary } from '../engine/observe/history/summary.ts';
import { describe } from './endpoint.ts';
import type { OperationDoc } from './operation-doc.ts';

/** The body of `POST /api/capture`. */
export const CaptureSwitch = Type.Object({ on: Type.Boolean() });

/** The body of `POST /api/requests/{id}/replay`; optional. */
export const ReplayRequest = Type.Object({
  client: Type.Optional(
    Type.Enum(['messages', 'chat', 'responses'], {
      description: 'What the answer is written in; default: as recorded.',
    }),
  ),
  speed: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1000, default: 0, description: 'Times as fast as recorded; 0: at once.' }),
  ),
  stream: Type.Optional(Type.Boolean({ description: 'Default: as it was asked for.' })),
});

/** `GET /api/requests`. */
export const listDoc = describe(
  'The requests that ended last',
  'Their summaries, newest first; the last 1,000 are kept.',
  Type.Object({ capture: CaptureState, newest: Type.Integer(), requests: Type.Array(RequestSummary) }),
  {
    query: {
      after: Type.Integer({ minimum: 0, description: 'Only those with a higher `n`.' }),
      limit: Type.Integer({ minimum: 1, maximum: 1000, default: 200 }),
    },
  },
);

/** `DELETE /api/requests`. */
export const clearDoc = describe(
  'Forgets the requests that have ended',
  'They are forgotten, captures too.',
  Type.Object({ success: Type.Boolean(), message: Type.String() }),
);

/** `GET /api/requests/{id}`. */
export const showDoc = describe('One captured request, as it went through', 'The capture.', RequestDetail);

/** `GET /api/activity`. */
export const activityDoc = describe('What goes on', 'Requests in flight, and figures for each line.', Activity);

/** `GET /api/capture`. */
export const captureDoc = describe('Whether requests are captured', 'The state.', CaptureState);

/** `POST /api/capture`. */
export const setCaptureDoc = describe('Switches capturing', 'The state.', CaptureState, { request: CaptureSwitch });

/** `POST /api/requests/{id}/replay`. */
export const replayDoc: OperationDoc = {
  summary: "A captured upstream's answer once more, through today's configuration",
  group: 'management',
  request: ReplayRequest,
  answers: {
    200: {
      says: 'The answer, in the client protocol asked for.',
      content: { 'application/json': Type.Unknown(), 'text/event-stream': Type.String() },
    },
  },
  fault: Type.Unknown({ description: "The service's own error, or the client protocol's." }),
};
