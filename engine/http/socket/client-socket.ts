import { Buffer } from 'node:buffer';
import type { Fault } from '../../model/fault.ts';
import type { RequestMessage, SocketProtocol } from '../../model/wire/socket-protocol.ts';
import type { MemoryReservation } from '../../runtime/memory-budget.ts';
import type { Conversation } from '../conversations.ts';
import { bodiesExhausted } from '../read-body.ts';
import type { OpenSocket, ServingListener } from '../settings.ts';
import type { MessageEvents, MessageStream } from '../stream.ts';
import type { TickListener } from '../ticker.ts';
import { type AnsweredConversation, type Handshake, SocketRequest } from './socket-request.ts';

/** Requests of one stream are answered one after the other. */
interface Stream {
  running: SocketRequest | undefined;
  /** Its latest answer's, which a request of any stream may continue. */
  conversation: Conversation | undefined;
}

/** Milliseconds without a message of the client after which it is pinged. */
const pingMs = 25_000;

/** A client from which nothing comes for this long, though it is pinged, is gone, in milliseconds. One that doesn't read has longer. */
const goneMs = 120_000;

/**
 * Bytes per second at which a large message arrives at least where the server can't see it: pings are only answered behind it. A
 * connection that is silent for as long as the largest message takes is gone.
 */
const unseenBytesPerSecond = 16 * 1024;

/** How long a ping may be unanswered before a message counts as under way where the server can't tell, in milliseconds. */
const answerMs = 10_000;

/** Bytes of messages under way that don't count. */
const uncountedBytes = 64 * 1024;

/** Bytes of answers to its pings that a client may leave unread. */
const maxPongBytes = 64 * 1024;

/** Bytes of a frame beside its content. */
const frameBytes = 2;

/** A client is full until this many bytes are left to send. */
const fewBytes = 64 * 1024;

/** Errors that a client may cause without reading any; then it is disconnected. */
const maxUnread = 100;

/** Codes of a close frame. Source: RFC 6455, section 7.4.1; IANA, "WebSocket Close Code Number Registry". */
const closeCodes = { goingAway: 1001, policy: 1008, tooLarge: 1009, restart: 1012, tryLater: 1013 } as const;

/**
 * One WebSocket connection of a client: its streams of requests, what it remembers of their conversations, and its end. An answer's messages
 * of one event loop tick are sent in one cork. A slow client pauses the upstreams of all its answers, and starts none.
 */
export class ClientSocket implements MessageEvents, OpenSocket, TickListener {
  before: TickListener | undefined;
  after: TickListener | undefined;
  readonly listener: ServingListener;
  readonly handshake: Handshake;
  readonly protocol: SocketProtocol;
  readonly #stream: MessageStream;
  readonly #endsAtMs: number;
  #streams: Map<string, Stream> | undefined;
  readonly #running = new Set<SocketRequest>();
  /** In the order in which they came. */
  #waiting: SocketRequest[] = [];
  /** Messages of this event loop tick, not yet sent. */
  #due: (string | Uint8Array)[] | undefined;
  /** When the client was heard last, and when it was pinged last. */
  #aliveMs: number;
  #pingedMs: number;
  #blockedFromMs: number | undefined;
  /** Bytes that came in this window, by which a slow message is told from a dead connection. */
  #windowFromMs: number;
  #windowBytes = 0;
  /** Bytes that came since the last message. */
  #underWayBytes = 0;
  /** When they came fast enough last. */
  #movedMs = 0;
  /** Memory for them. */
  #underWay: MemoryReservation | undefined;
  /** Memory for bytes that may be in flight unseen. */
  #unseen: MemoryReservation | undefined;
  /** Bytes of answers to pings since the client had read everything. */
  #pongBytes = 0;
  /** Errors since the client's socket became full. */
  #unread = 0;
  /** Why it takes no more requests. */
  #over: 'lifetime' | 'lost' | 'restart' | undefined;
  #closed = false;

