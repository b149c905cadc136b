import { map, Observable, of, type Subscriber, type Subscription } from 'rxjs';
import { errors } from 'undici';
import { errorCode, FaultError } from '../../model/fault.ts';
import type { Headers } from '../../model/protocol.ts';
import { bytesOf, lengthOf } from '../../model/wire/sse.ts';
import type { FramedRecord, FramedRecords } from '../../model/wire/sse-record.ts';
import type {
  SocketChain,
  SocketReading,
  UpstreamAnswerReader,
  UpstreamRequest,
} from '../../model/wire/upstream-socket.ts';
import type { Pausable } from '../../runtime/backpressure.ts';
import type { SteadyClock } from '../../runtime/steady-clock.ts';
import { readingTurns } from '../call-handler.ts';
import { asleepFault, callFault, callTimeout, deadFault, firstByteTimeout } from '../faults.ts';
import type { CallSocket, CallTimeouts, UpstreamAnswer, UpstreamCall } from '../upstreams.ts';
import type { HandshakeAnswer } from './open-web-socket.ts';
import { aliveMs, type SocketConnection, type SocketUser } from './socket-connection.ts';

/** How often a connection is looked at, in milliseconds: a silent one is pinged. */
const lookMs = 5_000;

/** What a call over a WebSocket needs. */
interface SocketCallParts {
  readonly call: UpstreamCall;
  readonly ask: UpstreamRequest;
  readonly limits: CallTimeouts;
  readonly clock: SteadyClock;
  readonly subscriber: Subscriber<UpstreamAnswer>;
  /** The same call over HTTP. */
  readonly overHttp: () => Observable<UpstreamAnswer>;
  /** Takes back the connection. */
  readonly released: (connection: SocketConnection, chain: SocketChain | undefined) => void;
  /** The upstream took the upgrade but doesn't serve it. */
  readonly refused: () => void;
}

/**
 * One response over a WebSocket, as the answer that HTTP would bring: its messages are the records of a stream. What fails
 * before the first event is made over HTTP instead, unless the failure is an answer.
 */
export class SocketCall implements SocketUser, Pausable {
  /** `undefined` once the response has begun: it isn't made again then. */
  #parts: SocketCallParts | undefined;
  readonly #host: string;
  readonly #limits: CallTimeouts;
  readonly #clock: SteadyClock;
  readonly #backpressure: UpstreamCall['backpressure'];
  readonly #subscriber: Subscriber<UpstreamAnswer>;
  readonly #released: SocketCallParts['released'];
  readonly #incomplete: CallSocket['incomplete'] | undefined;
  #answer: UpstreamAnswerReader | undefined;
  #connection: SocketConnection | undefined;
  #reader: Subscriber<FramedRecords> | undefined;
  /** Records that the reader hasn't got yet: those of one network chunk, or those before it has subscribed. */
  #records: FramedRecord[] = [];
  #isFlushDue = false;
  #readAtMs = 0;
  /** When the machine had slept; `undefined`: it hasn't. */
  #wokeMs: number | undefined;
  #paused = false;
  #done = false;
  #failure: Error | undefined;
  #http: Subscription | undefined;
  #stopSilence = nothing;
  #stopCall = nothing;
  #stopWatch = nothing;

  constructor(parts: SocketCallParts) {
    this.#parts = parts;
    this.#host = parts.call.url.host;
    this.#limits = parts.limits;
    this.#clock = parts.clock;
    this.#backpressure = parts.call.backpressure;
    this.#incomplete = parts.call.socket?.incomplete;
    this.#subscriber = parts.subscriber;
    this.#released = parts.released;
  }

  /** Sends the request: as `continuation`, if the connection has seen the rest. */
  start(connection: SocketConnection, continuation?: string): void {
    const { firstByteMs, callMs } = this.#limits;
    const parts = this.#parts;
    if (!parts) return;
    this.#connection = connection;
    this.#answer = parts.ask.answerReader(continuation !== undefined);
    connection.chain = undefined;
    connection.send(continuation ?? parts.ask.message(), this);
    this.#watch(connection);
    this.#stopSilence = this.#clock.after(firstByteMs, () => this.#fail(firstByteTimeout(this.#host, firstByteMs)));
    if (callMs > 0) this.#stopCall = this.#clock.after(callMs, () => this.#fail(callTimeout(this.#host, callMs)));
  }

