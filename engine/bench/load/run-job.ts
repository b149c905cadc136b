import { setTimeout as wait } from 'node:timers/promises';
import { askedModel, pathOf } from '../wire.ts';
import { AnswerCheck, type Arrived } from './check-answer.ts';
import { Connection, type Sink } from './connection.ts';
import { Conversation, RecordedRequest } from './conversation.ts';
import type { LoadJob, LoadResult, Rhythm } from './job.ts';
import { SocketConnection } from './socket-connection.ts';
import { spreadOf } from './spread.ts';

/** Does one job: all requests first, then the checks, so that checking costs nothing while others are measured. */
export const runJob = async (job: LoadJob): Promise<LoadResult> => {
  const run = new Run(job);
  const cpu = process.cpuUsage();
  const startedAt = performance.now();
  await run.go();
  const seconds = (performance.now() - startedAt) / 1e3;
  const { user, system } = process.cpuUsage(cpu);
  run.closeAll();
  return { ...run.result(), seconds, cpuMs: (user + system) / 1e3 };
};

/** The WebSocket connections without a request, by address: clients hold theirs from one job to the next. */
const resting = new Map<string, SocketConnection[]>();

type RhythmOf<T extends Rhythm['type']> = Extract<Rhythm, { readonly type: T }>;

class Run {
  readonly #job: LoadJob;
  readonly #conversation: Pick<Conversation, 'next'>;
  /** The lines of each request's head, or of a handshake's. */
  readonly #lines: readonly string[];
  readonly #host: string;
  readonly #port: number;
  readonly #isSecure: boolean;
  readonly #free: Connection[] = [];
  readonly #all = new Set<Connection>();
  readonly #resting: SocketConnection[];
  readonly #arrived: Arrived[] = [];
  readonly #broken: string[] = [];
  readonly #latenciesMs: number[] = [];
  readonly #firstByteMs: number[] = [];

  constructor(job: LoadJob) {
    this.#job = job;
    const { place, bodyBytes, streamed } = job;
    const { wire, model = askedModel, maxTokens = 4096, recorded } = place;
    this.#conversation = recorded
      ? new RecordedRequest(recorded.body)
      : new Conversation({ wire, streamed, bytes: bodyBytes, model, maxTokens });
    const { hostname, port, pathname, protocol, host } = new URL(place.baseUrl);
    this.#host = hostname;
    this.#isSecure = protocol === 'https:';
    this.#port = Number(port || (this.#isSecure ? 443 : 80));
    const { webSocket = false } = place;
    this.#lines = [
      `${webSocket ? 'GET' : 'POST'} ${pathname.replace(/\/$/, '')}${recorded?.path ?? pathOf(wire, streamed)} HTTP/1.1`,
      `host: ${host}`,
      ...(webSocket ? [] : ['content-type: application/json']),
      ...(wire === 'messages' ? ['anthropic-version: 2023-06-01'] : []),
      ...Object.entries(place.headers).map(([name, value]) => `${name}: ${value}`),
    ];
    this.#resting = resting.get(place.baseUrl) ?? [];
    if (webSocket) resting.set(place.baseUrl, this.#resting);
  }

  go(): Promise<unknown> {
    const { rhythm } = this.#job;
    if (rhythm.type === 'closed') return this.#closed(rhythm);
    return rhythm.type === 'open' ? this.#open(rhythm) : this.#burst(rhythm);
  }

