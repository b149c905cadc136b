import { StringDecoder } from 'node:string_decoder';
import type { Dispatcher } from 'undici';
import { listen, type Outgoing } from '../listen.ts';
import { answerQuestions } from '../rpc.ts';
import { Clients } from './clients.ts';
import type { Conversion, StreamConversion } from './convert/conversion.ts';
import { conversions } from './convert/index.ts';
import { socketRelay } from './socket-relay.ts';
import { spinFor } from './spin.ts';

/**
 * The floors: the gateway's HTTP server in front, undici behind, nothing between them but, where a pair is named, its hand-written
 * conversion, over HTTP and, with uWebSockets.js, over WebSocket. Arguments: the upstream's address; the pair, or nothing; for how
 * many microseconds of processor time it computes in each request, half before the call and half after it.
 */
const [, , upstream = '', pair = '', spinUs = '0'] = process.argv;
const conversion = conversions.get(pair);
const clients = new Clients(upstream);
const halfSpin = spinFor(Number(spinUs) / 2);

/** What goes to the client, one write for each chunk that comes. */
interface Outlet {
  readonly chunk: (chunk: Buffer) => Buffer | string;
  readonly end: () => string;
}

const bytes: Outlet = { chunk: (chunk) => chunk, end: () => '' };

const whole = ({ reply }: Conversion): Outlet => {
  const chunks: Buffer[] = [];
  return {
    chunk(chunk) {
      chunks.push(chunk);
      return '';
    },
    end: () => JSON.stringify(reply(Buffer.concat(chunks).toString())),
  };
};

const converted = ({ record, end }: StreamConversion): Outlet => {
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return {
    chunk(chunk) {
      const text = rest + decoder.write(chunk);
      let out = '';
      let from = 0;
      for (let to = text.indexOf('\n', from); to >= 0; to = text.indexOf('\n', from)) {
        if (text.startsWith('data: {', from)) out += record(text.slice(from + 6, to));
        from = to + 1;
      }
      rest = text.slice(from);
      return out;
    },
    end,
  };
};

class Forward implements Dispatcher.DispatchHandler {
  readonly #out: Outgoing;
  readonly #streamed: boolean;
  readonly #done: () => void;
  #outlet: Outlet = bytes;
  #controller: Dispatcher.DispatchController | undefined;

  constructor(out: Outgoing, streamed: boolean, done: () => void) {
    this.#out = out;
    this.#streamed = streamed;
    this.#done = done;
    out.onGone(() => this.#controller?.abort(new Error('the client left')));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (conversion) this.#outlet = this.#streamed ? converted(conversion.stream()) : whole(conversion);
    if (!this.#out.isOver) this.#out.together(() => this.#out.head(status, String(headers['content-type'])));
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#out.isOver) return;
    const data = this.#outlet.chunk(chunk);
    if (data.length === 0) return;
    this.#out.together(() => {
      if (this.#out.write(data)) return;
      controller.pause();
      this.#out.onWritable(() => controller.resume());
    });
  }

  onResponseEnd(): void {
    halfSpin();
    this.#done();
    if (!this.#out.isOver) this.#out.together(() => this.#out.end(this.#outlet.end()));
  }

  onResponseError(): void {
    this.#done();
    if (!this.#out.isOver) this.#out.close();
  }
}

const headers = { 'content-type': 'application/json', authorization: 'Bearer bench' };

const port = listen(
  (path, body, out) => {
    halfSpin();
    const converted = conversion?.request(body.toString());
    const client = clients.take();
    client.dispatch(
      {
        method: 'POST',
        path: converted?.path ?? path,
        headers,
        body: converted ? JSON.stringify(converted.body) : body,
      },
      new Forward(out, converted?.streamed ?? true, () => clients.give(client)),
    );
  },
  socketRelay(clients, conversion),
);

answerQuestions<object, { readonly port: number }>(async () => ({ port: await port }));
