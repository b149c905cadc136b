import { deltaText } from '../corpus.ts';
import { Conversation } from '../load/conversation.ts';
import { decodeStream, decodeWhole } from '../load/decode-answer.ts';
import { closingRecords, streamRecords, wholeBody } from '../upstream/answers.ts';
import { wholeAnswer } from '../upstream/plan.ts';
import { askedModel, type ClientWire, pathOf, type Wire, wireAt } from '../wire.ts';
import type { SentRequest, SimulatedServer, TakenAnswer } from './simulated-server.ts';
import { type Call, type SimulatedUpstream, sendData, sendEnd, sendHead } from './simulated-upstream.ts';
import type { OwnCheck, OwnQuestion } from './start-own.ts';

/** Different bodies, which come again and again: at most so many, and so many bytes in all. */
const bodies = 64;
const bodiesBytes = 4_000_000;

/** Different deltas of a stream, which come again and again. */
const deltaWords = { deltas: 1_024, deltaChars: 8, stamped: false };

/** Clients and provider in one: each turn of the event loop answers what was asked and asks again. */
export class Traffic {
  readonly #client: ClientWire;
  readonly #upstream: Wire;
  readonly #server: SimulatedServer;
  readonly #provider: SimulatedUpstream;
  readonly #requestOf: (streamed: boolean, bytes: number) => SentRequest;
  /** Requests with whole answers, by the size of their bodies. */
  readonly #plain = new Map<number, readonly SentRequest[]>();
  readonly #streamed: SentRequest;
  readonly #whole: Buffer;
  readonly #stream: { readonly opening: Buffer; readonly deltas: readonly Buffer[] };
  #open: Call[] = [];
  /** Deltas that each open stream has had. */
  #had = 0;
  #kept: TakenAnswer | undefined;
  #isStream = false;
  #fault: string | undefined;
  #sent: unknown;

  constructor(
    { client, upstream }: { readonly client: ClientWire; readonly upstream: Wire },
    key: string,
    server: SimulatedServer,
    provider: SimulatedUpstream,
  ) {
    this.#client = client;
    this.#upstream = upstream;
    this.#server = server;
    this.#provider = provider;
    this.#requestOf = requestsOf(client, key);
    this.#streamed = this.#requestOf(true, 1_400);
    this.#whole = Buffer.from(wholeBody(upstream, wholeAnswer));
    const { opening, deltas } = streamRecords(upstream, deltaWords);
    this.#stream = { opening: Buffer.from(opening), deltas: deltas.map((delta) => Buffer.from(delta)) };
  }

  /** Resolves to the units that went through. */
  async run(question: Exclude<OwnQuestion, { readonly type: 'stop' }>): Promise<number> {
    switch (question.type) {
      case 'requests':
        return this.#requests(question);
      case 'open':
        return this.#opening(question.streams);
      case 'deltas':
        return this.#deltas(question.each);
      case 'close':
        return this.#close();
    }
  }

  /** What of the answer that was kept is wrong. */
  check(): OwnCheck | undefined {
    const fault = this.#fault ?? (this.#kept && this.#difference(this.#kept));
    const sent = this.#sent instanceof Uint8Array ? Buffer.from(this.#sent).toString() : String(this.#sent);
    return { ...(fault !== undefined && { fault }), sent };
  }

