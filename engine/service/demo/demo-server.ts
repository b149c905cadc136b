import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Fault, FaultError, fail } from '../../model/fault.ts';
import { parseJson } from '../../model/json/json.ts';
import { answerDemo } from './answer.ts';
import { encodeChunks, encodeCompletion } from './encode-answer.ts';
import { readDemoRequest } from './request.ts';

/** A running demo upstream. */
export interface Demo {
  /** Base URL for a provider's configuration. */
  readonly baseUrl: string;
  /** Stops the server and aborts its open responses. */
  readonly close: () => void;
}

/** Maximum request body, in bytes; above the gateway's own limit. */
const maxBodyBytes = 64 << 20;

/**
 * Starts the upstream that is used when no provider is configured. Speaks Chat Completions on a loopback port of this process
 * and needs no key. `paceMs`: pause between two chunks of a stream, in milliseconds.
 */
export const startDemo = async ({ paceMs = 15 }: { readonly paceMs?: number } = {}): Promise<Demo> => {
  const server = createServer((request, response) => {
    serve(request, response, paceMs).catch((error: unknown) => sendError(response, error));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  // `address()` is a string only for pipes, never for a TCP server.
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
};

const serve = async (incoming: IncomingMessage, response: ServerResponse, paceMs: number): Promise<void> => {
  const { pathname } = new URL(incoming.url ?? '/', 'http://demo');
  if (!/^(\/v1)?\/chat\/completions$/.test(pathname)) fail('not-found', `Nothing is served at ${pathname}.`);
  if (incoming.method !== 'POST') fail('method-not-allowed', 'Only POST is served here.');
  const body = parseJson(await readText(incoming));
  if (body === undefined) fail('invalid-request', "The body isn't JSON.");
  const request = readDemoRequest(body);
  const answer = answerDemo(request);
  const frame = {
    id: `chatcmpl-${randomUUID().replaceAll('-', '').slice(0, 24)}`,
    created: Math.floor(Date.now() / 1000),
    model: request.model,
  };
  if (request.stream === true) {
    const chunks = encodeChunks(answer, frame, request.stream_options?.include_usage === true);
    stream(response, [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'], paceMs);
  } else {
    sendJson(response, 200, encodeCompletion(answer, frame));
  }
};

const readText = async (incoming: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming) {
    // Chunks are buffers because no encoding is set.
    chunks.push(chunk as Buffer);
    length += chunk.length;
    if (length > maxBodyBytes) fail('too-large', 'The body is too large.');
  }
  return Buffer.concat(chunks).toString();
};

/** Sends one record every `paceMs` milliseconds; stops when the client disconnects. */
const stream = (response: ServerResponse, records: readonly string[], paceMs: number): void => {
  let next = 0;
  let timer: NodeJS.Timeout | undefined;
  const send = () => {
    response.write(`data: ${records[next]}\n\n`);
    next += 1;
    if (next === records.length) response.end();
    else timer = setTimeout(send, paceMs);
  };
  response.on('close', () => clearTimeout(timer));
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  send();
};

const sendError = (response: ServerResponse, error: unknown): void => {
  const fault: Fault =
    error instanceof FaultError ? error.fault : { kind: 'internal', message: 'The demo had an internal error.' };
  const { message, param = null } = fault;
  sendJson(response, statuses[fault.kind] ?? 500, {
    error: { message, type: 'invalid_request_error', param, code: null },
  });
};

const statuses: Partial<Record<Fault['kind'], number>> = {
  'invalid-request': 400,
  'not-found': 404,
  'method-not-allowed': 405,
  'too-large': 413,
};

const sendJson = (response: ServerResponse, status: number, body: unknown): void => {
  if (response.headersSent || response.destroyed) return;
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
};
