import { defer } from 'rxjs';
import { Backpressure } from '../backpressure.ts';
import { type Fault, FaultError, faultOf } from '../model/fault.ts';
import type { BodyBudget } from './body-budget.ts';
import type { FormatFault, HttpRequest, Rejection, WholeReply } from './endpoint.ts';
import { readBody, type StopReading } from './read-body.ts';
import { ReplyWriter } from './reply-writer.ts';
import { framingFault, type RequestHead } from './request-head.ts';
import { requestId } from './request-id.ts';
import type { RouteMatch } from './router.ts';
import type { RequestHooks, RequestInfo, ServeSettings } from './settings.ts';
import type { Ticker } from './ticker.ts';
import type { UwsResponse } from './uws.ts';

/** The listener as a request sees it. */
interface ServingListener {
  readonly settings: ServeSettings;
  readonly hooks: RequestHooks;
  readonly ticker: Ticker;
  /** Memory for request bodies. */
  readonly bodies: BodyBudget;
  /** The reason to reject a request from this address now; `open`: for an endpoint that stays available while draining. */
  readonly rejection: (remoteAddress: string, open: boolean) => Rejection | undefined;
  /** Called once when the request is over, successful or not. */
  readonly release: () => void;
  /** Whether answers that start now are the last on their connections. */
  readonly retiring: () => boolean;
}

/**
 * Serves one request. Checks, in this order: framing, host and origin, key, capacity, path and method, body; then calls the
 * endpoint. Must be called while the native handler runs.
 */
export const serveRequest = (res: UwsResponse, head: RequestHead, listener: ServingListener): void => {
  const startedAtMs = Date.now();
  const { settings, hooks, ticker } = listener;
  const { method, path, query, headers, remoteAddress } = head;
  const id = requestId(headers['x-request-id']);
  const request: RequestInfo = { id, method, path, query, remoteAddress };
  const backpressure = new Backpressure();
  const found = settings.router.find(method, path);
  const formatFault = 'endpoint' in found ? found.endpoint.formatFault : found.formatFault;
  const claim = listener.bodies.claim(settings.limits.bodiesBytes);
  let stopReading: StopReading | undefined;
  let gone = false;

  const reply = new ReplyWriter({
    res,
    requestId: id,
    headOnly: method === 'HEAD',
    backpressure,
    ticker,
    stallMs: settings.limits.stallMs,
    isLast: listener.retiring,
    formatError(error) {
      if (!(error instanceof FaultError)) hooks.failed?.(error, id);
      return formatted(faultOf(error), formatFault, id);
    },
    finished(status) {
      claim.release();
      listener.release();
      const durationMs = Date.now() - startedAtMs;
      hooks.finished?.(request, { status, durationMs, aborted: gone });
    },
    failed: (error) => hooks.failed?.(error, id),
  });
  res.onAborted(() => {
    gone = true;
    stopReading?.();
    reply.abort();
  });

  hooks.started?.(request);

  const reject = ({ fault, close }: Rejection): void => reply.answer(formatted(fault, formatFault, id), close);

  const malformed = framingFault(head.pairs);
  if (malformed) {
    // Deferred: an immediate answer would let the rest of the packet be parsed as another request. Now it closes the connection.
    setImmediate(() => {
      if (!gone) reject({ fault: malformed, close: true });
    });
    return;
  }
  const rejection = rejectionOf(head, found, listener);
  if (rejection) {
    reject(rejection);
    return;
  }
  if (!('endpoint' in found)) {
    reject(asksForWebSocket(head) ? withoutWebSocket(found.fault) : { fault: found.fault, close: false });
    return;
  }

  stopReading = readBody({ res, headers, limits: settings.limits, ticker, claim }, (result) => {
    if (gone) return;
    if (isRejection(result)) reject(result);
    else answer(found, result);
  });

  function answer({ endpoint, params }: RouteMatch, received: Uint8Array): void {
    let body = received;
    const httpRequest: HttpRequest = {
      ...request,
      headers,
      get body() {
        return body;
      },
      holdBody(use) {
        claim.hold(use);
        if (use === 'none') body = noBytes;
      },
      backpressure,
      startedAtMs,
    };
    reply.run(defer(() => endpoint.handle(httpRequest, params)));
  }
};

/** Origin and key come first: an unauthorized client must not learn which paths exist. */
const rejectionOf = (
  head: RequestHead,
  found: ReturnType<ServeSettings['router']['find']>,
  { settings, rejection }: ServingListener,
): Rejection | undefined => {
  const foreign = settings.guard(head.pairs);
  if (foreign) return { fault: foreign, close: false };
  const open = 'endpoint' in found && found.endpoint.open;
  if (!open && !settings.hasKey(head.headers)) return { fault: unauthorized, close: false };
  return rejection(head.remoteAddress, open);
};

const asksForWebSocket = ({ headers }: RequestHead): boolean => headers.upgrade?.toLowerCase() === 'websocket';

/**
 * Answers a WebSocket handshake with 426 where other methods are served: clients then fall back to plain requests at once.
 * After 405 some clients retry the handshake. Source: RFC 9110, section 15.5.22.
 */
const withoutWebSocket = (fault: Fault): Rejection =>
  fault.kind === 'method-not-allowed'
    ? {
        fault: {
          kind: 'upgrade-refused',
          message: `No WebSocket is served here; send plain HTTP requests (${fault.headers?.allow ?? 'POST'}).`,
        },
        close: true,
      }
    : { fault, close: false };

const unauthorized: Fault = {
  kind: 'unauthorized',
  message: 'The API key is missing or wrong: send it as "Authorization: Bearer" or "x-api-key".',
  headers: { 'www-authenticate': 'Bearer' },
};

const formatted = (fault: Fault, formatFault: FormatFault, id: string): WholeReply => {
  const { status, body } = formatFault(fault, id);
  const headers = { ...fault.headers, 'content-type': 'application/json; charset=utf-8' };
  return { type: 'whole', status, headers, body: JSON.stringify(body) };
};

const noBytes = new Uint8Array(0);

const isRejection = (result: Uint8Array | Rejection): result is Rejection => 'fault' in result;
