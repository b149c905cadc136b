import { connect } from 'node:net';
import type { ExecutionContext } from 'ava';
import { type Observable, of } from 'rxjs';
import { defaultSettings } from '../../../engine/config/sections/service-settings.ts';
import type {
  Endpoint,
  FormatFault,
  HeaderList,
  HttpRequest,
  ReplyPart,
  WholeReply,
} from '../../../engine/http/endpoint.ts';
import { type Listener, type ListenOptions, listen } from '../../../engine/http/listener.ts';
import { createRouter, type HttpRoute } from '../../../engine/http/router.ts';
import type { BodyConsumer, HttpStream } from '../../../engine/http/stream.ts';
import type { FaultKind } from '../../../engine/model/fault.ts';

const statuses: Partial<Record<FaultKind, number>> = {
  'invalid-request': 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'upgrade-refused': 426,
  'request-timeout': 408,
  'too-large': 413,
  'unsupported-encoding': 415,
  unavailable: 503,
};

/** Words a fault so that a test sees its kind and who worded it. */
export const wording =
  (by: string): FormatFault =>
  (fault, requestId) => ({
    status: statuses[fault.kind] ?? 500,
    body: { by, kind: fault.kind, message: fault.message, requestId },
  });

export const plainWording = wording('default');

export const text = (body: string): WholeReply => ({
  type: 'whole',
  status: 200,
  headers: { 'content-type': 'text/plain' },
  body,
});

export const endpoint = (
  handle: (incoming: HttpRequest, params: Readonly<Record<string, string>>) => Observable<ReplyPart>,
  over: Partial<Endpoint> = {},
): Endpoint => ({ open: false, formatFault: plainWording, handle, ...over });

/** Answers with the request's body. */
export const echo: Endpoint = endpoint(({ body }) => of({ ...text(''), body }));

/** A stream without a connection. */
interface FakeStream {
  readonly stream: HttpStream;
  /** What was done to it, in words. */
  readonly done: string[];
  /** Whether the client's socket takes more. */
  hasRoom: boolean;
  consumer: BodyConsumer | undefined;
}

export const fakeStream = (headers: HeaderList = []): FakeStream => {
  const done: string[] = [];
  const show = (data: string | Uint8Array) => (data.length > 20 ? data.length : Buffer.from(data).toString());
  const write = (how: string, data: string | Uint8Array) => {
    done.push(`${how} ${show(data)}`);
    return fake.hasRoom;
  };
  const stream: HttpStream = {
    method: 'POST',
    path: '/',
    query: '',
    headers,
    remoteAddress: '127.0.0.1',
    proxiedAddress: () => '',
    onAborted: () => {},
    read(consumer) {
      fake.consumer = consumer;
    },
    keepOpen: () => done.push('keepOpen'),
    cork: (act) => act(),
    writeHead: (status, list) => done.push(`head ${[status, ...list].join(' ')}`),
    write: (data) => write(typeof data, data),
    end: () => done.push('end'),
    endWith: (body, close) => done.push(`endWith ${show(body)}${close ? ' close' : ''}`),
    endWithoutBody: () => done.push('endWithoutBody'),
    send: (body) => write('send', body),
    close: () => done.push('close'),
  };
  const fake: FakeStream = { stream, done, hasRoom: true, consumer: undefined };
  return fake;
};

/** A listener on a free port that is closed when the test ends. */
export const serve = async (
  t: ExecutionContext,
  rows: readonly HttpRoute[],
  {
    limits,
    ...over
  }: Partial<Omit<ListenOptions, 'limits'>> & { readonly limits?: Partial<ListenOptions['limits']> } = {},
): Promise<Listener> => {
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    router: createRouter(rows, plainWording),
    guard: { host: '127.0.0.1', allowedHosts: [] },
    limits: { ...defaultSettings().limits, ...limits },
    ...over,
  });
  t.teardown(() => listener.close());
  return listener;
};

interface RawAnswer {
  readonly text: string;
  /** The service closed the connection. */
  readonly closed: boolean;
}

/**
 * Sends bytes, or pieces of them one by one, and collects what comes back until the service closes or has been silent for `quietMs`. The service is in the same
 * process, so the silence is counted in turns of the event loop: on a busy machine it waits for as long as the service does.
 */
export const raw = (
  port: number,
  bytes: string | Uint8Array | readonly string[],
  quietMs = 150,
  host = '127.0.0.1',
): Promise<RawAnswer> =>
  new Promise((resolve) => {
    const pieces: (string | Uint8Array)[] =
      typeof bytes === 'string' || bytes instanceof Uint8Array ? [bytes] : [...bytes];
    const socket = connect(port, host, () => send());
    socket.setNoDelay();
    /** Each in a turn of its own, so that the service reads them apart. */
    const send = () => {
      const piece = pieces.shift();
      if (piece === undefined || socket.destroyed) return;
      socket.write(piece, () => setTimeout(send, pieces.length > 0 ? 20 : 0));
    };
    let text = '';
    let silentMs = 0;
    const end = (closed: boolean) => {
      clearInterval(timer);
      socket.destroy();
      resolve({ text, closed });
    };
    const timer = setInterval(() => {
      silentMs += 5;
      if (silentMs > quietMs) end(false);
    }, 5);
    socket.on('data', (data) => {
      text += data.toString('latin1');
      silentMs = 0;
    });
    socket.on('error', () => end(true));
    socket.on('close', () => end(true));
  });

/** Statuses of the answers in a connection's text, in order. */
export const statusesOf = (text: string): readonly number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => Number(match[1]));

/** A header of the first answer. */
export const headerOf = (text: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*?)\r?$`, 'im').exec(text.split('\r\n\r\n')[0] ?? '')?.[1];
