import test from 'ava';
import { of } from 'rxjs';
import { defaultSettings } from '../../../engine/config/sections/service-settings.ts';
import type { Endpoint } from '../../../engine/http/endpoint.ts';
import { listen } from '../../../engine/http/listener.ts';
import { createRouter } from '../../../engine/http/router.ts';
import type { HttpServerEvents, HttpStream, MessageStream } from '../../../engine/http/stream.ts';
import { responsesClient } from '../../../protocols/responses/index.ts';
import { responsesSocket } from '../../../protocols/responses/socket/socket.ts';

test('a process that retires gives up its port before its WebSocket clients are told, and refuses no later handshake for good', async (t) => {
  const done: string[] = [];
  let events: HttpServerEvents | undefined;
  const endpoint: Endpoint = {
    open: true,
    formatFault: responsesClient.encodeFault,
    socket: responsesSocket,
    handle: () => of(),
  };
  const listener = await listen({
    host: '127.0.0.1',
    port: 0,
    router: createRouter([{ method: 'POST', path: '/v1/responses', endpoint }], responsesClient.encodeFault),
    guard: { host: '127.0.0.1', allowedHosts: [] },
    limits: defaultSettings().limits,
    server: {
      facts: { server: 'node', reason: '' },
      warning: undefined,
      load: async () => (given: HttpServerEvents) => {
        events = given;
        return {
          listen: async () => 1,
          stopAccepting: () => done.push('port given up'),
          close: () => undefined,
        };
      },
    },
  });
  t.teardown(() => listener.close());
  const messages: MessageStream = {
    send: () => true,
    countsBytes: true,
    bufferedBytes: () => 0,
    cork: (act) => act(),
    ping: () => undefined,
    close: (code) => done.push(`close ${code}`),
    terminate: () => undefined,
  };
  const handshake: HttpStream = {
    method: 'GET',
    path: '/v1/responses',
    query: '',
    headers: ['host', '127.0.0.1', 'upgrade', 'websocket', 'sec-websocket-version', '13'],
    remoteAddress: '127.0.0.1',
    proxiedAddress: () => '',
    onAborted: () => undefined,
    read: () => undefined,
    keepOpen: () => undefined,
    cork: (act) => act(),
    writeHead: (status) => done.push(String(status)),
    write: () => true,
    end: () => undefined,
    endWith: () => undefined,
    endWithoutBody: () => undefined,
    send: () => true,
    close: () => undefined,
    upgrade(open) {
      open(messages);
      done.push('open');
    },
  };
  events?.opened('127.0.0.1');
  events?.requested(handshake);
  const retired = listener.retire();
  events?.requested(handshake);
  const early = [...done];
  events?.closed();
  await retired;
  t.deepEqual(early, ['open', '503']);
  t.deepEqual(done, ['open', '503', 'port given up', 'close 1012']);
});
