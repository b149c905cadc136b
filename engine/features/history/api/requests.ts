import Type from 'typebox';
import {
  adminOperation,
  done,
  jsonOperation,
  jsonTextReply,
  readJsonBody,
  readNumber,
} from '../../../../admin/endpoint.ts';
import { Outcome } from '../../../../admin/schema.ts';
import type { ReplyPart } from '../../../http/endpoint.ts';
import { fail } from '../../../model/fault.ts';
import { reader } from '../../../model/schema.ts';
import { maxSummaries } from '../../record/pending-lines.ts';
import { Activity, CaptureState, RequestDetail, RequestList } from '../../record/schema.ts';
import { CaptureFile, captureFile } from '../capture-file.ts';
import type { SharedHistory } from '../shared-history.ts';
import { findKept, type HistoryParts } from './history.ts';
import { type ReplayParts, replayOperation } from './replay.ts';

/** Dependencies of the request history endpoints. */
export interface RequestParts extends ReplayParts {
  readonly requests: SharedHistory;
  /** Requests on disk. */
  readonly history: Pick<HistoryParts, 'stored'>;
  /** Start of the service, in milliseconds since 1970. */
  readonly startedAtMs: number;
  /** Number of serving processes. */
  readonly workers: () => number;
}

const CaptureSwitch = Type.Object({ on: Type.Boolean() });
const switchReader = reader(CaptureSwitch, { compiled: false });

/** The recent requests, of all processes of the service, those in flight, and their captures. */
export const requestOperations = (parts: RequestParts) => {
  const { requests, history } = parts;
  return {
    requests: jsonOperation({
      summary: 'The requests that ended last',
      says: 'Their summaries, newest first; the last 1,000 are kept.',
      reply: RequestList,
      query: {
        after: Type.Integer({ minimum: 0, description: 'Only those with a higher `n`.' }),
        limit: Type.Integer({ minimum: 1, maximum: maxSummaries, default: 200 }),
        client: Type.String({ description: 'Only those of this client of `CLIENTS`.' }),
      },
      answer: async ({ query }) => {
        const params = new URLSearchParams(query);
        const after = readNumber(params, 'after', 0, Number.MAX_SAFE_INTEGER, 0);
        const limit = readNumber(params, 'limit', 1, maxSummaries, 200);
        const client = params.get('client') ?? undefined;
        const [capture, list] = await Promise.all([requests.capture(), requests.list(after, limit, client)]);
        return { capture, ...list };
      },
    }),
    clearRequests: jsonOperation({
      summary: 'Clears the list of the requests that ended last',
      says: 'They are removed from memory, captures too. The history on disk stays.',
      reply: Outcome,
      answer: async () => {
        await requests.clear('memory');
        return done('The list of requests and the captures were cleared. The history on disk stays.');
      },
    }),
    request: adminOperation({
      summary: 'One request, as it went through',
      says: 'Its summary, and its capture or null.',
      reply: RequestDetail,
      query: {
        endedAt: Type.Integer({ minimum: 0, description: 'When it ended, as the history says: it is found at once.' }),
      },
      answer: async ({ query }, { id = '' }) => {
        const params = new URLSearchParams(query);
        const endedAtMs = params.has('endedAt')
          ? readNumber(params, 'endedAt', 0, Number.MAX_SAFE_INTEGER, 0)
          : undefined;
        const found = await requests.find(id);
        if (found.capture !== undefined) return jsonTextReply(found.capture);
        if (found.summary || found.running) return withoutCapture(found);
        return withoutCapture({ ...found, summary: await findKept(history, id, endedAtMs) });
      },
    }),
    captureFile: adminOperation({
      summary: 'The capture of a request, as a file',
      says: 'The file, which `junctor replay` plays. It has no secrets.',
      reply: CaptureFile,
      query: { redact: Type.Boolean({ description: 'Whether texts are replaced by stand-ins of the same shape.' }) },
      answer: async ({ query }, { id = '' }) => {
        const { capture } = await requests.find(id);
        const redact = new URLSearchParams(query).get('redact') === 'true';
        const text = capture === undefined ? undefined : captureFile(capture, new Date().toISOString(), redact);
        if (text === undefined) return fail('not-found', 'There is no capture of that id, or not any more.');
        const name = `junctor-${id.replaceAll(/[^\w-]/g, '')}${redact ? '-redacted' : ''}.json`;
        const reply = jsonTextReply(text);
        return {
          ...reply,
          headers: { ...reply.headers, 'content-disposition': `attachment; filename="${name}"` },
        };
      },
    }),
    replay: replayOperation(parts),
    activity: jsonOperation({
      summary: 'What goes on',
      says: 'Requests in flight, and figures for each line.',
      reply: Activity,
      query: { minutes: Type.Integer({ minimum: 0, maximum: 60, default: 0, description: 'Of traffic by time.' }) },
      answer: ({ query }) => activityNow(parts, readMinutes(new URLSearchParams(query))),
    }),
    capture: jsonOperation({
      summary: 'Whether requests are captured',
      says: 'The state.',
      reply: CaptureState,
      answer: () => requests.capture(),
    }),
    switchCapture: jsonOperation({
      summary: 'Switches capturing',
      says: 'The state.',
      reply: CaptureState,
      request: CaptureSwitch,
      answer: ({ body }) => requests.capture(switchReader.read(readJsonBody(body)).on),
    }),
  };
};

/** Current activity of the service, with the traffic of the last minutes. `maxAgeMs`: maximum age of other nodes' answers. */
export const activityNow = async (
  { requests, startedAtMs, workers }: Pick<RequestParts, 'requests' | 'startedAtMs' | 'workers'>,
  minutes: number,
  maxAgeMs?: number,
): Promise<Activity> => ({
  startedAt: startedAtMs,
  process: { pid: process.pid, workers: workers() },
  ...(await requests.activity(minutes, maxAgeMs)),
});

/** Minutes of traffic in a query. */
export const readMinutes = (params: URLSearchParams): number => readNumber(params, 'minutes', 0, 60, 0);

/** Reply for a request without a capture, which is its usual state: its summary, if known. */
const withoutCapture = ({ summary, running }: Awaited<ReturnType<SharedHistory['find']>>): ReplyPart => {
  if (summary) return jsonTextReply(JSON.stringify({ summary, capture: null } satisfies RequestDetail));
  return fail(
    'not-found',
    running ? 'That request has not ended yet.' : 'There is no request of that id, or not any more.',
  );
};
