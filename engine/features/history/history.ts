import { randomInt } from 'node:crypto';
import { parseJson } from '../../model/json/json.ts';
import type { ModelRequest } from '../../model/request.ts';
import { reader } from '../../model/schema.ts';
import { type HiddenText, shorten, textMask } from '../../observe/log/mask-text.ts';
import type { RecordListener, RequestRecord, RequestRecords } from '../../request-record.ts';
import { PendingLines } from '../record/pending-lines.ts';
import { requestLine } from '../record/request-line.ts';
import { RequestSummary } from '../record/schema.ts';
import { BodyRoom, CaptureWatch, clientOf, type WatchParts } from './capture-watch.ts';
import { type CapturePolicy, Captures, maxCaptureBytes } from './captures.ts';
import { Recorder } from './recorder.ts';
import { answeredTools, type SessionOf, spokenTurns } from './session-names.ts';
import { type ShowSettings, shownTitle } from './show-capture.ts';
import { Traffic } from './traffic.ts';

/** The recent model requests of this process. */
export interface History {
  readonly listener: RecordListener;
  /** Number of the last request that ended; 0 if none. */
  readonly newest: () => number;
  /** Up to `limit` ended requests with a number above `after`, newest first; `client`: only those of this client. */
  readonly list: (after: number, limit: number, client?: string) => readonly RequestSummary[];
  /** The newest ended request with this id. */
  readonly find: (id: string) => RequestSummary | undefined;
  /** Requests in flight, oldest first. */
  readonly inFlight: () => readonly RequestRecord[];
  readonly captures: Captures;
  /** Counts by time; never cleared. */
  readonly traffic: Traffic;
  /** Removes all ended requests and captures from memory; `everything`: also what is kept of them elsewhere. */
  readonly clear: (scope: ClearScope) => Promise<void>;
}

/** The part of ended requests to remove. `memory`: the list and the captures; what is kept on disk stays. */
export type ClearScope = 'memory' | 'everything';

/** Options of the history. */
export interface HistoryOptions extends Omit<ShowSettings, 'secrets'> {
  /** Numbers requests so that several processes' numbers can be compared; absent: the process is the only one. */
  readonly numbersByTime?: boolean | undefined;
  /** Keys to mask. Return a new array when the list changes. */
  readonly secrets: () => readonly HiddenText[];
  readonly sessionOf: SessionOf;
  readonly policy: () => CapturePolicy;
  /** The requests in flight. */
  readonly active: RequestRecords['active'];
  /** The clock, in milliseconds since 1970; absent: the system's. */
  readonly nowMs?: () => number;
  /** Keeps the lines of ended requests, also for the files; absent: they are kept in memory. */
  readonly lines?: PendingLines;
  /** Called when a request begins or ends. */
  readonly onChanged?: () => void;
  /** Called when all that have ended are forgotten. */
  readonly onCleared?: () => Promise<void>;
}

/** Numbers per millisecond, one per process: more than processes of a service. */
const numbersPerMs = 2_048;

/** The lowest number of a request that ends at this time, in milliseconds since 1970, where numbers are given by time. */
export const numberAt = (ms: number): number => ms * numbersPerMs;

/** Header that requests a capture of this request. */
const captureHeader = 'x-junctor-capture';

const readSummary = reader(RequestSummary);

