import { defer, from, mergeMap, type Observable, of } from 'rxjs';
import type { Endpoint } from '../engine/http/endpoint.ts';
import { fail } from '../engine/model/fault.ts';
import type { JsonObject } from '../engine/model/json.ts';
import { reader } from '../engine/model/schema.ts';
import type { ReplyPart } from '../engine/reply-part.ts';
import { activityOf } from '../engine/requests/activity.ts';
import { mostSummaries, type Requests } from '../engine/requests/requests.ts';
import { jsonReply, jsonTextReply } from './json-reply.ts';
import type { DocumentedRow } from './operation-doc.ts';
import { readJsonBody } from './read-json-body.ts';
import { type ReplayParts, replayRows } from './replay.ts';
import * as docs from './request-docs.ts';
import { wordFault } from './word-fault.ts';

/** What the endpoints about requests need of the service. */
export interface RequestParts extends ReplayParts {
  readonly requests: Requests;
  /** When the service started, in milliseconds since 1970. */
  readonly startedAtMs: number;
  /** How many processes serve. */
  readonly workers: () => number;
}

const captureSwitch = reader(docs.CaptureSwitch);

/**
 * The requests for a model: `GET /api/requests` has the summaries of those that ended last, `GET /api/activity` what goes on now,
 * `GET /api/requests/{id}` one that was captured. `POST /api/capture` switches capturing, `DELETE /api/requests` forgets.
 */
export const requestRows = (parts: RequestParts): readonly DocumentedRow[] => {
  const { requests, startedAtMs, workers } = parts;
  const { captures } = requests;
  const endpoint = (handle: Endpoint['handle']): Endpoint => ({
    open: false,
    wordFault,
    handle: (incoming, params) => defer(() => handle(incoming, params)),
  });

  const list = endpoint(({ query }) => {
    const params = new URLSearchParams(query);
    const after = readNumber(params, 'after', 0, Number.MAX_SAFE_INTEGER, 0);
    const limit = readNumber(params, 'limit', 1, mostSummaries, 200);
    return of(
      jsonReply({
        capture: captures.state(),
        newest: requests.newest(),
        requests: requests.list(after, limit).map((summary): JsonObject => ({ ...summary })),
      }),
    );
  });
  const activity = endpoint(() =>
    of(
      jsonReply({
        startedAt: startedAtMs,
        process: { pid: process.pid, workers: workers() },
        ...activityOf(requests, Date.now()),
      }),
    ),
  );
  const show = endpoint((_, { id = '' }) =>
    from(captures.find(id)).pipe(
      mergeMap(
        (text): Observable<ReplyPart> => of(text === undefined ? uncaptured(requests, id) : jsonTextReply(text)),
      ),
    ),
  );
  const readSwitch = endpoint(() => of(jsonReply(captures.state())));
  const setSwitch = endpoint(({ body }) => {
    captures.on = captureSwitch.read(readJsonBody(body)).on;
    return of(jsonReply(captures.state()));
  });
  const clear = endpoint(() => {
    requests.clear();
    return of(jsonReply({ success: true, message: 'All requests that have ended were forgotten.' }));
  });

  return [
    { method: 'GET', path: '/api/requests', endpoint: list, doc: docs.listDoc },
    { method: 'DELETE', path: '/api/requests', endpoint: clear, doc: docs.clearDoc },
    { method: 'GET', path: '/api/requests/:id', endpoint: show, doc: docs.showDoc },
    ...replayRows(parts),
    { method: 'GET', path: '/api/activity', endpoint: activity, doc: docs.activityDoc },
    { method: 'GET', path: '/api/capture', endpoint: readSwitch, doc: docs.captureDoc },
    { method: 'POST', path: '/api/capture', endpoint: setSwitch, doc: docs.setCaptureDoc },
  ];
};

/** What there is to say of a request without a capture; its summary, where that is known. */
const uncaptured = (requests: Requests, id: string): ReplyPart => {
  const summary = requests.find(id);
  if (summary) {
    return jsonReply({ success: false, message: 'That request was not captured.', summary, capture: null }, 404);
  }
  const runs = requests.inFlight().some(({ start }) => start.id === id);
  return fail(
    'not-found',
    runs ? 'That request has not ended yet.' : 'There is no request of that id, or not any more.',
  );
};

const readNumber = (params: URLSearchParams, name: string, least: number, most: number, missing: number): number => {
  const text = params.get(name);
  if (text === null) return missing;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return value >= least && value <= most
    ? value
    : fail('invalid-request', `${name} must be a whole number from ${least} to ${most}.`, { param: name });
};
