import test from 'ava';
import { echo, raw, serve } from '../rig.ts';

/** What browsers send without asking first, and one type that they do ask for. Source: Fetch standard, "CORS-safelisted". */
const contentTypes = [
  undefined,
  'text/plain',
  'text/plain;charset=UTF-8',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json',
];

/** `PORT` is the listener's. */
const rows: readonly (readonly [host: string, origin: string | undefined, status: 200 | 403])[] = [
  ['127.0.0.1:PORT', undefined, 200],
  ['127.0.0.1:PORT', 'http://127.0.0.1:PORT', 200],
  ['127.0.0.1:PORT', 'http://localhost:PORT', 200],
  ['localhost:PORT', 'http://[::1]:PORT', 200],
  ['[::1]:PORT', 'http://127.0.0.1:PORT', 200],
  // A page of another program on this machine.
  ['127.0.0.1:PORT', 'http://127.0.0.1', 403],
  ['127.0.0.1:PORT', 'http://127.0.0.1:1', 403],
  ['127.0.0.1:PORT', 'https://127.0.0.1', 403],
  ['127.0.0.1:PORT', 'http://127.0.0.1:80', 403],
  ['127.0.0.1:PORT', 'http://127.0.0.2:8080', 403],
  ['127.0.0.1:PORT', 'http://localhost:3000', 403],
  ['localhost:PORT', 'http://127.0.0.1:3000', 403],
  ['localhost:PORT', 'http://localhost', 403],
  // The port that a container or a tunnel publishes is the port of the page, too.
  ['localhost:9', 'http://localhost:9', 200],
  ['localhost:9', 'http://localhost:PORT', 403],
  ['localhost', 'http://localhost', 200],
  ['localhost', 'http://127.0.0.1:PORT', 403],
  // ALLOWED_HOSTS alone may leave the port out.
  ['localhost:PORT', 'https://any.example', 200],
  ['localhost:PORT', 'http://any.example:8080', 200],
  ['localhost:PORT', 'https://one.example:8443', 200],
  ['localhost:PORT', 'https://one.example', 403],
  ['localhost:PORT', 'https://one.example:8444', 403],
  ['any.example', 'https://any.example', 200],
  ['one.example:8443', 'https://one.example:8443', 200],
  ['one.example:8443', 'https://one.example', 403],
  ['one.example', undefined, 403],
  ['evil.example', undefined, 403],
  ['evil.example', 'http://evil.example', 403],
  ['localhost:PORT', 'http://evil.example', 403],
  ['localhost:PORT', 'http://evil.example:PORT', 403],
  ['localhost:PORT', 'null', 403],
  ['localhost:PORT', 'chrome-extension://localhost:PORT', 403],
];

for (const contentType of contentTypes) {
  test(`S3 a POST ${contentType === undefined ? 'without a type' : `of ${contentType}`} is served for own origins alone, port included`, async (t) => {
    const { port } = await serve(t, [{ method: 'POST', path: '/', endpoint: { ...echo, forClients: true } }], {
      guard: { host: '127.0.0.1', allowedHosts: ['any.example', 'one.example:8443'] },
    });
    for (const [host, origin, status] of rows) {
      const headers = [
        ['host', host],
        ...(origin === undefined ? [] : [['origin', origin]]),
        ...(contentType === undefined ? [] : [['content-type', contentType]]),
        ['content-length', '2'],
        ['connection', 'close'],
      ];
      const head = headers.map((pair) => pair.join(': ').replaceAll('PORT', String(port)));
      const { text } = await raw(port, `POST / HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n{}`);
      t.is(Number(text.slice(9, 12)), status, `${host} ${origin}: ${text}`);
    }
  });
}
