import test from 'ava';
import { concat, of } from 'rxjs';
import { chooseServer } from '../../../engine/http/choose-server.ts';
import { endpoint, raw, serve, statusesOf, text } from './rig.ts';

const streamed = endpoint(() =>
  concat(
    of({ type: 'head' as const, status: 200, headers: { 'content-type': 'text/event-stream' } }),
    of({ type: 'data' as const, data: 'data: one\n\n' }, { type: 'data' as const, data: 'data: two\n\n' }),
  ),
);

const rows = [
  { method: 'GET', path: '/health', endpoint: endpoint(() => of(text('ready')), { open: true, anyHost: true }) },
  { method: 'POST', path: '/echo', endpoint: endpoint(({ body }) => of({ ...text(''), body })) },
  { method: 'GET', path: '/stream', endpoint: streamed },
] as const;

const head = (line: string, ...headers: readonly string[]): string =>
  `${[`${line} HTTP/1.0`, 'Host: localhost', ...headers].join('\r\n')}\r\n\r\n`;

test('node:http serves HTTP/1.0: without chunks, and the connection ends with the answer', async (t) => {
  const { port } = await serve(t, rows, { server: chooseServer('node') });
  const bodyOf = async (bytes: string): Promise<string> => {
    const { text: answer, closed } = await raw(port, bytes, 5_000);
    t.deepEqual(statusesOf(answer), [200], bytes);
    t.true(closed, bytes);
    t.notRegex(answer, /transfer-encoding/i);
    return answer.slice(answer.indexOf('\r\n\r\n') + 4);
  };
  t.is(await bodyOf('GET /health HTTP/1.0\r\n\r\n'), 'ready');
  t.is(await bodyOf(head('GET /health', 'Connection: keep-alive')), 'ready');
  t.is(await bodyOf(`${head('POST /echo', 'Content-Length: 5')}hello`), 'hello');
  t.is(await bodyOf(head('GET /stream')), 'data: one\n\ndata: two\n\n');
  // A host is asked for where HTTP/1.1 asks for it: pages of other sites may not reach the routes by their own names.
  t.deepEqual(statusesOf((await raw(port, 'GET /stream HTTP/1.0\r\n\r\n', 5_000)).text), [403]);
  t.deepEqual(statusesOf((await raw(port, 'GET /health HTTP/0.9\r\n\r\n', 5_000)).text), [505]);
});

test('uWebSockets.js answers HTTP/1.0 by itself, with 505', async (t) => {
  const { port, http } = await serve(t, rows);
  if (http.server !== 'uws') return t.pass();
  const { text: answer, closed } = await raw(port, 'GET /health HTTP/1.0\r\n\r\n', 5_000);
  t.deepEqual(statusesOf(answer), [505]);
  t.true(closed);
});
