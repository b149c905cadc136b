import { StringDecoder } from 'node:string_decoder';
import type { Dispatcher } from 'undici';
import type { UwsBehavior, UwsWebSocket } from '../../http/uws/uws.ts';
import { parseAs } from '../parse-as.ts';
import type { Clients } from './clients.ts';
import type { Conversion } from './convert/conversion.ts';

/** User data that the library attaches to a native WebSocket. It copies the members. */
interface Held {
  readonly client: { relay: Relay | undefined };
}

/** Sends the upstream's records to the client, each as a message. */
interface MessageOutlet {
  readonly chunk: (chunk: Buffer) => void;
  readonly end: () => void;
}

/** The data of records as they came. */
const relayed = (send: (message: Buffer) => void): MessageOutlet => {
  let rest: Buffer | undefined;
  return {
    chunk(chunk) {
      const bytes = rest ? Buffer.concat([rest, chunk]) : chunk;
      let from = 0;
      for (let to = bytes.indexOf(10); to >= 0; to = bytes.indexOf(10, from)) {
        // `data: {`; other lines have another first letter.
        if (bytes[from] === 0x64 && bytes[from + 6] === 0x7b) send(bytes.subarray(from + 6, to));
        from = to + 1;
      }
      rest = from < bytes.length ? Buffer.from(bytes.subarray(from)) : undefined;
    },
    end: () => {},
  };
};

const converted = ({ stream }: Conversion, send: (message: string) => void): MessageOutlet => {
  const { record, end } = stream((type, data) => {
    send(JSON.stringify({ type, ...data }));
    return '';
  });
  const decoder = new StringDecoder('utf8');
  let rest = '';
  return {
    chunk(chunk) {
      const text = rest + decoder.write(chunk);
      let from = 0;
      for (let to = text.indexOf('\n', from); to >= 0; to = text.indexOf('\n', from)) {
        if (text.startsWith('data: {', from)) record(text.slice(from + 6, to));
        from = to + 1;
      }
      rest = text.slice(from);
    },
    end,
  };
};

class Relay implements Dispatcher.DispatchHandler {
  readonly #ws: UwsWebSocket<Held>;
  readonly #outlet: MessageOutlet;
  readonly #done: () => void;
  #gone = false;
  #controller: Dispatcher.DispatchController | undefined;

  constructor(ws: UwsWebSocket<Held>, conversion: Conversion | undefined, done: () => void) {
    this.#ws = ws;
    this.#done = done;
    const send = (message: Buffer | string): void => {
      // 0: it is queued, until `drain`.
      if (ws.send(message) === 0) this.#controller?.pause();
    };
    this.#outlet = conversion ? converted(conversion, send) : relayed(send);
  }

  resume(): void {
    this.#controller?.resume();
  }

  clientLeft(): void {
    this.#gone = true;
    this.#controller?.abort(new Error('the client left'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#gone) this.#ws.cork(() => this.#outlet.chunk(chunk));
  }

  onResponseEnd(): void {
    if (!this.#gone) this.#ws.cork(() => this.#outlet.end());
    this.#ended();
  }

  onResponseError(): void {
    if (!this.#gone) this.#ws.close();
    this.#ended();
  }

  /** What the connection does from now on isn't this answer's. */
  #ended(): void {
    this.#done();
    this.#gone = true;
    this.#controller = undefined;
  }
}

const headers = { 'content-type': 'application/json', authorization: 'Bearer bench' };

/** The floors' WebSocket half: each message is posted to the upstream, and each record of its answer becomes a message. */
export const socketRelay = (clients: Clients, conversion: Conversion | undefined): UwsBehavior<Held> => ({
  maxPayloadLength: 16 * 1024 * 1024,
  idleTimeout: 0,
  maxBackpressure: 0,
  sendPingsAutomatically: false,
  upgrade(res, req, context) {
    const held: Held = { client: { relay: undefined } };
    let key = '';
    req.forEach((name, value) => {
      if (name === 'sec-websocket-key') key = value;
    });
    res.upgrade(held, key, '', '', context);
  },
  open: () => {},
  message(ws, message) {
    const text = Buffer.from(message).toString();
    const converted = conversion?.request(text);
    const client = clients.take();
    const relay = new Relay(ws, conversion, () => clients.give(client));
    ws.getUserData().client.relay = relay;
    client.dispatch(
      {
        method: 'POST',
        path: converted?.path ?? '/v1/responses',
        headers,
        body: JSON.stringify(converted?.body ?? bodyOf(text)),
      },
      relay,
    );
  },
  drain: (ws) => ws.getUserData().client.relay?.resume(),
  pong: () => {},
  close: (ws) => ws.getUserData().client.relay?.clientLeft(),
});

const bodyOf = (text: string): object => {
  const { type: _, ...body } = parseAs<{ readonly type: string }>(text);
  return body;
};
