import { from, mergeMap, type Observable, of } from 'rxjs';
import type { ReplyPart } from '../engine/http/endpoint.ts';
import { fail } from '../engine/model/fault.ts';
import type { JsonObject } from '../engine/model/json/json.ts';
import { reader } from '../engine/model/schema.ts';
import { activityOf } from '../engine/observe/history/activity.ts';
import { type History, maxSummaries } from '../engine/observe/history/history.ts';
import { adminEndpoint } from './endpoint.ts';
import { jsonReply, jsonTextReply } from './json-reply.ts';
import type { DocumentedRoute } from './operation-doc.ts';
import { readJsonBody } from './read-json-body.ts';
import { type ReplayParts, replayRoutes } from './replay.ts';
import * as docs from './request-docs.ts';

/** Dependencies of the request history endpoints. */
interface RequestParts extends ReplayParts {
  readonly requests: History;
  /** Start of the service, in milliseconds since 1970. */
  readonly startedAtMs: number;
  /** Number of serving processes. */
  readonly workers: () => number;
}

const captureSwitch = reader(docs.CaptureSwitch);

/**
 * Endpoints of the request history.
 *
 * - `GET /api/requests`: summaries of ended requests; `DELETE` clears them.
 * - `GET /api/requests/{id}`: a captured request.
 * - `GET /api/activity`: requests in flight and statistics.
 * - `GET /api/capture`, `POST`: whether requests are captured; switches it.
 */
export const requestRoutes = (parts: RequestParts): readonly DocumentedRoute[] => {
  const { requests, startedAtMs, workers } = parts;
  const { captures } = requests;
  const list = adminEndpoint(({ query }) => {
    const params = new URLSearchParams(query);
    const after = readNumber(params, 'after', 0, Number.MAX_SAFE_INTEGER, 0);
    const limit = readNumber(params, 'limit', 1, maxSummaries, 200);
    return of(
      jsonReply({
        capture: captures.state(),
        newest: requests.newest(),
        requests: requests.list(after, limit).map((summary): JsonObject => ({ ...summary })),
      }),
    );
  });
  const activity = adminEndpoint(() =>
    of(
      jsonReply({
        startedAt: startedAtMs,
        process: { pid: process.pid, workers: workers() },
        ...activityOf(requests, Date.now()),
      }),
    ),
  );
  const show = adminEndpoint((_, { id = '' }) =>
    from(captures.find(id)).pipe(
      mergeMap(
        (text): Observable<ReplyPart> => of(text === undefined ? withoutCapture(requests, id) : jsonTextReply(text)),
      ),
    ),
  );
  const readSwitch = adminEndpoint(() => of(jsonReply(captures.state())));
  const setSwitch = adminEndpoint(({ body }) => {
    captures.on = captureSwitch.read(readJsonBody(body)).on;
    return of(jsonReply(captures.state()));
  });
  const clear = adminEndpoint(() => {
    requests.clear();
    return of(jsonReply({ success: true, message: 'All requests that have ended were forgotten.' }));
  });

  return [
    { method: 'GET', path: '/api/requests', endpoint: list, doc: docs.listDoc },
    { method: 'DELETE', path: '/api/requests', endpoint: clear, doc: docs.clearDoc },
    { method: 'GET', path: '/api/requests/:id', endpoint: show, doc: docs.showDoc },
    ...replayRoutes(parts),
    { method: 'GET', path: '/api/activity', endpoint: activity, doc: docs.activityDoc },
    { method: 'GET', path: '/api/capture', endpoint: readSwitch, doc: docs.captureDoc },
    { method: 'POST', path: '/api/capture', endpoint: setSwitch, doc: docs.setCaptureDoc },
  ];
};

/** Reply for a request without a capture: its summary, if known. */
const withoutCapture = (requests: History, id: string): ReplyPart => {
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

const readNumber = (params: URLSearchParams, name: string, min: number, max: number, otherwise: number): number => {
  const text = params.get(name);
  if (text === null) return otherwise;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max
    ? value
    : fail('invalid-request', `${name} must be a whole number from ${min} to ${max}.`, { param: name });
};
