import type { Observable } from 'rxjs';
import { type Fault, FaultError, faultOf } from '../model/fault.ts';
import type { Headers } from '../model/protocol.ts';
import { Backpressure } from '../runtime/backpressure.ts';
import type { MemoryReservation } from '../runtime/memory-budget.ts';
import { preflightMethod, preflightReply } from './access/cors.ts';
import type { BodyUse, Endpoint, HttpRequest, Rejection, ReplyPart, WholeReply } from './endpoint.ts';
import { framingFault, headerValue, joinHeaders, requestId } from './headers.ts';
import { type BodyReader, type BodyReceiver, BodyReservation, noBytes, readBody } from './read-body.ts';
import { type ReplyTarget, ReplyWriter } from './reply-writer.ts';
import type { RouteMatch } from './router.ts';
import type { ActiveRequest, HttpLimits, RequestInfo, ServeSettings, ServingListener } from './settings.ts';
import { ClientSocket } from './socket/client-socket.ts';
import type { Handshake } from './socket/socket-request.ts';
import type { HttpStream } from './stream.ts';
import type { Ticker } from './ticker.ts';

/**
 * One request from its head to its answer's end. Checks, in this order: framing, admission (host, origin, key), capacity, path
 * and method, body; then calls the endpoint.
 */
export class ServedRequest implements HttpRequest, RequestInfo, BodyReceiver, ReplyTarget, ActiveRequest {
  before: ActiveRequest | undefined;
  after: ActiveRequest | undefined;
  readonly id: string;
  number = 0;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly remoteAddress: string;
  readonly startedAtMs = Date.now();
  readonly #begunMs = performance.now();
  readonly backpressure = new Backpressure();
  body: Uint8Array = noBytes;
  namedClient: string | undefined;
  readonly pageOrigin: string | undefined;
  readonly stream: HttpStream;
  readonly reservation: BodyReservation;
  readonly reservesValues: boolean;
  readonly answerMemory: MemoryReservation;
  readonly limits: HttpLimits;
  readonly #listener: ServingListener;
  readonly #settings: ServeSettings;
  readonly #found: ReturnType<ServeSettings['router']['find']>;
  /** The route whose requests a WebSocket connection shall bring. */
  readonly #handshake: RouteMatch | undefined;
  readonly #reply: ReplyWriter;
  #reader: BodyReader | undefined;
  #headers: Headers | undefined;
  #interrupted: ((fault: Fault) => void) | undefined;
  /** The endpoint has the request. */
  #handled = false;
  #gone = false;

  constructor(stream: HttpStream, listener: ServingListener) {
    const { settings } = listener;
    this.id = requestId(headerValue(stream.headers, 'x-request-id'));
    this.method = stream.method;
    this.path = settings.proxies.pathOf(stream);
    this.query = stream.query;
    this.remoteAddress = settings.proxies.clientOf(stream);
    this.stream = stream;
    this.reservation = new BodyReservation(listener.bodies.reserve(settings.limits.bodiesBytes));
    this.answerMemory = listener.answers.reserve(settings.limits.answersBytes);
    this.limits = settings.limits;
    this.#listener = listener;
    this.#settings = settings;
    const found = settings.router.find(stream.method, this.path);
    this.#handshake = 'endpoint' in found ? undefined : socketRoute(stream, this.path, settings.router);
    this.#found = this.#handshake ?? found;
    this.reservesValues = 'endpoint' in found && found.endpoint.reservesValues === true;
    this.pageOrigin = settings.admission.pageOf(
      stream.headers,
      this.#targetOf({ method: stream.method, path: this.path, headers: stream.headers }),
    );
    this.#reply = new ReplyWriter(this);
  }

  get headers(): Headers {
    this.#headers ??= joinHeaders(this.stream.headers);
    return this.#headers;
  }

  get connectionAddress(): string {
    return this.stream.remoteAddress;
  }

  get ticker(): Ticker {
    return this.#listener.ticker;
  }

  get isLast(): boolean {
    return this.#listener.retiring || !this.#settings.keepAlive;
  }