  closeAll(): void {
    for (const connection of this.#all) connection.close();
  }

  result(): Omit<LoadResult, 'seconds' | 'cpuMs'> {
    const { place, streamed, text, check: checked } = this.#job;
    const check = new AnswerCheck(place.wire, streamed, checked === 'form' ? undefined : text);
    const faults = this.#arrived.map((arrived) => check.fault(arrived)).filter((fault) => fault !== undefined);
    const wrong = [...this.#broken, ...faults];
    return {
      good: this.#arrived.length - faults.length,
      bad: wrong.length,
      reasons: wrong.slice(0, 3),
      latency: spreadOf(this.#latenciesMs),
      firstByte: spreadOf(this.#firstByteMs),
      delay: text.stamped && checked === undefined ? spreadOf(check.delaysUs.map((us) => us / 1e3)) : undefined,
      firstToken: spreadOf(check.firstTokenMs.length > 0 ? check.firstTokenMs : this.#firstByteMs),
      betweenTokens: check.betweenTokensMs.length > 0 ? spreadOf(check.betweenTokensMs) : undefined,
    };
  }

  #closed({ clients, forMs, least = 1, most = Number.POSITIVE_INFINITY }: RhythmOf<'closed'>): Promise<unknown> {
    const startedAt = performance.now();
    let sent = 0;
    const isOver = (): boolean => {
      const spentMs = performance.now() - startedAt;
      return sent >= most || (sent > 0 && spentMs >= (sent < least ? forMs * 20 : forMs));
    };
    const client = (): Promise<void> =>
      new Promise((resolve) => {
        const next = (): void => {
          if (isOver()) {
            resolve();
            return;
          }
          sent += 1;
          this.#request(performance.now(), next);
        };
        next();
      });
    return Promise.all(Array.from({ length: clients }, client));
  }

  async #open({ perSecond, forMs }: RhythmOf<'open'>): Promise<void> {
    const startedAt = performance.now();
    const count = Math.round((perSecond * forMs) / 1e3);
    const answers: Promise<void>[] = [];
    for (let n = 0; n < count; n += 1) {
      const meantAt = startedAt + (n * 1e3) / perSecond;
      await reach(meantAt);
      answers.push(new Promise((resolve) => this.#request(meantAt, resolve)));
    }
    await Promise.all(answers);
  }

  async #burst({ streams, overMs }: RhythmOf<'burst'>): Promise<void> {
    const startedAt = performance.now();
    const answers: Promise<void>[] = [];
    for (let n = 0; n < streams; n += 1) {
      const meantAt = startedAt + (n * overMs) / streams;
      await reach(meantAt);
      answers.push(new Promise((resolve) => this.#request(meantAt, resolve)));
    }
    await Promise.all(answers);
  }

  #request(meantAt: number, done: () => void): void {
    const { pieces, bytes } = this.#conversation.next();
    const { streamed } = this.#job;
    const meantUs = nowUs() - (performance.now() - meantAt) * 1e3;
    const chunks: Buffer[] = [];
    const atUs: number[] = [];
    let status = 0;
    this.#send(pieces, bytes, {
      head: (code) => {
        status = code;
      },
      body: (chunk) => {
        if (chunks.length === 0) this.#firstByteMs.push(performance.now() - meantAt);
        if (streamed) atUs.push(nowUs());
        chunks.push(Buffer.from(chunk));
      },
      end: () => {
        this.#latenciesMs.push(performance.now() - meantAt);
        this.#arrived.push({ status, chunks, atUs, meantUs });
        done();
      },
      fail: (reason) => {
        this.#broken.push(reason);
        done();
      },
    });
  }

  #send(pieces: readonly Buffer[], bytes: number, sink: Sink): void {
    if (this.#job.place.webSocket) {
      const connection = this.#socketConnection();
      connection.send(pieces, {
        ...sink,
        end: () => {
          connection.rest();
          this.#resting.push(connection);
          sink.end();
        },
      });
      return;
    }
    const connection = this.#connection();
    const head = Buffer.from(`${this.#lines.join('\r\n')}\r\ncontent-length: ${bytes}\r\n\r\n`);
    connection.send([head, ...pieces], {
      ...sink,
      end: () => {
        this.#free.push(connection);
        sink.end();
      },
      fail: (reason) => {
        this.#all.delete(connection);
        sink.fail(reason);
      },
    });
  }

  #connection(): Connection {
    for (let free = this.#free.pop(); free; free = this.#free.pop()) if (!free.closed) return free;
    const connection = new Connection(this.#host, this.#port, this.#isSecure);
    this.#all.add(connection);
    return connection;
  }

  #socketConnection(): SocketConnection {
    for (let free = this.#resting.pop(); free; free = this.#resting.pop()) {
      if (free.closed) continue;
      free.wake();
      return free;
    }
    return new SocketConnection(this.#host, this.#port, this.#lines);
  }
}

/** Timers may fire a little early. */
const reach = async (atMs: number): Promise<void> => {
  for (let early = atMs - performance.now(); early > 0; early = atMs - performance.now()) await wait(Math.ceil(early));
};

/** The clock that the upstream's stamps are of. */
const nowUs = (): number => {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e6 + nanoseconds / 1e3;
};
