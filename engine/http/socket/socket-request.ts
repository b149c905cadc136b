import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import type { Observable, Observer, Subscription } from 'rxjs';
import { type Fault, FaultError, faultOf } from '../../model/fault.ts';
import { isJsonObject, parseJson } from '../../model/json/json.ts';
import type { Headers } from '../../model/protocol.ts';
import { clientGone } from '../../model/status.ts';
import type { RequestMessage, SocketAnswerReader, SocketProtocol } from '../../model/wire/socket-protocol.ts';
import type { SseRecord } from '../../model/wire/sse-record.ts';
import { Backpressure } from '../../runtime/backpressure.ts';
import type { MemoryReservation } from '../../runtime/memory-budget.ts';
import type { Caller } from '../admission.ts';
import type { BodyUse, Endpoint, HttpRequest, Params, ReplyPart, WholeReply } from '../endpoint.ts';
import { headerValue, joinHeaders, randomHex, requestId } from '../headers.ts';
import { BodyReservation, noBytes } from '../read-body.ts';
import type { ActiveRequest, RequestInfo, ServingListener } from '../settings.ts';
import { ReplyFrames } from './reply-frames.ts';

/** The longest time without a message while an answer is awaited, in milliseconds. Some clients don't count pings. */
const silenceMs = 55_000;

/** The properties of a handshake that all requests of its connection share. */
export interface Handshake {
  readonly endpoint: Endpoint;
  readonly params: Params;
  readonly path: string;
  readonly query: string;
  /** The caller: each request is admitted again. */
  readonly caller: Caller;
  /** The client's, not that of a trusted proxy. */
  readonly remoteAddress: string;
}

/** The conversation up to an answer. */
export interface AnsweredConversation {
  /** The answer's id. */
  readonly id: string;
  /** `undefined`: they are more than may be held. */
  readonly items: readonly Uint8Array[] | undefined;
}

/** The connection as its requests see it. */
interface RequestSocket {
  readonly listener: ServingListener;
  readonly handshake: Handshake;
  readonly protocol: SocketProtocol;
  /** The client's socket is full. */
  readonly isBlocked: boolean;
  /** Sends a message of an answer. */
  readonly send: (message: string | Uint8Array) => void;
  /**
   * The conversation up to an answer of this connection. `unknown`: the connection hasn't given it, or not as the latest of its stream.
   * `lost`: it had to be forgotten.
   */
  readonly conversationOf: (id: string) => readonly Uint8Array[] | 'unknown' | 'lost';
  /** A request has ended. `answer` is absent if there is nothing to continue; `continued`: the id of the answer that it continued. */
  readonly finished: (
    request: SocketRequest,
    answer: AnsweredConversation | undefined,
    continued: string | undefined,
  ) => void;
}

/**
 * One request of a WebSocket connection. For the endpoint it is the same request over HTTP, with the connection's headers; its answer's
 * records become messages.
 */
export class SocketRequest implements HttpRequest, RequestInfo, ActiveRequest, Observer<ReplyPart> {
  before: ActiveRequest | undefined;
  after: ActiveRequest | undefined;
  readonly id = requestId(undefined);
  readonly method = 'POST';
  readonly startedAtMs = Date.now();
  readonly backpressure = new Backpressure();
  readonly stream: string;
  readonly answerMemory: MemoryReservation;
  number = 0;
  body: Uint8Array = noBytes;
  namedClient: string | undefined;
  readonly #socket: RequestSocket;
  readonly #headers: Headers;
  readonly reservation: BodyReservation;
  /** For the answer's items, until the connection remembers them. */
  readonly #itemMemory: MemoryReservation;
  readonly #begunMs = performance.now();
  readonly #frames = new ReplyFrames((event, data) => this.#send(event, data));
  #ask: RequestMessage | undefined;
  /** The conversation before the answer; `undefined`: it isn't known as a whole. */
  #conversation: readonly Uint8Array[] | undefined;
  #answer: SocketAnswerReader | undefined;
  readonly #continues: string | undefined;
  #allHeaders: Headers | undefined;
  #interrupted: ((fault: Fault) => void) | undefined;
  #subscription: Subscription | undefined;
  #sentMs = 0;
  #status = 200;
  #begun = false;
  #done = false;