/** Creates an empty history. */
export const createHistory = ({
  secrets,
  numbersByTime = false,
  sessionOf,
  policy,
  active,
  nowMs = Date.now,
  lines = new PendingLines(),
  onChanged,
  onCleared,
  ...settings
}: HistoryOptions): History => {
  const maskText = textMask(secrets);
  const captures = new Captures(policy);
  const traffic = new Traffic();
  /** Tells requests of several processes and machines apart that end in the same millisecond. */
  const offset = randomInt(numbersPerMs);
  let newest = 0;
  /** A process's times never go back, should the clock do so. */
  let endedAtMs = 0;

  const ended = (record: RequestRecord, { recording }: CaptureWatch): void => {
    endedAtMs = Math.max(endedAtMs, nowMs());
    newest = numbersByTime ? Math.max(newest + numbersPerMs, numberAt(endedAtMs) + offset) : newest + 1;
    const line = requestLine(record, newest, endedAtMs, maskText);
    lines.add(newest, line);
    const { startedAtMs, durationMs, firstByteMs, protocol, provider, model } = record;
    const route = provider === undefined || model === undefined ? undefined : { protocol, provider, model };
    traffic.ended(startedAtMs + durationMs, record.isFailed, firstByteMs, route);
    if (record.captured && recording) {
      const { recorder, reason } = recording;
      const summary = summaryOf(line);
      const shownBy = { ...settings, secrets: secrets() };
      const title = shownTitle(recorder, shownBy);
      if (summary) captures.add({ ...summary, ...(title && { title }) }, recorder, shownBy, reason);
    }
    onChanged?.();
  };

  /** A line as the API shows it. A title is of the user's text: it is added here, so that no file has it. */
  const shown = (line: string): RequestSummary | undefined => {
    const summary = summaryOf(line);
    const title = summary?.captured ? captures.titleOf(summary.id) : undefined;
    return summary && title !== undefined ? { ...summary, title } : summary;
  };

  const parts: WatchParts = { ended, captures, room: new BodyRoom() };

  return {
    listener: {
      began(record) {
        const { incoming } = record.start;
        // A capture shows a client's request.
        const isAsked = !record.cause && (captures.on || incoming.header(captureHeader) === '1');
        const { startedMs } = record;
        const recorder = isAsked
          ? new Recorder(clientOf(incoming), maxCaptureBytes, { startedMs, memory: incoming.answerMemory })
          : undefined;
        onChanged?.();
        record.listen(new CaptureWatch(record, recorder, parts));
      },
      decoded: ({ request }, record) => nameSession(record, request, sessionOf),
      routed(_, { provider, model, protocol, failedAttempts }) {
        // A fallback is routed after a failed attempt.
        if (failedAttempts.length > 0 || provider === undefined || model === undefined) return;
        // By the time of its routing: what waited for a count or a module would fall into a step that may be over.
        traffic.began(Date.now(), protocol, provider, shorten(model));
      },
    },
    newest: () => newest,
    list(after, limit, client) {
      const found: RequestSummary[] = [];
      for (const line of lines.newest(after)) {
        if (found.length === limit) break;
        const summary = shown(line);
        if (summary && (client === undefined || summary.client === client)) found.push(summary);
      }
      return found;
    },
    find(id) {
      const hint = JSON.stringify(id);
      for (const line of lines.newest()) {
        const summary = line.includes(hint) ? shown(line) : undefined;
        if (summary?.id === id) return summary;
      }
      return undefined;
    },
    inFlight: () => [...active],
    captures,
    traffic,
    async clear(scope) {
      lines.clear();
      captures.clear();
      if (scope === 'everything') await onCleared?.();
    },
  };
};

/** Writes what a request's body tells of its conversation into its record. A stage's request belongs to that which it is made for. */
const nameSession = (record: RequestRecord, request: ModelRequest, sessionOf: SessionOf): void => {
  const { client, namedClient, incoming, cause } = record.start;
  if (cause) {
    record.session = cause.record.session;
    return;
  }
  record.session = sessionOf({ client, namedClient, header: (name) => incoming.header(name), request });
  record.tools = answeredTools(request);
  record.turns = spokenTurns(request);
};

/** A line of this process, as the API shows it. */
const summaryOf = (line: string): RequestSummary | undefined => {
  const value = parseJson(line);
  if (!readSummary.matches(value)) return undefined;
  const { endedAt: _, ...summary } = { endedAt: 0, ...value };
  return summary;
};
