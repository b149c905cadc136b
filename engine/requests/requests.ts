import { textMask } from '../log/mask-text.ts';
import { Captures, mostCaptureBytes } from './captures.ts';
import { type RecordedClient, Recorder } from './recorder.ts';
import { RequestRecord, type RequestStart } from './request-record.ts';
import type { ShowSettings } from './show-capture.ts';
import type { RequestSummary } from './summary.ts';

/** The requests for a model that this process has served and is serving. */
export interface Requests {
  /** Follows a request from now on until it ends. */
  readonly started: (start: Omit<RequestStart, 'recorder'>, client: RecordedClient) => RequestRecord;
  /** The number of the request that ended last; 0 when there was none. */
  readonly newest: () => number;
  /** Newest first, at most `limit` of those whose number is above `after`. */
  readonly list: (after: number, limit: number) => readonly RequestSummary[];
  /** The newest of this id. */
  readonly find: (id: string) => RequestSummary | undefined;
  /** Oldest first. */
  readonly inFlight: () => readonly RequestRecord[];
  readonly captures: Captures;
  /** Forgets all that have ended, captures too. */
  readonly clear: () => void;
}

/** What following requests needs of the service. */
export interface RequestsOptions extends Omit<ShowSettings, 'secrets'> {
  /** Keys to be kept out of what is shown. A new list must be a new array. */
  readonly secrets: () => readonly string[];
}

/** How many summaries are kept. */
export const mostSummaries = 1_000;

/** The request's own word that it is to be captured. */
const captureHeader = 'x-switchyard-capture';

/** An empty memory. */
export const createRequests = ({ secrets, ...settings }: RequestsOptions): Requests => {
  const maskText = textMask(secrets);
  const captures = new Captures();
  const inFlight = new Set<RequestRecord>();
  /** The one that ended last is at `count % mostSummaries`. */
  const ring: RequestSummary[] = [];
  let count = 0;
  let cleared = 0;

  const ended = (record: RequestRecord, status: number): void => {
    inFlight.delete(record);
    count += 1;
    const summary = record.summarise(count, status, maskText);
    ring[count % mostSummaries] = summary;
    if (record.recorder) captures.add(summary, record.recorder, { ...settings, secrets: secrets() });
  };

  /** Newest first. */
  function* newestFirst(): Generator<RequestSummary> {
    for (let n = count; n > Math.max(cleared, count - mostSummaries); n -= 1) {
      const summary = ring[n % mostSummaries];
      if (summary) yield summary;
    }
  }

  return {
    started(start, client) {
      const isCaptured = captures.on || client.headers[captureHeader] === '1';
      const recorder = isCaptured ? new Recorder(client, mostCaptureBytes) : undefined;
      const record = new RequestRecord({ ...start, recorder }, ended);
      inFlight.add(record);
      return record;
    },
    newest: () => count,
    list(after, limit) {
      const found: RequestSummary[] = [];
      for (const summary of newestFirst()) {
        if (summary.n <= after || found.length === limit) break;
        found.push(summary);
      }
      return found;
    },
    find(id) {
      for (const summary of newestFirst()) if (summary.id === id) return summary;
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
