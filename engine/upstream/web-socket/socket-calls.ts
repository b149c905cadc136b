import { Observable, type Subscriber } from 'rxjs';
import { bodyText } from '../../model/call-body.ts';
import { FaultError } from '../../model/fault.ts';
import type { Headers } from '../../model/protocol.ts';
import type { SocketChain, UpstreamRequest } from '../../model/wire/upstream-socket.ts';
import type { SteadyClock } from '../../runtime/steady-clock.ts';
import type { CallLimits } from '../call-handler.ts';
import type { SocketTarget } from '../open-socket.ts';
import type { CallSocket, UpstreamAnswer, UpstreamCall } from '../upstreams.ts';
import { openWebSocket } from './open-web-socket.ts';
import { SocketCall } from './socket-call.ts';
import { SocketConnection } from './socket-connection.ts';
import { conversationOf, type SocketPlace, SocketPool } from './socket-pool.ts';

/** What calls over WebSocket need of the process's other connections. */
interface SocketCallsParts {
  readonly options: CallLimits;
  readonly clock: SteadyClock;
  readonly overHttp: (call: UpstreamCall) => Observable<UpstreamAnswer>;
  /** Where an origin is reached. Throws `misconfigured` for an invalid proxy. */
  readonly targetOf: (url: URL) => SocketTarget;
}

/** Headers about the body of an HTTP call, and those that differ from call to call, which a connection can't have. */
const ofOneCall: ReadonlySet<string> = new Set([
  'accept',
  'accept-encoding',
  'content-type',
  'traceparent',
  'tracestate',
]);

/** Calls over WebSocket, which are made over HTTP where that isn't possible. */
export class SocketCalls {
  readonly #parts: SocketCallsParts;
  readonly #pool: SocketPool;
  readonly #stopWatching: () => void;
  /** One for all calls, since what a call makes would hold its request. */
  readonly #released = (connection: SocketConnection, chain: SocketChain | undefined): void =>
    this.#pool.release(connection, chain);

  constructor(parts: SocketCallsParts) {
    this.#parts = parts;
    this.#pool = new SocketPool(parts.clock, parts.options.connectionsPerProvider);
    this.#stopWatching = parts.clock.onWake(() => this.#pool.wake());
  }

  /** Makes a call. */
  call(call: UpstreamCall, { protocol, conversation }: CallSocket): Observable<UpstreamAnswer> {
    const { overHttp } = this.#parts;
    const ask = this.#pool.isRefused(call.url.href) ? undefined : protocol.read(bodyText(call.body));
    if (!ask) return overHttp(call);
    return new Observable((subscriber) => this.#start(call, ask, conversation, subscriber));
  }

  #start(
    call: UpstreamCall,
    ask: UpstreamRequest,
    conversation: string,
    subscriber: Subscriber<UpstreamAnswer>,
  ): () => void {
    const { options, clock, targetOf, overHttp } = this.#parts;
    const target = targetOf(call.url);
    const headers = handshakeHeaders(call.headers);
    const key = JSON.stringify([call.url.href, headers, conversationOf(conversation, ask)]);
    const place: SocketPlace = { origin: call.url.origin, key };
    const socketCall = new SocketCall({
      call,
      ask,
      limits: call.timeouts ? { ...options, ...call.timeouts } : options,
      clock,
      subscriber,
      overHttp: () => overHttp(call),
      released: this.#released,
      refused: () => this.#pool.refuse(call.url.href),
    });
    // A proxy gets plain HTTP in absolute form; it needn't know how to upgrade.
    const isDirect = target.proxy === undefined || call.url.protocol === 'https:';
    const grant = isDirect ? this.#pool.take(place, ask) : undefined;
    if (grant === 'open')
      return ending(socketCall, this.#open({ ...target, url: call.url }, headers, place, socketCall));
    if (grant) socketCall.start(grant.connection, grant.continuation);
    else socketCall.goOverHttp();
    return ending(socketCall);
  }

  /** Closes the idle connections to these origins. */
  dropIdle(origins: ReadonlySet<string>): void {
    this.#pool.dropIdle(({ origin }) => origins.has(origin));
  }

  /** Resolves when the last response has ended. */
  close(): Promise<void> {
    this.#stopWatching();
    return this.#pool.close();
  }

  #open(target: SocketTarget, headers: Headers, place: SocketPlace, socketCall: SocketCall): () => void {
    const { options, clock } = this.#parts;
    const opened = this.#pool.opening(place);
    const maxBytes = options.decompressedReplyBytes;
    const cancel = openWebSocket({ ...target, headers, maxBytes, clock }, (outcome) => {
      opened();
      if (outcome === 'refused') {
        this.#pool.refuse(target.url.href);
        socketCall.goOverHttp();
      } else if (outcome instanceof FaultError) socketCall.fail(outcome);
      else if ('status' in outcome) socketCall.answer(outcome);
      else {
        const connection = new SocketConnection(outcome, clock, (lost) => this.#pool.forget(lost));
        this.#pool.add(connection, place);
        socketCall.start(connection);
      }
    });
    return () => {
      opened();
      cancel();
    };
  }
}

/** A function of its own, which holds nothing of the request. */
const ending =
  (socketCall: SocketCall, cancel?: () => void): (() => void) =>
  () => {
    cancel?.();
    socketCall.abandon();
  };

const handshakeHeaders = (headers: UpstreamCall['headers']): Headers =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !ofOneCall.has(name)));