  constructor(socket: RequestSocket, ask: RequestMessage) {
    const { bodies, answers, settings } = socket.listener;
    this.stream = ask.stream;
    this.#socket = socket;
    this.#ask = ask;
    this.#headers = ask.headers;
    this.#continues = ask.continues;
    this.reservation = new BodyReservation(bodies.reserve(settings.limits.bodiesBytes));
    this.answerMemory = answers.reserve(settings.limits.answersBytes);
    this.#itemMemory = answers.reserve(settings.limits.answersBytes);
  }

  get path(): string {
    return this.#socket.handshake.path;
  }

  get query(): string {
    return this.#socket.handshake.query;
  }

  get remoteAddress(): string {
    return this.#socket.handshake.remoteAddress;
  }

  get connectionAddress(): string {
    return this.#socket.handshake.caller.remoteAddress;
  }

  get headers(): Headers {
    this.#allHeaders ??= { ...joinHeaders(this.#socket.handshake.caller.headers), ...this.#headers };
    return this.#allHeaders;
  }

  header(name: string): string | undefined {
    return this.#headers[name] ?? headerValue(this.#socket.handshake.caller.headers, name);
  }

  retainBody(use: BodyUse): void {
    this.reservation.countAs(use);
    if (use !== 'conversion') this.body = noBytes;
  }

  onInterrupted(handler: (fault: Fault) => void): void {
    this.#interrupted = handler;
  }

  /** Takes the memory for the message while the request waits; the fault if there is none. */
  reserve(message: Uint8Array): Fault | undefined {
    return this.reservation.complete(message)?.fault;
  }

  /** Starts the request. The checks are those of a request over HTTP, with the settings of this moment. */
  begin(): void {
    const ask = this.#ask;
    const { listener } = this.#socket;
    this.#ask = undefined;
    this.#begun = true;
    this.#sentMs = listener.ticker.nowMs();
    this.number = listener.add(this);
    listener.hooks.started?.(this);
    if (!ask) return;
    try {
      const refused = this.#admit() ?? this.#open(ask);
      if (refused) this.refuse(refused);
    } catch (error) {
      this.error(error);
    }
  }

