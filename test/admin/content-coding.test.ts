import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import test from 'ava';
import { from } from 'rxjs';
import Type from 'typebox';
import { request } from 'undici';
import { adminEndpoint, jsonOperation } from '../../admin/endpoint.ts';
import { chooseServer } from '../../engine/http/choose-server.ts';
import type { ReplyPart } from '../../engine/http/endpoint.ts';
import { apiKey, serveRoutes } from './rig.ts';

const large = { says: 'ä'.repeat(50_000), ends: true };
const events = `data: ${'x'.repeat(5_000)}\n\n`;

const json = (path: string, value: object) => ({
  method: 'GET',
  path,
  ...jsonOperation({ summary: '', says: '', reply: Type.Unknown(), answer: () => value }),
});

const stream: readonly ReplyPart[] = [
  { type: 'head', status: 200, headers: { 'content-type': 'text/event-stream' } },
  { type: 'data', data: events },
];

const rows = [
  json('/large', large),
  json('/small', { ok: true }),
  { method: 'GET', path: '/events', endpoint: adminEndpoint(() => from(stream)) },
];

const undo = { br: brotliDecompressSync, gzip: gunzipSync, identity: (bytes: Uint8Array) => Buffer.from(bytes) };

for (const name of ['uws', 'node']) {
  test(`${name}: JSON answers are compressed as the client accepts, from a size on; streams never are`, async (t) => {
    const { baseUrl } = await serveRoutes(t, rows, chooseServer(name));
    const ask = async (path: string, accepted: string | undefined, method: 'GET' | 'HEAD' = 'GET') => {
      const headers = { 'x-api-key': apiKey, ...(accepted !== undefined && { 'accept-encoding': accepted }) };
      const { statusCode, headers: given, body } = await request(baseUrl + path, { method, headers });
      return { statusCode, given, bytes: Buffer.from(await body.arrayBuffer()) };
    };
    for (const [accepted, coding] of [
      ['gzip, deflate, br, zstd', 'br'],
      ['GZIP;q=0.5', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
      ['zstd', 'identity'],
      [undefined, 'identity'],
    ] as const) {
      const { statusCode, given, bytes } = await ask('/large', accepted);
      t.is(statusCode, 200);
      t.is(given['content-encoding'], coding === 'identity' ? undefined : coding, accepted);
      t.is(given.vary, 'accept-encoding');
      t.is(given['content-type'], 'application/json; charset=utf-8');
      t.is(given['content-length'], String(bytes.length));
      t.deepEqual(JSON.parse(undo[coding](bytes).toString()), large);
      if (coding !== 'identity') t.true(bytes.length < 1_000);
    }
    const head = await ask('/large', 'br', 'HEAD');
    t.deepEqual([head.given['content-encoding'], head.bytes.length], ['br', 0]);
    const small = await ask('/small', 'br');
    t.like(small.given, { 'content-encoding': undefined, vary: 'accept-encoding' });
    t.is(small.bytes.toString(), '{"ok":true}');
    const streamed = await ask('/events', 'br');
    t.is(streamed.given['content-encoding'], undefined);
    t.is(streamed.bytes.toString(), events);
  });
}
