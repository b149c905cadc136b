import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import test from 'ava';
import type { FaultKind } from '../../../engine/model/fault.ts';
import { classifyFailure } from '../../../engine/upstream/health/failure-class.ts';
import { testTime } from '../../support/test-time.ts';
import { until } from '../../support/until.ts';
import { startUpstream, type UpstreamAnswer } from '../../support/upstreams/upstream.ts';
import { callOf, read, start, testUpstreams } from './harness.ts';

/** A TCP server that takes connections and says nothing. */
const silentServer = async (): Promise<{
  readonly server: Server;
  readonly port: number;
  readonly sockets: Socket[];
}> => {
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.on('error', () => {}).resume()));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // A TCP server's address is always of this kind; `string` is for pipes.
  return { server, port: (server.address() as AddressInfo).port, sockets };
};

test('R1 a refused connection is unreachable, at once, and names host and cause but no secret', async (t) => {
  // A port that was just closed may be another test's by now; no service has port 1.
  const { fault, answer } = await read(testUpstreams(), callOf('http://127.0.0.1:1'));
  t.is(answer, undefined);
  t.is(fault?.kind, 'upstream-unreachable');
  t.is(fault?.message, "The upstream 127.0.0.1:1 can't be reached: it refused the connection.");
});

test('R1 an unknown host name is unreachable', async (t) => {
  const { fault } = await read(testUpstreams(), callOf('http://nobody.invalid'));
  t.is(fault?.kind, 'upstream-unreachable');
  t.regex(fault?.message ?? '', /^The upstream nobody\.invalid can't be reached: its host name/);
});

test('R1 a server that speaks no TLS is unreachable', async (t) => {
  const upstream = await startUpstream(() => 'never');
  t.teardown(() => upstream.close());
  const { fault } = await read(testUpstreams(), callOf(upstream.url.replace('http:', 'https:')));
  t.is(fault?.kind, 'upstream-unreachable');
  t.regex(fault?.message ?? '', /TLS handshake failed \(E/);
});

test('R1 a TLS handshake without an answer is a timeout', async (t) => {
  const { server, port, sockets } = await silentServer();
  t.teardown(() => server.close());
  const from = performance.now();
  const { fault } = await read(testUpstreams({ connectMs: 300 }), callOf(`https://127.0.0.1:${port}`));
  const tookMs = performance.now() - from;
  t.true(tookMs >= 295, `${tookMs} ms`);
  t.is(fault?.kind, 'upstream-timeout');
  t.is(fault?.message, `The upstream 127.0.0.1:${port} can't be reached: no connection within 0.3 s.`);
  await Promise.all(sockets.map((socket) => socket.closed || once(socket, 'close')));
});

test('R1 a TCP connection that is never accepted is a timeout', async (t) => {
  // Blocked for good, the child takes no connection; its queue holds two, and later ones get no answer at all.
  const script =
    "require('net').createServer().listen({port:0,host:'127.0.0.1',backlog:1},function(){" +
    "require('fs').writeSync(1,String(this.address().port));Atomics.wait(new Int32Array(new SharedArrayBuffer(4)),0,0)})";
  const child = spawn(process.execPath, ['-e', script]);
  t.teardown(() => child.kill('SIGKILL'));
  const [text] = await once(child.stdout, 'data');
  const port = Number(text);
  const fillers = Array.from({ length: 4 }, () => connect(port, '127.0.0.1').on('error', () => {}));
  t.teardown(() => {
    for (const socket of fillers) socket.destroy();
  });
  await Promise.all(fillers.slice(0, 2).map((socket) => once(socket, 'connect')));
  const { fault } = await read(testUpstreams({ connectMs: 300 }), callOf(`http://127.0.0.1:${port}`));
  t.is(fault?.kind, 'upstream-timeout');
});

test('R2 no head in time is a timeout', async (t) => {
  const upstream = await startUpstream(() => 'never');
  t.teardown(() => upstream.close());
  const from = performance.now();
  const { fault, answer } = await read(testUpstreams({ firstByteMs: 1000 }), callOf(upstream.url));
  const tookMs = performance.now() - from;
  t.true(tookMs >= 990, `${tookMs} ms`);
  t.is(answer, undefined);
  t.is(fault?.kind, 'upstream-timeout');
  t.is(fault?.message, `The upstream 127.0.0.1:${upstream.port} gave no answer within 1 s.`);
  await upstream.requests[0]?.closed;
});

test('R2 interim heads without end do not put off the time for the answer', async (t) => {
  const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
  const server = createServer((socket) => {
    let left = 30;
    const send = setInterval(() => {
      left -= 1;
      socket.write(left > 0 ? early : 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
      if (left === 0) clearInterval(send);
    }, 100);
    socket
      .on('error', () => {})
      .on('close', () => clearInterval(send))
      .resume();
  });
  t.teardown(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { fault, answer } = await read(testUpstreams({ firstByteMs: 400 }), callOf(`http://127.0.0.1:${port}`));
  t.is(answer, undefined);
  t.is(fault?.kind, 'upstream-timeout');
  t.is(fault?.message, `The upstream 127.0.0.1:${port} gave no answer within 0.4 s.`);
});

for (const [name, plan, callMs] of [
  ['before its answer', 'never', 60_000],
  ['in an answer that goes on', { pieces: ['a'], finish: 'stall' }, 60_000],
  ['with a limit of its provider', { pieces: ['a'], finish: 'stall' }, 0],
] as const) {
  test(`R2 a call that lasts too long ends ${name}`, async (t) => {
    const upstream = await startUpstream(() => plan);
    t.teardown(upstream.close);
    const time = testTime();
    const timeouts = callMs === 0 ? { callMs: 60_000 } : undefined;
    const { outcome, chunks } = start(testUpstreams({ clock: time.clock, callMs }), callOf(upstream.url, { timeouts }));
    const awaited = plan === 'never' ? 0 : 1;
    await until(() => upstream.requests.length === 1 && chunks.length === awaited);
    time.pass(59_999);
    time.pass(1);
    const { fault, bytes } = await outcome;
    t.is(bytes.toString(), 'a'.repeat(awaited));
    t.is(fault?.kind, 'upstream-timeout');
    t.is(
      fault?.message,
      `The upstream 127.0.0.1:${upstream.port} hasn't finished its answer within 60 s, the limit of a call.`,
    );
    t.is(fault && classifyFailure(fault), 'persistent', 'the upstream may be at work, and charge for it');
    await upstream.requests[0]?.closed;
  });
}

test('R2 calls have no longest time by default, and leave no timers', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a'] }));
  t.teardown(upstream.close);
  const time = testTime();
  const upstreams = testUpstreams({ clock: time.clock });
  t.is((await read(upstreams, callOf(upstream.url))).error, undefined);
  t.is(time.timers(), 1, 'that of the clock itself');
  await upstreams.close();
  t.is(time.timers(), 0);
});

test('R2 a body that falls silent is a timeout, after what came before', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: ['a', 300, 'b'], finish: 'stall' }));
  t.teardown(() => upstream.close());
  const { fault, answer, bytes } = await read(testUpstreams({ idleMs: 1000 }), callOf(upstream.url));
  t.is(answer?.status, 200);
  t.is(bytes.toString(), 'ab');
  t.is(fault?.kind, 'upstream-timeout');
  t.regex(fault?.message ?? '', /sent nothing for 1 s in the middle of its answer/);
  await upstream.requests[0]?.closed;
});