  /** Pings a silent connection. Gives up a dead one; if the response hasn't begun, the request is made over HTTP. */
  #watch(connection: SocketConnection): void {
    this.#stopWatch = this.#clock.after(lookMs, () => {
      // A paused connection can't show whether it is alive.
      if (this.#paused) connection.moved();
      if (!connection.isDead) {
        if (connection.silentMs >= lookMs) connection.ping();
        this.#watch(connection);
      } else if (this.#parts) this.#replace();
      else if (connection.movedMs === this.#wokeMs) this.#fail(asleepFault(this.#host));
      else this.#fail(deadFault(this.#host, aliveMs));
    });
  }

  /** Makes the call over HTTP. */
  goOverHttp(): void {
    const parts = this.#parts;
    if (this.#done || !parts) return;
    this.#settle();
    this.#http = parts.overHttp().subscribe(this.#subscriber);
  }

  /** The upgrade was answered with a refusal that HTTP would meet too. */
  answer(answer: HandshakeAnswer): void {
    if (this.#done) return;
    this.#settle();
    this.#subscriber.next({ ...answer, body: of(answer.body), drain: nothing });
    this.#subscriber.complete();
  }

  /** Ends the call with an error. */
  readonly fail = (error: Error): void => this.#fail(error);

  /** Gives the call up, at any stage. */
  abandon(): void {
    this.#http?.unsubscribe();
    if (this.#done) return;
    const connection = this.#connection;
    this.#failure = new Error('The body of an upstream answer was subscribed after its call had been given up.');
    this.#settle();
    connection?.terminate();
    this.#subscriber.complete();
  }

  onMessage(message: Buffer, isBinary: boolean): void {
    if (this.#done) return;
    this.#incomplete?.(0);
    this.#take(isBinary ? garbled : (this.#answer?.read(message) ?? garbled));
  }

  onIncomplete(bytes: number): void {
    const fault = this.#done ? undefined : this.#incomplete?.(bytes);
    // Over HTTP, it would need as much.
    if (fault) this.#fail(fault);
  }

  onLost(error?: Error): void {
    if (this.#done) return;
    const code = error && errorCode(error);
    if (code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') this.#fail(tooLargeFault(this.#host));
    else if (code?.startsWith('WS_ERR_')) this.#lose(garbledFault(this.#host));
    else this.#lose(callFault(this.#host, new errors.SocketError('other side closed'), 0));
  }

  onWake(): void {
    const connection = this.#connection;
    if (!connection) return;
    this.#wokeMs = connection.movedMs;
    this.#readAtMs = this.#clock.nowMs();
    connection.ping();
    this.#stopWatch();
    this.#watch(connection);
  }

  pause(): void {
    if (this.#done) return;
    this.#paused = true;
    this.#connection?.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    queueMicrotask(() => {
      if (this.#done || this.#reader === undefined || this.#backpressure.paused) return;
      this.#paused = false;
      this.#readAtMs = this.#clock.nowMs();
      this.#connection?.resume();
    });
  }

  #take(read: SocketReading): void {
    switch (read.type) {
      case 'notice':
        this.#records.push(read);
        break;
      case 'event':
        this.#add(read);
        break;
      case 'end':
        this.#add(read);
        this.#end(read.chain);
        break;
      case 'broken':
        this.#add(read);
        this.#end('broken');
        break;
      case 'refusal':
        this.#refuse(read);
        break;
      case 'again':
        this.#replace();
        break;
      case 'garbled':
        this.#lose(garbledFault(this.#host));
        break;
      default:
        read satisfies never;
    }
  }

  #add(event: FramedRecord): void {
    this.#records.push(event);
    if (this.#parts) this.#begin();
    this.#dueFlush();
  }

  #begin(): void {
    const { idleMs } = this.#limits;
    this.#parts = undefined;
    this.#stopSilence();
    if (idleMs > 0) this.#stopSilence = this.#clock.after(idleMs, () => this.#checkSilence(idleMs));
    this.#backpressure.attach(this);
    const records = new Observable<FramedRecords>((reader) => this.#open(reader));
    const body = records.pipe(map(bytesOf));
    this.#subscriber.next({ status: 200, headers: streamHeaders, body, records, drain: nothing });
    if (this.#reader === undefined || this.#backpressure.paused) this.pause();
  }

  #checkSilence(idleMs: number): void {
    if (this.#paused) this.#readAtMs = this.#clock.nowMs();
    const leftMs = idleMs - (this.#clock.nowMs() - this.#readAtMs);
    if (leftMs <= 0) this.#fail(callFault(this.#host, new errors.BodyTimeoutError(), idleMs));
    else this.#stopSilence = this.#clock.after(leftMs, () => this.#checkSilence(idleMs));
  }

  #open(reader: Subscriber<FramedRecords>): (() => void) | undefined {
    if (this.#failure || this.#reader) {
      reader.error(this.#failure ?? new Error('The body of an upstream answer was subscribed twice.'));
      return undefined;
    }
    this.#reader = reader;
    this.#dueFlush();
    this.resume();
    return () => this.abandon();
  }

  /** In a microtask: the messages of one network chunk come one by one, and their records are one emission. */
  #dueFlush(): void {
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    queueMicrotask(() => {
      this.#isFlushDue = false;
      this.#flush();
    });
  }

  #flush(): void {
    const reader = this.#reader;
    this.#readAtMs = this.#clock.nowMs();
    if (!reader) return;
    if (this.#records.length > 0) {
      const chunk = { records: this.#records };
      this.#records = [];
      reader.next(chunk);
      if (!this.#done && !this.#paused) readingTurns.brought(this, lengthOf(chunk));
    }
    if (!this.#done) return;
    if (this.#failure) reader.error(this.#failure);
    else reader.complete();
    this.#subscriber.complete();
  }

  /** The response is complete. A connection with a broken one isn't used again. */
  #end(chain: SocketChain | 'broken' | undefined): void {
    const connection = this.#connection;
    this.#settle();
    if (!connection) return;
    if (chain === 'broken') connection.terminate();
    else this.#released(connection, chain);
  }

  /** The vendor answers with an error in place of a response. */
  #refuse({ status, headers, body }: Extract<SocketReading, { type: 'refusal' }>): void {
    this.#end(status < 500 && status !== 401 ? undefined : 'broken');
    this.#subscriber.next({
      status,
      headers: { ...headers, ...refusalHeaders },
      body: of(Buffer.from(body)),
      drain: nothing,
    });
    this.#subscriber.complete();
  }

  /** What was asked for is asked for again over HTTP, as a whole. */
  #replace(): void {
    const connection = this.#connection;
    this.goOverHttp();
    connection?.terminate();
  }

  /** The connection broke, or brought what can't be read. */
  #lose(fault: Error): void {
    const connection = this.#connection;
    if (!this.#parts) {
      this.#fail(fault);
      return;
    }
    if (connection?.reused === false) this.#parts.refused();
    this.#replace();
  }

  #fail(failure: Error): void {
    if (this.#done) return;
    const connection = this.#connection;
    const hasBegun = this.#parts === undefined;
    this.#failure = failure;
    this.#settle();
    connection?.terminate();
    if (hasBegun) this.#dueFlush();
    else this.#subscriber.error(failure);
  }

  #settle(): void {
    this.#done = true;
    this.#parts = undefined;
    this.#connection = undefined;
    this.#stopSilence();
    this.#stopCall();
    this.#stopWatch();
    this.#incomplete?.(0);
    this.#backpressure.detach(this);
  }
}

const nothing = (): void => {};

const garbled: SocketReading = { type: 'garbled' };

/** `upgrade` shows in captures how the answer came. */
const streamHeaders: Headers = { 'content-type': 'text/event-stream; charset=utf-8', upgrade: 'websocket' };

const refusalHeaders: Headers = { 'content-type': 'application/json', upgrade: 'websocket' };

const garbledFault = (host: string): FaultError =>
  new FaultError({
    kind: 'upstream-garbled',
    message: `The upstream ${host} sent a message over WebSocket that isn't an event.`,
  });

const tooLargeFault = (host: string): FaultError =>
  new FaultError({
    kind: 'upstream-garbled',
    message: `The upstream ${host} sent a message over WebSocket that is larger than LIMITS.decompressedReplyBytes in the configuration allows.`,
  });