  /** Ends the request with an error in place of an answer. */
  refuse(fault: Fault): void {
    if (!this.#done) this.#sendError(this.#formatted(fault));
  }

  /** Ends the request at once, with a fault in the client's own format. */
  interrupt(fault: Fault): void {
    if (this.#done) return;
    if (this.#interrupted) this.#interrupted(fault);
    else this.refuse(fault);
  }

  /** The connection is closed. */
  abort(): void {
    if (!this.#done) this.#finish(clientGone);
  }

  next(part: ReplyPart): void {
    if (this.#done) return;
    switch (part.type) {
      case 'head':
        this.#status = part.status;
        break;
      case 'data':
        if (part.records) this.#sendRecords(part.records);
        else if (typeof part.data !== 'string') this.#frames.take(part.data);
        this.#bridgeSilence();
        break;
      case 'whole':
        this.#whole(part);
        break;
      default:
        part satisfies never;
    }
  }

  error(error: unknown): void {
    if (this.#done) return;
    if (!(error instanceof FaultError)) this.#socket.listener.hooks.failed?.(error, this.id);
    this.refuse(faultOf(error));
  }

  complete(): void {
    if (!this.#done) this.#finish(this.#status);
  }

  /** Whether the client may send it; why not. */
  #admit(): Fault | undefined {
    const { listener, handshake } = this.#socket;
    const decision = listener.settings.admission.admit(handshake.caller, handshake.endpoint);
    if ('fault' in decision) {
      if (decision.keyRefusal) listener.hooks.keyRefused?.(decision.keyRefusal);
      return decision.fault;
    }
    this.namedClient = decision.namedClient;
    return listener.rejection(this.remoteAddress)?.fault;
  }

  #open(ask: RequestMessage): Fault | undefined {
    const { listener, handshake, protocol } = this.#socket;
    const known = ask.continues === undefined ? noItems : this.#socket.conversationOf(ask.continues);
    if (known === 'lost') return protocol.faults.connectionOver;
    if (known === 'unknown' && !ask.mayBeStored) return protocol.faults.unknownAnswer(ask.continues ?? '');
    const before = known === 'unknown' ? undefined : known;
    const body = ask.body(ask.continues === undefined ? undefined : before);
    const { decompressedBytes } = listener.settings.limits;
    if (body.length > decompressedBytes) return tooLong(decompressedBytes);
    const refused = this.reserve(body);
    if (refused) return refused;
    if (before && !ask.isStored) this.#conversation = [...before, ask.items()];
    this.#answer = protocol.readAnswer(
      (bytes) => this.#itemMemory.bytes + bytes <= decompressedBytes && this.#itemMemory.take(bytes) === undefined,
    );
    this.body = body;
    const parts = ask.isWarmUp ? undefined : handshake.endpoint.handle(this, handshake.params);
    if (parts) this.#run(parts);
    else {
      this.#sendRecords(protocol.answerWarmUp(body, randomHex(12), this.startedAtMs));
      this.#finish(200);
    }
    return undefined;
  }

  #run(parts: Observable<ReplyPart>): void {
    if (this.#socket.isBlocked) this.backpressure.pause();
    this.#subscription = parts.subscribe(this);
    // A synchronous answer is complete before `subscribe` returns.
    if (this.#done) this.#subscription.unsubscribe();
  }

  #whole(reply: WholeReply): void {
    if (reply.headers['content-type']?.startsWith('text/event-stream') !== true) {
      this.#sendError(reply);
      return;
    }
    this.#frames.take(typeof reply.body === 'string' ? Buffer.from(reply.body) : reply.body);
    this.#finish(reply.status);
  }

  #sendRecords(records: readonly SseRecord[]): void {
    // A provider's record that broke off before them is no message.
    this.#frames.drop();
    for (const { event, data } of records) this.#send(event, data);
  }

  #send(event: string, data: string | Buffer): void {
    const { protocol } = this.#socket;
    this.#answer?.read(event, data);
    this.#sentMs = this.#socket.listener.ticker.nowMs();
    this.#socket.send(protocol.inStream(data, this.stream));
  }

  /** Called with each keep-alive of the answer, of which only events are messages. */
  #bridgeSilence(): void {
    const { listener, protocol } = this.#socket;
    if (listener.ticker.nowMs() - this.#sentMs < silenceMs) return;
    this.#sentMs = listener.ticker.nowMs();
    this.#socket.send(protocol.inStream(protocol.keepAlive, this.stream));
  }

  #sendError({ status, headers, body }: WholeReply): void {
    const { 'content-type': _, ...shown } = headers;
    const parsed = parseJson(typeof body === 'string' ? body : new TextDecoder().decode(body));
    const error = { status, body: isJsonObject(parsed) ? parsed : {}, headers: { ...shown, 'x-request-id': this.id } };
    this.#socket.send(this.#socket.protocol.encodeError(error, this.stream));
    this.#answer = undefined;
    this.#finish(status);
  }

  #formatted(fault: Fault): WholeReply {
    const { status, body } = this.#socket.handshake.endpoint.formatFault(fault, this.id);
    return { type: 'whole', status, headers: fault.headers ?? {}, body: JSON.stringify(body) };
  }

  #finish(status: number): void {
    this.#done = true;
    this.#ask = undefined;
    this.#subscription?.unsubscribe();
    this.reservation.release();
    this.answerMemory.release();
    this.#itemMemory.release();
    const answer = this.#answer?.result();
    const conversation = answer &&
      this.#conversation && { id: answer.id, items: answer.items && [...this.#conversation, answer.items] };
    const { listener } = this.#socket;
    this.#socket.finished(this, conversation, this.#continues);
    if (!this.#begun) return;
    listener.release(this);
    const durationMs = Math.round(performance.now() - this.#begunMs);
    listener.hooks.finished?.(this, { status, durationMs, aborted: status === clientGone });
  }
}

const noItems: readonly Uint8Array[] = [];

const tooLong = (maxBytes: number): Fault => ({
  kind: 'too-large',
  message: `The conversation is larger than ${maxBytes} bytes. LIMITS.decompressedBytes in the configuration sets the limit.`,
});
