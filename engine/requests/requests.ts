import { textMask } from '../log/mask-text.ts';
import { Captures, mostCaptureBytes } from './captures.ts';
import { type RecordedClient, Recorder } from './recorder.ts';
import { RequestRecord, type RequestStart } from './request-record.ts';
import type { ShowSettings } from './show-capture.ts';
import { type EndedRequest, showEnded } from './show-ended.ts';
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
  const ring: EndedRequest[] = [];
  let count = 0;
  let cleared = 0;

  const ended = (record: RequestRecord, status: number): void => {
    inFlight.delete(record);
    count += 1;
    const kept = record.keep(count, status, maskText);
    ring[count % mostSummaries] = kept;
    if (record.recorder) captures.add(showEnded(kept), record.recorder, { ...settings, secrets: secrets() });
  };

  /** Newest first. */
  function* newestFirst(): Generator<EndedRequest> {
    for (let n = count; n > Math.max(cleared, count - mostSummaries); n -= 1) {
      const ended = ring[n % mostSummaries];
      if (ended) yield ended;
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
      for (const one of newestFirst()) {
        if (one.n <= after || found.length === limit) break;
        found.push(showEnded(one));
      }
      return found;
    },
    find(id) {
      for (const one of newestFirst()) if (one.id === id) return showEnded(one);
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