  header(name: string): string | undefined {
    return headerValue(this.stream.headers, name);
  }

  retainBody(use: BodyUse): void {
    this.reservation.countAs(use);
    if (use !== 'conversion') this.body = noBytes;
  }

  /** Must be called while the server's handler runs. */
  begin(): void {
    this.stream.onAborted(() => this.#abort());
    this.#listener.hooks.started?.(this);
    const malformed = framingFault(this.stream.headers);
    if (malformed) {
      // Deferred: an immediate answer would let the rest of the packet be parsed as another request. Now it closes the connection.
      setImmediate(() => this.received({ fault: malformed, close: true }));
      return;
    }
    const { headers } = this.stream;
    const asked = preflightMethod(this.method, headers);
    if (asked !== undefined && this.#settings.admission.admitsPreflight(headers, this.#targetOf(this.stream))) {
      this.#reply.answer(preflightReply(asked, headers), false);
      return;
    }
    const rejection = this.#rejection();
    if (rejection) this.received(rejection);
    else if (this.#handshake) this.#upgrade(this.#handshake);
    else this.#reader = readBody(this);
  }

  /** Opens a WebSocket connection, or refuses it so that its client sends plain requests instead. */
  #upgrade({ endpoint, params }: RouteMatch): void {
    const { path, query, remoteAddress } = this;
    const { headers, remoteAddress: from } = this.stream;
    const proxied = this.stream.proxiedAddress();
    const caller = { headers, remoteAddress: from, proxiedAddress: () => proxied };
    const handshake = { endpoint, params, path, query, caller, remoteAddress };
    if (!endpoint.admitSocket || !this.#opensSockets) {
      this.#openSocket(handshake);
      return;
    }
    const refuse = (error: unknown): void => {
      if (!(error instanceof FaultError)) this.failed(error);
      this.received({ fault: faultOf(error), close: true });
    };
    endpoint.admitSocket(params, this.namedClient).then(() => this.#openSocket(handshake), refuse);
  }

  /** Whether a WebSocket connection can be opened at this moment. */
  get #opensSockets(): boolean {
    const isKnown = this.header('sec-websocket-version') === '13';
    return !this.#listener.retiring && isKnown && this.#listener.admitsSocket();
  }

  #openSocket(handshake: Handshake): void {
    if (this.#gone) return;
    const { upgrade } = this.stream;
    const { socket: protocol } = handshake.endpoint;
    const listener = this.#listener;
    if (!protocol || !upgrade || !this.#opensSockets) {
      this.received(listener.retiring ? retiringNow : upgradeRefused('POST'));
      return;
    }
    upgrade((opened) => {
      const socket = new ClientSocket(listener, handshake, protocol, opened);
      listener.openedSocket(socket);
      return socket;
    });
    this.#end(101, false);
  }

  /** The body, or why there is no answer of the endpoint. */
  received(result: Uint8Array | Rejection): void {
    if (this.#gone) return;
    if ('fault' in result) this.#reply.answer(this.#formatted(result.fault), result.close);
    else if ('endpoint' in this.#found) this.#answer(this.#found, result);
  }

  onInterrupted(handler: (fault: Fault) => void): void {
    this.#interrupted = handler;
  }

  /** Ends the request at once, with a fault in the client's own format. */
  interrupt(fault: Fault): void {
    if (this.#gone) return;
    if (!this.#handled) {
      this.#reader?.stop();
      this.received({ fault, close: true });
    } else if (this.#interrupted) this.#interrupted(fault);
    else this.#reply.error(new FaultError(fault));
  }

  formatError(error: unknown): WholeReply {
    if (!(error instanceof FaultError)) this.failed(error);
    return this.#formatted(faultOf(error));
  }

  finished(status: number): void {
    this.#end(status, this.#gone);
  }

  #end(status: number, aborted: boolean): void {
    this.#gone = true;
    this.reservation.release();
    this.answerMemory.release();
    this.#listener.release(this);
    const durationMs = Math.round(performance.now() - this.#begunMs);
    this.#listener.hooks.finished?.(this, { status, durationMs, aborted });
  }

  failed(error: unknown): void {
    this.#listener.hooks.failed?.(error, this.id);
  }

  #abort(): void {
    if (this.#gone) return;
    this.#gone = true;
    this.#reader?.stop();
    this.#reply.abort();
  }

  #answer({ endpoint, params }: RouteMatch, body: Uint8Array): void {
    this.body = body;
    this.#handled = true;
    let parts: Observable<ReplyPart>;
    try {
      parts = endpoint.handle(this, params);
    } catch (error) {
      this.#reply.error(error);
      return;
    }
    this.#reply.run(parts);
  }

  /** The endpoint that a request is for; that of a preflight is the one that it asks about. */
  #targetOf({ method, path, headers }: Pick<HttpStream, 'method' | 'path' | 'headers'>): Endpoint | undefined {
    const asked = preflightMethod(method, headers);
    const found = asked === undefined ? this.#found : this.#settings.router.find(asked, path);
    return 'endpoint' in found ? found.endpoint : undefined;
  }

  /** Admission comes before the path: an unauthorized client must not learn which paths exist. */
  #rejection(): Rejection | undefined {
    const endpoint = 'endpoint' in this.#found ? this.#found.endpoint : undefined;
    const decision = this.#settings.admission.admit(this.stream, endpoint);
    if ('fault' in decision) {
      if (decision.keyRefusal) this.#listener.hooks.keyRefused?.(decision.keyRefusal);
      return { fault: decision.fault, close: false };
    }
    this.namedClient = decision.namedClient;
    const busy = this.#listener.rejection(this.remoteAddress);
    if (busy || 'endpoint' in this.#found) return busy;
    const { fault } = this.#found;
    if (!isHandshake(this.stream)) {
      return mayBeHandshake(this.stream, this.#settings.router) ? upgradeRefused('POST') : { fault, close: false };
    }
    return fault.kind === 'method-not-allowed'
      ? upgradeRefused(fault.headers?.allow ?? 'POST')
      : { fault, close: true };
  }

  #formatted(fault: Fault): WholeReply {
    const { formatFault } = 'endpoint' in this.#found ? this.#found.endpoint : this.#found;
    const { status, body } = formatFault(fault, this.id);
    const headers = { ...fault.headers, 'content-type': 'application/json; charset=utf-8' };
    return { type: 'whole', status, headers, body: JSON.stringify(body) };
  }
}

const isHandshake = ({ method, headers }: HttpStream): boolean =>
  method === 'GET' && headerValue(headers, 'upgrade')?.toLowerCase() === 'websocket';

/** Whether a proxy has dropped what makes a request a handshake of a path that takes some. Source: RFC 6455, section 4.1. */
const mayBeHandshake = ({ method, path, headers }: HttpStream, router: ServeSettings['router']): boolean => {
  if (method !== 'GET') return false;
  const asked = headers.some((name, at) => at % 2 === 0 && name.toLowerCase().startsWith('sec-websocket-'));
  const found = asked ? router.find('POST', path) : undefined;
  return found !== undefined && 'endpoint' in found && found.endpoint.socket !== undefined;
};

/** The route of the requests that a WebSocket connection at this path brings. */
const socketRoute = (stream: HttpStream, path: string, router: ServeSettings['router']): RouteMatch | undefined => {
  if (!isHandshake(stream)) return undefined;
  const found = router.find('POST', path);
  return 'endpoint' in found && found.endpoint.socket ? found : undefined;
};

/** A process that ends sends clients to the next one: after a 426, some use plain requests for the whole session. */
const retiringNow: Rejection = {
  fault: { kind: 'unavailable', message: 'The gateway is restarting.', headers: { 'retry-after': '1' } },
  close: true,
};

/**
 * Answers a WebSocket handshake with 426 where plain requests are served: clients then fall back to these at once. After other statuses,
 * some retry the handshake. Source: RFC 9110, section 15.5.22.
 */
const upgradeRefused = (methods: string): Rejection => ({
  fault: {
    kind: 'upgrade-refused',
    message: `No WebSocket connection is opened here; send plain HTTP requests (${methods}).`,
  },
  close: true,
});
