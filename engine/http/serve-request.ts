import { defer } from 'rxjs';
import { Flow } from '../flow.ts';
import { type Fault, FaultError, faultOf } from '../model/fault.ts';
import type { WholeReply } from '../reply-part.ts';
import type { WordFault } from './endpoint.ts';
import { framingFault } from './framing.ts';
import type { RequestHead } from './head.ts';
import type { Incoming } from './incoming.ts';
import type { UwsResponse } from './load-uws.ts';
import type { Patience } from './patience.ts';
import { readBody, type StopReading } from './read-body.ts';
import type { Refusal } from './refusal.ts';
import { ReplyWriter } from './reply-writer.ts';
import { requestId } from './request-id.ts';
import type { RequestHooks, RequestInfo, ServeSettings } from './settings.ts';
import type { Match } from './site.ts';

/** What serving a request needs of its listener. */
export interface ServingListener {
  readonly settings: ServeSettings;
  readonly hooks: RequestHooks;
  readonly patience: Patience;
  /** Why the listener can't take a request from this address just now; `open` endpoints are taken longest. */
  readonly refusal: (remoteAddress: string, open: boolean) => Refusal | undefined;
  /** The request is over, whatever became of it. */
  readonly release: () => void;
  /** Answers that begin now are to be their connections' last. */
  readonly retiring: () => boolean;
}

/**
 * One request from its head to the end of its answer, in this order: framing, host and origin, path, key, room, method, body,
 * endpoint. Must be called while the native handler runs.
 */
export const serveRequest = (res: UwsResponse, head: RequestHead, listener: ServingListener): void => {
  const startedAtMs = Date.now();
  const { settings, hooks, patience } = listener;
  const { method, path, query, headers, remoteAddress } = head;
  const id = requestId(headers['x-request-id']);
  const request: RequestInfo = { id, method, path, query, remoteAddress };
  const flow = new Flow();
  const found = settings.site.find(method, path);
  const wordFault = 'endpoint' in found ? found.endpoint.wordFault : found.wordFault;
  let stopReading: StopReading | undefined;
  let gone = false;

  const reply = new ReplyWriter({
    res,
    requestId: id,
    headOnly: method === 'HEAD',
    flow,
    patience,
    stallMs: settings.limits.stallMs,
    isLast: listener.retiring,
    wordError(error) {
      if (!(error instanceof FaultError)) hooks.failed?.(error, id);
      return worded(faultOf(error), wordFault, id);
    },
    finished(status) {
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

  const refuse = ({ fault, close }: Refusal): void => reply.answer(worded(fault, wordFault, id), close);

  const malformed = framingFault(head.pairs);
  if (malformed) {
    // Not at once: what follows in the same packet would then be taken for a request. Now it closes the connection instead.
    setImmediate(() => {
      if (!gone) refuse({ fault: malformed, close: true });
    });
    return;
  }
  const refusal = refusalOf(head, found, listener);
  if (refusal) {
    refuse(refusal);
    return;
  }
  if (!('endpoint' in found)) {
    refuse({ fault: found.fault, close: false });
    return;
  }

  stopReading = readBody({ res, headers, limits: settings.limits, patience }, (result) => {
    if (gone) return;
    if (isRefusal(result)) refuse(result);
    else answer(found, result);
  });

  function answer({ endpoint, params }: Match, body: Uint8Array): void {
    const incoming: Incoming = { ...request, headers, body, flow, startedAtMs };
    reply.run(defer(() => endpoint.handle(incoming, params)));
  }
};

/** Before anything is told of what exists, the request must come from an admitted page or program and carry the key. */
const refusalOf = (
  head: RequestHead,
  found: ReturnType<ServeSettings['site']['find']>,
  { settings, refusal }: ServingListener,
): Refusal | undefined => {
  const foreign = settings.guard(head.pairs);
  if (foreign) return { fault: foreign, close: false };
  const open = 'endpoint' in found && found.endpoint.open;
  if (!open && !settings.hasKey(head.headers)) return { fault: unauthorized, close: false };
  return refusal(head.remoteAddress, open);
};

const unauthorized: Fault = {
  kind: 'unauthorized',
  message: 'The API key is missing or wrong: send it as "Authorization: Bearer" or "x-api-key".',
  headers: { 'www-authenticate': 'Bearer' },
};

const worded = (fault: Fault, wordFault: WordFault, id: string): WholeReply => {
  const { status, body } = wordFault(fault, id);
  const headers = { ...fault.headers, 'content-type': 'application/json; charset=utf-8' };
  return { type: 'whole', status, headers, body: JSON.stringify(body) };
};

const isRefusal = (result: Uint8Array | Refusal): result is Refusal => 'fault' in result;
