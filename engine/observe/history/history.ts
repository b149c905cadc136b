import { textMask } from '../../log/mask-text.ts';
import { Captures, maxCaptureBytes } from './captures.ts';
import { type RecordedClient, Recorder } from './recorder.ts';
import { RequestHistoryEntry, type RequestStart } from './request-record.ts';
import type { RequestSummary } from './schema.ts';
import type { ShowSettings } from './show-capture.ts';
import { type EndedRequest, showEnded } from './show-ended.ts';

/** The recent model requests of this process. */
export interface History {
  /** Starts recording a request. */
  readonly started: (start: Omit<RequestStart, 'recorder'>, request: CapturableRequest) => RequestHistoryEntry;
  /** Number of the last request that ended; 0 if none. */
  readonly newest: () => number;
  /** Up to `limit` ended requests with a number above `after`, newest first. */
  readonly list: (after: number, limit: number) => readonly RequestSummary[];
  /** The newest ended request with this id. */
  readonly find: (id: string) => RequestSummary | undefined;
  /** Requests in flight, oldest first. */
  readonly inFlight: () => readonly RequestHistoryEntry[];
  readonly captures: Captures;
  /** Removes all ended requests and captures. */
  readonly clear: () => void;
}

/** A request that may be captured. */
interface CapturableRequest extends RecordedClient {
  readonly header: (name: string) => string | undefined;
}

/** A copy: the request lets go of its body before its end. */
const clientOf = ({ method, path, query, headers, body }: RecordedClient): RecordedClient => ({
  method,
  path,
  query,
  headers,
  body,
});

/** Options of the history. */
interface HistoryOptions extends Omit<ShowSettings, 'secrets'> {
  /** Keys to mask. Return a new array when the list changes. */
  readonly secrets: () => readonly string[];
}

/** Number of summaries kept. */
export const maxSummaries = 1_000;

/** Header that requests a capture of this request. */
const captureHeader = 'x-switchyard-capture';

/** Creates an empty history. */
export const createHistory = ({ secrets, ...settings }: HistoryOptions): History => {
  const maskText = textMask(secrets);
  const captures = new Captures();
  const inFlight = new Set<RequestHistoryEntry>();
  /** Ring buffer; the newest is at `count % maxSummaries`. */
  const ring: EndedRequest[] = [];
  let count = 0;
  let cleared = 0;

  const ended = (record: RequestHistoryEntry, status: number): void => {
    inFlight.delete(record);
    count += 1;
    const entry = record.keep(count, status, maskText);
    ring[count % maxSummaries] = entry;
    if (record.recorder) captures.add(showEnded(entry), record.recorder, { ...settings, secrets: secrets() });
  };

  /** Iterates over ended requests, newest first. */
  function* newestFirst(): Generator<EndedRequest> {
    for (let n = count; n > Math.max(cleared, count - maxSummaries); n -= 1) {
      const ended = ring[n % maxSummaries];
      if (ended) yield ended;
    }
  }

  return {
    started(start, request) {
      const isCaptured = captures.on || request.header(captureHeader) === '1';
      const recorder = isCaptured ? new Recorder(clientOf(request), maxCaptureBytes) : undefined;
      const record = new RequestHistoryEntry({ ...start, recorder }, ended);
      inFlight.add(record);
      return record;
    },
    newest: () => count,
    list(after, limit) {
      const found: RequestSummary[] = [];
      for (const request of newestFirst()) {
        if (request.n <= after || found.length === limit) break;
        found.push(showEnded(request));
      }
      return found;
    },
    find(id) {
      for (const request of newestFirst()) if (request.id === id) return showEnded(request);
      return undefined;
    },
    inFlight: () => [...inFlight],
    captures,
    clear() {
      cleared = count;
      ring.length = 0;
      captures.clear();
    },
  };
};