  /** `lifetimeMs` is of the ticker's clock. */
  constructor(
    listener: ServingListener,
    handshake: Handshake,
    protocol: SocketProtocol,
    stream: MessageStream,
    lifetimeMs = protocol.limits.lifetimeMs * (1 - Math.random() / 10),
  ) {
    this.listener = listener;
    this.handshake = handshake;
    this.protocol = protocol;
    this.#stream = stream;
    const nowMs = listener.ticker.nowMs();
    this.#aliveMs = nowMs;
    this.#pingedMs = nowMs;
    this.#windowFromMs = nowMs;
    this.#endsAtMs = nowMs + lifetimeMs;
    listener.ticker.add(this);
  }

  get isBlocked(): boolean {
    return this.#blockedFromMs !== undefined;
  }

  get connectionAddress(): string {
    return this.handshake.caller.remoteAddress;
  }

  /** The bytes are valid during the call alone. */
  message(bytes: Uint8Array, isBinary: boolean): void {
    if (this.#closed) return;
    const { bodyBytes } = this.listener.settings.limits;
    const { faults } = this.protocol;
    this.alive();
    this.#underWayBytes = 0;
    this.#underWay?.set(0);
    if (bytes.length > bodyBytes) {
      this.#refuse(tooLarge(bodyBytes));
      this.#close(closeCodes.tooLarge, 'message too large');
    } else if (isBinary) this.#refuse(faults.binary);
    else {
      const copy = Buffer.from(bytes);
      const read = this.protocol.read(copy);
      if (read.type === 'refused') this.#refuse(read.fault, read.stream);
      else if (read.type === 'ask') this.#take(read, copy);
    }
  }

  received(bytes: number): void {
    const wasCounted = this.#isCounted;
    this.#windowBytes += bytes;
    this.#underWayBytes = Math.max(0, this.#underWayBytes + bytes);
    if (!this.#isCounted) return;
    if (this.#closed) {
      // It was told, but sends on.
      this.#stream.terminate();
      return;
    }
    if (!wasCounted) this.#movedMs = this.listener.ticker.nowMs();
    const { bodies, settings } = this.listener;
    this.#underWay ??= bodies.reserve(settings.limits.bodiesBytes);
    if (this.#underWay.take(this.#underWayBytes - this.#underWay.bytes) === undefined) return;
    this.#refuse(bodiesExhausted);
    this.#close(closeCodes.tryLater, 'no memory for the message');
  }

  alive(): void {
    this.#aliveMs = this.listener.ticker.nowMs();
    this.#unseen?.set(0);
  }

  pinged(bytes: number): void {
    if (this.#closed) return;
    this.alive();
    const unread = this.#stream.bufferedBytes();
    if (unread === 0) this.#pongBytes = 0;
    this.#pongBytes += bytes + frameBytes;
    if (unread > 0 && this.#pongBytes > maxPongBytes) this.#stream.terminate();
  }

  writable(): void {
    if (this.#closed || !this.isBlocked || this.#stream.bufferedBytes() > fewBytes) return;
    this.#blockedFromMs = undefined;
    this.#unread = 0;
    this.alive();
    for (const request of this.#running) request.backpressure.resume();
    this.#startNext();
  }

  closed(): void {
    if (this.#closed) return;
    this.#end();
    for (const request of [...this.#waiting.splice(0), ...this.#running]) request.abort();
    for (const { conversation } of this.#streams?.values() ?? []) {
      if (conversation) this.listener.conversations.forget(conversation);
    }
  }

  tick(nowMs: number): void {
    if (this.#blockedFromMs !== undefined && nowMs - this.#blockedFromMs > this.listener.settings.limits.stallMs) {
      this.#stream.terminate();
      return;
    }
    this.#countWindow(nowMs);
    if (this.#isGone(nowMs)) {
      this.#stream.terminate();
      return;
    }
    if (nowMs - this.#aliveMs >= pingMs && nowMs - this.#pingedMs >= pingMs) {
      this.#pingedMs = nowMs;
      this.#stream.ping();
    }
    if (nowMs >= this.#endsAtMs) this.#finishBy('lifetime');
  }

  retire(): void {
    this.#finishBy('restart');
  }

  interrupt(fault: Fault): void {
    for (const request of this.#waiting.splice(0)) request.refuse(fault);
  }

  send(message: string | Uint8Array): void {
    if (this.#closed) return;
    // One read of an upstream's socket can yield many messages; batching them saves system calls.
    if (this.#due) this.#due.push(message);
    else {
      this.#due = [message];
      process.nextTick(ClientSocket.#sendDue, this);
    }
  }

  conversationOf(id: string): readonly Uint8Array[] | 'unknown' | 'lost' {
    for (const { conversation } of this.#streams?.values() ?? []) {
      if (conversation?.id !== id) continue;
      const items = this.listener.conversations.use(conversation);
      if (items) return items;
      this.#over ??= 'lost';
      return 'lost';
    }
    return 'unknown';
  }

  finished(request: SocketRequest, answer: AnsweredConversation | undefined, continued: string | undefined): void {
    if (!this.#running.delete(request)) return;
    const stream = this.#streams?.get(request.stream);
    if (stream) {
      stream.running = undefined;
      this.#remember(stream, answer, continued);
    }
    if (this.#closed) return;
    this.#startNext();
    this.#closeIfOver();
  }

  /** Bytes that come fast enough are a sign of life, as those of a body over HTTP. */
  #countWindow(nowMs: number): void {
    const { bodyWindowMs, bodyBytesPerSecond } = this.listener.settings.limits;
    const spentMs = nowMs - this.#windowFromMs;
    if (spentMs < bodyWindowMs) return;
    if (this.#windowBytes * 1000 >= bodyBytesPerSecond * spentMs) {
      this.#aliveMs = nowMs;
      this.#movedMs = nowMs;
    }
    this.#windowFromMs = nowMs;
    this.#windowBytes = 0;
  }

  /**
   * Whether nothing comes any more, or no more of a message, whatever pings are answered. A client that is answered reads pings, unless its
   * socket is full.
   */
  #isGone(nowMs: number): boolean {
    if (this.#isCounted && nowMs - this.#movedMs > goneMs) return true;
    const silentMs = nowMs - this.#aliveMs;
    const { bodyBytes, bodiesBytes } = this.listener.settings.limits;
    if (!this.#isIdle) return !this.isBlocked && silentMs > goneMs;
    if (this.#stream.countsBytes) return silentMs > goneMs;
    if (silentMs > Math.max(goneMs, (bodyBytes / unseenBytesPerSecond) * 1000)) return true;
    if (silentMs < pingMs + answerMs || this.#unseen?.bytes) return false;
    this.#unseen ??= this.listener.unseen.reserve(bodiesBytes);
    return this.#unseen.take(bodyBytes) !== undefined;
  }

  /** Whether so much of a message is under way that it counts. */
  get #isCounted(): boolean {
    return this.#underWayBytes > uncountedBytes;
  }

  get #isIdle(): boolean {
    return this.#running.size === 0 && this.#waiting.length === 0;
  }

  #remember(stream: Stream, answer: AnsweredConversation | undefined, continued: string | undefined): void {
    const { conversations, settings } = this.listener;
    const { conversation } = stream;
    // After a failure, what it continued is gone, too; an answer that another stream gave stays.
    if (conversation && (answer || conversation.id === continued)) {
      conversations.forget(conversation);
      stream.conversation = undefined;
    }
    if (answer && !this.#closed) stream.conversation = conversations.keep(answer.id, answer.items, settings.limits);
  }

  #take(ask: RequestMessage, message: Buffer): void {
    const { faults, limits } = this.protocol;
    if (this.#over) this.#refuse(faults.connectionOver, ask.stream);
    else if (this.#waiting.length >= limits.waiting) this.#refuse(faults.tooManyWaiting, ask.stream);
    else if (!this.#streamOf(ask.stream)) this.#refuse(faults.tooManyStreams, ask.stream);
    else {
      const request = new SocketRequest(this, ask);
      const refused = request.reserve(message);
      if (refused) request.refuse(refused);
      else {
        this.#waiting.push(request);
        this.#startNext();
      }
    }
  }

  #streamOf(name: string): Stream | undefined {
    this.#streams ??= new Map<string, Stream>([['', { running: undefined, conversation: undefined }]]);
    const known = this.#streams.get(name);
    if (known) return known;
    // The default stream has no name.
    if (this.#streams.size > this.protocol.limits.streams) return undefined;
    const stream: Stream = { running: undefined, conversation: undefined };
    this.#streams.set(name, stream);
    return stream;
  }

  /** Starts those that wait and may run: the first of each free stream. */
  #startNext(): void {
    for (let at = 0; at < this.#waiting.length && !this.isBlocked; ) {
      if (this.#running.size >= this.protocol.limits.answers) return;
      const request = this.#waiting[at];
      const stream = request && this.#streamOf(request.stream);
      if (!request || !stream || stream.running) {
        at += 1;
        continue;
      }
      this.#waiting.splice(at, 1);
      stream.running = request;
      this.#running.add(request);
      // May end at once, and start others.
      request.begin();
      at = 0;
    }
  }

  /** An error that no request is behind. */
  #refuse(fault: Fault, stream = ''): void {
    if (this.isBlocked) {
      this.#unread += 1;
      if (this.#unread > maxUnread) {
        this.#close(closeCodes.policy, 'unread errors');
        return;
      }
    }
    const { status, body } = this.handshake.endpoint.formatFault(fault, '');
    this.send(this.protocol.encodeError({ status, body, headers: fault.headers ?? {} }, stream));
  }

  static #sendDue(socket: ClientSocket): void {
    const due = socket.#due;
    socket.#due = undefined;
    if (!due || socket.#closed) return;
    const stream = socket.#stream;
    const [only] = due;
    let hasRoom = true;
    if (due.length === 1 && only !== undefined) hasRoom = stream.send(only);
    else {
      stream.cork(() => {
        for (const message of due) hasRoom = stream.send(message) && hasRoom;
      });
    }
    if (!hasRoom) socket.#block();
  }

  #block(): void {
    if (this.isBlocked || this.#closed) return;
    this.#blockedFromMs = this.listener.ticker.nowMs();
    for (const request of this.#running) request.backpressure.pause();
  }

  #finishBy(why: 'lifetime' | 'restart'): void {
    this.#over = why === 'restart' ? why : (this.#over ?? why);
    this.#closeIfOver();
  }

  #closeIfOver(): void {
    if (!this.#over || !this.#isIdle || this.#closed) return;
    // The client of a lost conversation has got the error already.
    if (this.#over === 'lifetime') this.#refuse(this.protocol.faults.connectionOver);
    this.#close(this.#over === 'restart' ? closeCodes.restart : closeCodes.goingAway, this.#over);
  }

  /** Sends what is due, then a close frame. */
  #close(code: number, reason: string): void {
    if (this.#closed) return;
    ClientSocket.#sendDue(this);
    this.#stream.close(code, reason);
    this.closed();
  }

  #end(): void {
    this.#closed = true;
    this.#due = undefined;
    this.#underWayBytes = 0;
    this.#underWay?.release();
    this.#unseen?.release();
    this.listener.ticker.delete(this);
    this.listener.closedSocket(this);
  }
}

const tooLarge = (maxBytes: number): Fault => ({
  kind: 'too-large',
  message: `The message is larger than ${maxBytes} bytes. LIMITS.bodyBytes in the configuration sets the limit.`,
});
