import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** A request as the upstream got it. */
interface SocketRequest {
  readonly over: 'http' | 'socket';
  /** The number of its connection, from 1. */
  readonly connection: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: ResponsesBody;
  readonly bytes: number;
}

interface ResponsesBody {
  readonly type?: string;
  readonly model?: string;
  readonly stream?: boolean;
  readonly previous_response_id?: string;
  readonly input: readonly { readonly [member: string]: unknown }[];
  readonly [member: string]: unknown;
}

type Event = { readonly type: string; readonly [member: string]: unknown };

/** What happens to a request: its events one by one, a number being a pause in milliseconds, and then the end of the connection, if any. */
export type SocketScript = (
  request: SocketRequest,
  count: number,
) => { readonly events: readonly (Event | string | Buffer)[]; readonly ending?: 'close' | 'reset' | 'stall' };

/** What the upgrade is answered with. */
export type Upgrade = 'accept' | 'hang' | 'reset' | 'unheard' | number;

interface SocketUpstreamOptions {
  readonly upgrade?: Upgrade;
  /** Serves plain requests too; absent: with the same script, as Server-Sent Events. */
  readonly script?: SocketScript;
  readonly tls?: { readonly cert: string; readonly key: string };
}

/**
 * An upstream that serves Responses over WebSocket and over HTTP. As strict as the vendor: text frames of `response.create` alone, one response at a
 * time, ids of this connection's latest response alone. What breaks a rule is in `complaints`.
 */