const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n';
const broken: readonly (readonly [string, UpstreamAnswer | 'reset' | 'close', FaultKind, string | undefined])[] = [
  ['closed before the head', 'close', 'upstream-cut', undefined],
  ['reset before the head', 'reset', 'upstream-cut', undefined],
  ['closed within the head', { raw: `${head}x-a: `, finish: 'end' }, 'upstream-cut', undefined],
  ['chunks without their end', { pieces: ['abc'], finish: 'close' }, 'upstream-cut', 'abc'],
  ['reset within the body', { pieces: ['abc'], finish: 'reset' }, 'upstream-cut', 'abc'],
  ['shorter than its length', { raw: `${head}content-length: 9\r\n\r\nabc` }, 'upstream-cut', 'abc'],
  [
    'shorter, and to be closed',
    { raw: `${head}connection: close\r\ncontent-length: 9\r\n\r\nabc` },
    'upstream-cut',
    'abc',
  ],
  [
    'chunks without their end, to be closed',
    { raw: `${head}connection: close\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n` },
    'upstream-cut',
    'abc',
  ],
  ['no HTTP', { raw: 'SSH-2.0-OpenSSH_9.6\r\n' }, 'upstream-garbled', undefined],
  ['a bad status line', { raw: 'HTTP/1.1 2x0 OK\r\n\r\n' }, 'upstream-garbled', undefined],
  ...['000', '001', '099', '0200'].map(
    (status) => [`status ${status}`, { raw: `HTTP/1.1 ${status} OK\r\n\r\n` }, 'upstream-garbled', undefined] as const,
  ),
  ['a bad chunk size', { raw: `${head}transfer-encoding: chunked\r\n\r\nzz\r\n` }, 'upstream-garbled', ''],
  [
    'another protocol, unasked',
    { raw: 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n' },
    'upstream-garbled',
    undefined,
  ],
  ['too long a head', { raw: `${head}x-long: ${'x'.repeat(70_000)}\r\n\r\n` }, 'upstream-garbled', undefined],
];

for (const [title, answer, kind, body] of broken) {
  test(`${title}: ${kind}`, async (t) => {
    const upstream = await startUpstream(() => answer);
    t.teardown(() => upstream.close());
    const outcome = await read(testUpstreams(), callOf(upstream.url));
    t.is(outcome.fault?.kind, kind, String(outcome.error));
    t.is(outcome.answer && outcome.bytes.toString(), body);
    t.is(upstream.requests.length, 1, 'sent once');
    t.notRegex(outcome.fault?.message ?? '', /canary|UND_|HPE_|\n/);
  });
}

test('reset, with a body as long as its connection: upstream-cut', async (t) => {
  let reset = () => {};
  const before = new Promise<void>((resolve) => {
    reset = resolve;
  });
  const upstream = await startUpstream(() => ({ raw: `${head}\r\nabc`, finish: 'reset', before }));
  t.teardown(() => upstream.close());
  const { outcome, chunks } = start(testUpstreams(), callOf(upstream.url));
  // Node takes a reset that comes together with data for an end of the connection.
  await until(() => chunks.length > 0);
  reset();
  const { fault, bytes } = await outcome;
  t.is(fault?.kind, 'upstream-cut');
  t.is(bytes.toString(), 'abc');
});

test('a body that ends with its connection is complete', async (t) => {
  const upstream = await startUpstream(() => ({ raw: 'HTTP/1.0 200 OK\r\n\r\nabc' }));
  t.teardown(() => upstream.close());
  const { error, bytes } = await read(testUpstreams(), callOf(upstream.url));
  t.is(error, undefined);
  t.is(bytes.toString(), 'abc');
});

test("a header that can't be sent is the configuration's fault and isn't repeated", async (t) => {
  const upstream = await startUpstream(() => ({}));
  t.teardown(() => upstream.close());
  const upstreams = testUpstreams();
  const { fault } = await read(upstreams, callOf(upstream.url, { headers: { authorization: 'Bearer canary\n' } }));
  t.is(fault?.kind, 'misconfigured');
  t.regex(fault?.message ?? '', /invalid authorization header/);
  t.notRegex(fault?.message ?? '', /canary/);
  t.is((await read(upstreams, callOf(upstream.url))).error, undefined, 'later calls go on');
});

test("a scheme that is none of HTTP is the configuration's fault", async (t) => {
  t.is((await read(testUpstreams(), callOf('ftp://h'))).fault?.kind, 'misconfigured');
});
