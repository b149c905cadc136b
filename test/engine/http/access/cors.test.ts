import test from 'ava';
import { chooseServer } from '../../../../engine/http/choose-server.ts';
import { UwsUnavailable } from '../../../../engine/http/uws/uws.ts';
import { echo, raw, serve } from '../rig.ts';

const rows = [
  { method: 'POST', path: '/v1/messages', endpoint: { ...echo, forClients: true } },
  { method: 'GET', path: '/v1/models', endpoint: { ...echo, forClients: true } },
  { method: 'POST', path: '/api/config', endpoint: echo },
  { method: 'GET', path: '/health', endpoint: { ...echo, open: true } },
];

/** What a page of an origin gets; `readable`: with the headers that let it read the answer. */
interface Case {
  readonly line: string;
  readonly origin: string;
  readonly more?: string;
  readonly status: number;
  readonly readable: boolean;
}

const crossSite = 'Sec-Fetch-Site: cross-site\r\n';
const key = 'Authorization: Bearer k\r\n';
const preflight = `Access-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: authorization,content-type\r\n${crossSite}`;

const cases: readonly Case[] = [
  ...['https://app.example', 'app://obsidian.md', 'http://localhost:3000'].flatMap((origin): readonly Case[] => [
    { line: 'POST /v1/messages', origin, more: key + crossSite, status: 200, readable: true },
    { line: 'GET /v1/models', origin, more: key, status: 200, readable: true },
    { line: 'POST /v1/messages', origin, more: crossSite, status: 401, readable: true },
    { line: 'OPTIONS /v1/messages', origin, more: preflight, status: 204, readable: true },
    // Administration is for pages of the service alone, whatever their key.
    { line: 'POST /api/config', origin, more: key, status: 403, readable: false },
    { line: 'OPTIONS /api/config', origin, more: preflight, status: 403, readable: false },
    { line: 'GET /health', origin, status: 403, readable: false },
    // Not what is announced: no such route.
    { line: 'OPTIONS /v1/models', origin, more: preflight, status: 403, readable: false },
    { line: 'OPTIONS /v1/messages', origin, status: 403, readable: false },
  ]),
  ...['https://app.example:8443', 'http://app.example', 'app://other', 'https://evil.example', 'null'].flatMap(
    (origin): readonly Case[] => [
      { line: 'POST /v1/messages', origin, more: key, status: 403, readable: false },
      { line: 'OPTIONS /v1/messages', origin, more: preflight, status: 403, readable: false },
    ],
  ),
];

const hasUws = (): boolean => {
  try {
    return chooseServer('uws').facts.server === 'uws';
  } catch (error) {
    if (error instanceof Error && error.cause instanceof UwsUnavailable) return false;
    throw error;
  }
};

for (const server of ['uws', 'node'] as const) {
  (server === 'node' || hasUws() ? test : test.skip)(
    `${server}: listed pages may call the model routes alone, and read the answers`,
    async (t) => {
      const { port } = await serve(t, rows, {
        server: chooseServer(server),
        apiKey: 'k',
        guard: {
          host: '127.0.0.1',
          allowedHosts: [],
          allowedOrigins: ['https://app.example', 'app://obsidian.md', 'http://localhost:3000'],
        },
      });
      const ask = (line: string, headers: string) =>
        raw(port, `${line} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n${headers}\r\n`);
      for (const { line, origin, more = '', status, readable } of cases) {
        const body = line.startsWith('POST') ? 'Content-Length: 0\r\n' : '';
        const { text } = await ask(line, `Origin: ${origin}\r\n${more}${body}`);
        const where = `${line} ${origin}: ${text}`;
        t.is(Number(text.slice(9, 12)), status, where);
        t.is(/^access-control-allow-origin: (.*)\r$/im.exec(text)?.[1], readable ? origin : undefined, where);
        t.is(/^vary: origin\r$/im.test(text), readable, where);
        if (!readable) t.notRegex(text, /^access-control-/im, where);
      }
      const { text } = await ask('OPTIONS /v1/messages', `Origin: app://obsidian.md\r\n${preflight}`);
      t.regex(text, /^access-control-allow-methods: POST\r$/im);
      t.regex(text, /^access-control-allow-headers: authorization,content-type\r$/im);
      const named = await raw(
        port,
        `OPTIONS /v1/messages HTTP/1.1\r\nHost: evil.example\r\nOrigin: app://obsidian.md\r\n${preflight}\r\n`,
      );
      t.regex(named.text, /^HTTP\/1\.1 403 /, 'DNS rebinding');
    },
  );
}