export const startSocketUpstream = async ({ upgrade = 'accept', script = chat, tls }: SocketUpstreamOptions = {}) => {
  const requests: SocketRequest[] = [];
  const complaints: string[] = [];
  const sockets = new Set<Socket>();
  const open = new Set<WebSocket>();
  const state = { upgrade, script, upgrades: 0, closed: 0 };
  const webSockets = new WebSocketServer({ noServer: true, maxPayload: 1 << 26, perMessageDeflate: true });
  const serve: RequestListener = (incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const text = Buffer.concat(chunks);
      const body: ResponsesBody = JSON.parse(text.toString());
      const request = { over: 'http', connection: 0, headers: incoming.headers, body, bytes: text.length } as const;
      requests.push(request);
      const { events } = state.script(request, requests.length);
      const [first] = events;
      if (typeof first === 'object' && 'status' in first) {
        response.writeHead(Number(first.status), { 'content-type': 'application/json' });
        response.end(JSON.stringify({ error: 'error' in first ? first.error : null }));
        return;
      }
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const event of events) response.write(sseOf(event));
      response.end();
    });
  };
  const server = tls ? createTlsServer(tls, serve) : createServer(serve);
  server.on('connection', (socket) => {
    sockets.add(socket.on('error', () => {}).on('close', () => sockets.delete(socket)));
  });
  server.on('upgrade', (incoming, socket, head) => {
    state.upgrades += 1;
    if (state.upgrade === 'hang') return;
    if (state.upgrade === 'reset') {
      socket.destroy();
      return;
    }
    if (state.upgrade !== 'accept' && state.upgrade !== 'unheard') {
      const text = '{"error":{"message":"No upgrade.","type":"requests"}}';
      socket.end(
        `HTTP/1.1 ${state.upgrade} No\r\nretry-after: 3\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\nconnection: close\r\n\r\n${text}`,
      );
      return;
    }
    const connection = state.upgrades;
    webSockets.handleUpgrade(incoming, socket, head, (webSocket) => {
      open.add(webSocket);
      webSocket.on('error', () => {});
      webSocket.on('close', () => {
        state.closed += 1;
        open.delete(webSocket);
      });
      let latest: string | undefined;
      let isBusy = false;
      webSocket.on('message', (data: Buffer, isBinary) => {
        if (state.upgrade === 'unheard') {
          webSocket.terminate();
          return;
        }
        const body: ResponsesBody = JSON.parse(data.toString());
        if (isBinary) complaints.push('a binary frame');
        if (body.type !== 'response.create') complaints.push(`an event ${body.type}`);
        if (body.stream !== undefined) complaints.push('stream');
        if (isBusy) complaints.push('a second request at a time');
        const { previous_response_id: id } = body;
        if (id !== undefined && body.input.length === 0) complaints.push('nothing new');
        requests.push({ over: 'socket', connection, headers: incoming.headers, body, bytes: data.length });
        const count = requests.length;
        if (id !== undefined && id !== latest) {
          latest = undefined;
          webSocket.send(JSON.stringify(unknownId));
          return;
        }
        isBusy = true;
        const last = requests.at(-1);
        const { events, ending } = last ? state.script(last, count) : { events: [] };
        let response: string | undefined;
        for (const event of events) {
          const isText = typeof event === 'string' || Buffer.isBuffer(event);
          if (!isText && event.type === 'response.completed') response = idOf(event);
          webSocket.send(isText ? event : JSON.stringify(event));
        }
        latest = response;
        isBusy = ending === 'stall';
        if (ending === 'close') webSocket.close(1011);
        // What was sent has to arrive first.
        if (ending === 'reset') setImmediate(() => webSocket.terminate());
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A TCP server's address is always of this kind.
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://127.0.0.1:${port}`,
    requests,
    complaints,
    state,
    /** Open WebSockets. */
    open,
    /**
     * Resolves when all that the client has sent so far is read, and what it gets in answer to its pings is read there. The second probe's
     * frame follows those answers. One that is closed answers nothing.
     */
    answered: async () => {
      for (const webSocket of open) {
        for (let probe = 0; probe < 2 && open.has(webSocket); probe += 1) {
          const heard = new AbortController();
          const { signal } = heard;
          const pong = Promise.race([once(webSocket, 'pong', { signal }), once(webSocket, 'close', { signal })]);
          webSocket.ping();
          await pong;
          heard.abort();
        }
      }
    },
    /** Forgets what the connections remember, and closes them. */
    closeSockets: () => {
      for (const webSocket of open) webSocket.close(1000);
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
};

const sseOf = (event: Event | string | Buffer): string =>
  typeof event === 'string' || Buffer.isBuffer(event)
    ? `data: ${event}\n\n`
    : `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

const idOf = ({ response }: Event): string | undefined =>
  typeof response === 'object' && response !== null && 'id' in response ? String(response.id) : undefined;

const unknownId = {
  type: 'error',
  status: 400,
  error: {
    type: 'invalid_request_error',
    code: 'previous_response_not_found',
    message: 'Previous response not found.',
  },
};

/** The events of a response with these items. */
export const responseEvents = (id: string, items: readonly object[]): readonly Event[] => {
  const response = { id, object: 'response', created_at: 1, model: 'm', output: items, usage };
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [], usage: null } },
    ...items.flatMap((item, index) => [
      {
        type: 'response.output_item.added',
        output_index: index,
        item: { ...item, status: 'in_progress', content: [] },
      },
      ...textEvents(item, index),
      { type: 'response.output_item.done', output_index: index, item },
    ]),
    { type: 'response.completed', response: { ...response, status: 'completed' } },
  ];
};

const textEvents = (item: object, index: number): readonly Event[] => {
  if ('arguments' in item && 'id' in item) {
    const call = { item_id: item.id, output_index: index };
    return [
      { type: 'response.function_call_arguments.delta', ...call, delta: item.arguments },
      { type: 'response.function_call_arguments.done', ...call, arguments: item.arguments },
    ];
  }
  if (!('content' in item) || !('id' in item) || !Array.isArray(item.content)) return [];
  return item.content.flatMap((part: { readonly text: string }, at) => {
    const place = { item_id: item.id, output_index: index, content_index: at };
    return [
      { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
      { type: 'response.output_text.delta', ...place, delta: part.text },
      { type: 'response.output_text.done', ...place, text: part.text },
      { type: 'response.content_part.done', ...place, part },
    ];
  });
};

const usage = {
  input_tokens: 5,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 3,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 8,
};

/** An assistant's message, as vendors write it. */
export const messageItem = (id: string, text: string) => ({
  id: `msg_${id}`,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
});

/** A call of a function, as vendors write it. */
export const callItem = (id: string, values: string) => ({
  id: `fc_${id}`,
  type: 'function_call',
  status: 'completed',
  call_id: `call_${id}`,
  name: 'look',
  arguments: values,
});

/** Answers each request with a text, or, where it has tools, first with a text and a call. */
const chat: SocketScript = ({ body }, count) => {
  const isDone = !body.tools || body.input.at(-1)?.type === 'function_call_output';
  const text = messageItem(String(count), `answer ${count}`);
  const items = isDone ? [text] : [text, callItem(String(count), '{"at": "here"}')];
  return { events: responseEvents(`resp_${count}`, items) };
};