  #difference({ status, chunks }: TakenAnswer): string | undefined {
    const body = Buffer.concat(chunks);
    if (status !== 200) return `status ${status}: ${body.toString('utf8', 0, 200)}`;
    const { text, fault } = this.#isStream
      ? decodeStream(this.#client, body)
      : decodeWhole(this.#client, body.toString());
    const expected = this.#isStream ? this.#streamedText() : deltaText(0, wholeAnswer);
    return fault ?? (text === expected ? undefined : `the text of ${text.length} characters isn’t what was sent`);
  }

  /** What each open stream has had. */
  #streamedText(): string {
    return Array.from({ length: this.#had }, (_, at) => deltaText(at % deltaWords.deltas, deltaWords)).join('');
  }

  #ended(answer: TakenAnswer, keep: boolean): void {
    if (keep) this.#kept = answer;
    if (answer.status !== 200) this.#fault ??= `an answer has status ${answer.status}`;
  }

  #taken(): readonly Call[] {
    const calls = this.#provider.take();
    for (const { path, body } of calls) {
      this.#sent = body;
      if (wireAt(path.split('?', 1)[0] ?? '') !== this.#upstream) this.#fault ??= `the provider is asked at ${path}`;
    }
    return calls;
  }

  #plainOf(bytes: number): readonly SentRequest[] {
    const known = this.#plain.get(bytes);
    if (known) return known;
    const length = Math.min(bodies, Math.ceil(bodiesBytes / bytes));
    const made = Array.from({ length }, () => this.#requestOf(false, bytes));
    this.#plain.set(bytes, made);
    return made;
  }

  async #requests({ count, clients, bytes }: Extract<OwnQuestion, { readonly type: 'requests' }>): Promise<number> {
    this.#isStream = false;
    const plain = this.#plainOf(bytes);
    let [sent, done] = [0, 0];
    while (done < count) {
      for (const call of this.#taken()) {
        sendHead(call, wholeHead);
        sendData(call, this.#whole);
        sendEnd(call);
      }
      for (; sent < count && sent - done < clients; sent += 1) {
        const keep = sent === count - 1;
        this.#server.send(plain[sent % plain.length] ?? this.#streamed, keep, (answer) => {
          done += 1;
          this.#ended(answer, keep);
        });
      }
      await turn();
    }
    return done;
  }

  async #opening(streams: number): Promise<number> {
    this.#isStream = true;
    this.#kept = undefined;
    this.#had = 0;
    for (let sent = 0; sent < streams; sent += 1) {
      const keep = sent === 0;
      this.#server.send(this.#streamed, keep, (answer) => this.#ended(answer, keep));
    }
    while (this.#open.length < streams) {
      await turn();
      for (const call of this.#taken()) {
        sendHead(call, streamHead);
        if (this.#stream.opening.length > 0) sendData(call, this.#stream.opening);
        this.#open.push(call);
      }
    }
    return streams;
  }

  async #deltas(each: number): Promise<number> {
    const { deltas } = this.#stream;
    for (let at = 0; at < each; at += 1) {
      const delta = deltas[this.#had % deltas.length] ?? this.#whole;
      for (const call of this.#open) sendData(call, delta);
      this.#had += 1;
      await turn();
    }
    return each * this.#open.length;
  }

  async #close(): Promise<number> {
    const closed = this.#open;
    this.#open = [];
    const closing = Buffer.from(closingRecords(this.#upstream, this.#streamedText(), this.#had));
    for (const call of closed) {
      sendData(call, closing);
      sendEnd(call);
    }
    while (closed.length > 0 && !this.#kept) await turn();
    return closed.length;
  }
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

const requestsOf = (client: ClientWire, key: string): ((streamed: boolean, bytes: number) => SentRequest) => {
  const conversations = new Map<string, Conversation>();
  return (streamed, bytes) => {
    const name = `${streamed} ${bytes}`;
    const known = conversations.get(name);
    const conversation =
      known ?? new Conversation({ wire: client, streamed, bytes, model: askedModel, maxTokens: 4_096 });
    conversations.set(name, conversation);
    const body = Buffer.concat(conversation.next().pieces);
    const own =
      client === 'messages'
        ? ['x-api-key', key, 'anthropic-version', '2023-06-01']
        : ['authorization', `Bearer ${key}`];
    const headers = [
      'host',
      '127.0.0.1:3456',
      'content-type',
      'application/json',
      ...own,
      'content-length',
      String(body.length),
    ];
    return { path: pathOf(client, streamed), headers, body };
  };
};

const headOf = (type: string): readonly Buffer[] =>
  [
    ['content-type', type],
    ['date', 'Sat, 28 Nov 2026 07:00:00 GMT'],
    ['connection', 'keep-alive'],
    ['keep-alive', 'timeout=60'],
  ]
    .flat()
    .map((text) => Buffer.from(text));

const wholeHead = headOf('application/json');
const streamHead = headOf('text/event-stream; charset=utf-8');
