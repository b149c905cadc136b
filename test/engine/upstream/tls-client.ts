import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { UpstreamCall, Upstreams } from '../../../engine/upstream/upstreams.ts';
import { messageItem } from '../../support/upstreams/socket-upstream.ts';
import { callOf, overSocket, read, testUpstreams } from './harness.ts';

/** Run by `tls.test.ts` in a process that trusts its certificate: calls the server on the port given, prints what came. */
const port = Number(process.argv[2]);
const isOverSocket = process.argv[3] === 'socket';

const connects: string[] = [];
const proxy = createServer();
proxy.on('connect', (incoming: IncomingMessage, socket: Socket) => {
  connects.push(incoming.url ?? '');
  const onward = connect(port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    socket.pipe(onward).pipe(socket);
  });
});
await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
// A TCP server's address is always of this kind; `string` is for pipes.
const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

/** A call, which continues the conversation of the one before where it goes over WebSocket. */
const callTo = (url: string, count = 0): UpstreamCall => {
  const input = [{ role: 'user' }, messageItem(`${latest}`, `answer ${latest}`), { role: 'user' }].slice(
    0,
    2 * count + 1,
  );
  return callOf(url, isOverSocket ? { socket: overSocket('one'), body: JSON.stringify({ stream: true, input }) } : {});
};

/** The number of the latest answer over WebSocket. */
let latest = 0;

const twice = async (upstreams: Upstreams, url: string): Promise<string[]> => {
  const results: string[] = [];
  for (let count = 0; count < 2; count += 1) {
    const { answer, bytes, error } = await read(upstreams, callTo(url, count));
    latest += 1;
    const said = isOverSocket ? `over ${answer?.headers.upgrade}` : bytes;
    results.push(error === undefined ? `${answer?.status} ${said}` : String(error));
  }
  return results;
};

const direct = await twice(testUpstreams(), `https://127.0.0.1:${port}`);
const wrong = await read(testUpstreams(), callTo(`https://localhost:${port}`));
const wrongName = wrong.fault?.message.replace(/.*reached: |\.$/g, '');
const proxied = await twice(testUpstreams({ environment: { HTTPS_PROXY: proxyUrl } }), 'https://upstream.test');
process.stdout.write(JSON.stringify({ direct, wrongName, proxied, connects }));
process.exit();
