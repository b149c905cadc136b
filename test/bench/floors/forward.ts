import { StringDecoder } from 'node:string_decoder';
import { type Dispatcher, Pool } from 'undici';
import { loadUws, type UwsResponse } from '../../../engine/http/uws/uws.ts';
import { answerQuestions } from '../rpc.ts';
import type { Conversion, StreamConversion } from './convert/conversion.ts';
import { conversions } from './convert/index.ts';
import { socketRelay } from './socket-relay.ts';

/**
 * The floors: uWebSockets.js in front, undici behind, nothing between them but, where a pair is named, its hand-written
 * conversion, over HTTP and over WebSocket. Arguments: the upstream's address; the pair, or nothing.
 */
const [, , upstream = '', pair = ''] = process.argv;
const conversion = conversions.get(pair);
const pool = new Pool(upstream, { pipelining: 1 });

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
  readonly #res: UwsResponse;
  readonly #streamed: boolean;
  #outlet: Outlet = bytes;
  #gone = false;
  #controller: Dispatcher.DispatchController | undefined;

  constructor(res: UwsResponse, streamed: boolean) {
    this.#res = res;
    this.#streamed = streamed;
    res.onAborted(() => {
      this.#gone = true;
      this.#controller?.abort(new Error('the client left'));
    });
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
    this.#res.cork(() => {
      if (status !== 200) this.#res.writeStatus(String(status));
      this.#res.writeHeader('content-type', String(headers['content-type']));
    });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#gone) return;
    const out = this.#outlet.chunk(chunk);
    if (out.length === 0) return;
    this.#res.cork(() => {
      if (this.#res.write(out)) return;
      controller.pause();
      this.#res.onWritable(() => {
        controller.resume();
        return true;
      });
    });
  }

  onResponseEnd(): void {
    if (!this.#gone) this.#res.cork(() => void this.#res.end(this.#outlet.end()));
    this.#gone = true;
  }

  onResponseError(): void {
    if (!this.#gone) this.#res.close();
    this.#gone = true;
  }
}

const headers = { 'content-type': 'application/json', authorization: 'Bearer bench' };

const forward = (res: UwsResponse, path: string, body: Buffer): void => {
  const converted = conversion?.request(body.toString());
  pool.dispatch(
    {
      method: 'POST',
      path: converted?.path ?? path,
      headers,
      body: converted ? JSON.stringify(converted.body) : body,
    },
    new Forward(res, converted?.streamed ?? true),
  );
};

const { uws } = loadUws();
let port = 0;
uws
  .App()
  .ws('/*', socketRelay(pool, conversion))
  .any('/*', (res, req) => {
    const query = req.getQuery();
    const path = query ? `${req.getUrl()}?${query}` : req.getUrl();
    const chunks: Buffer[] = [];
    let gone = false;
    res.onAborted(() => {
      gone = true;
    });
    res.onData((chunk, last) => {
      chunks.push(Buffer.from(chunk.slice(0)));
      if (!last || gone) return;
      const [first = Buffer.alloc(0)] = chunks;
      forward(res, path, chunks.length === 1 ? first : Buffer.concat(chunks));
    });
  })
  .listen('127.0.0.1', 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (socket) => {
    port = socket ? uws.us_socket_local_port(socket) : 0;
  });

answerQuestions<object, { readonly port: number }>(() => ({ port }));
