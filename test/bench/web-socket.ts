import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { startGateway } from '../support/gateway.ts';
import { callItem, responseEvents, startSocketUpstream } from '../support/upstreams/socket-upstream.ts';

/*
 * What `webSocket` of a provider saves per tool turn, over a line with this round trip and upload rate: the bytes that go to the provider, and the
 * time from a request to the first byte of its answer. Run with `node --import=tsx test/bench/web-socket.ts`.
 */

const roundTripMs = 30;
const uploadBytesPerMs = 2_500; // 20 Mbit/s
const turns = 30;
const instructions = 'Work with care. '.repeat(1_500);
const result = 'A line of a file that was read.\n'.repeat(250);

/** Passes bytes on as a line does. Counts those that go up. */
const startLine = async (port: number) => {
  const state = { up: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1');
    pass(near, far, uploadBytesPerMs, (bytes) => {
      state.up += bytes;
    });
    pass(far, near, Number.POSITIVE_INFINITY, () => {});
    for (const socket of [near, far]) {
      sockets.add(socket.setNoDelay(true).on('error', () => {}));
      socket.on('close', () => {
        near.destroy();
        far.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // A TCP server's address is always of this kind.
  const { port: own } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${own}`, state, close };
};

const pass = (from: Socket, to: Socket, bytesPerMs: number, count: (bytes: number) => void): void => {
  let freeAtMs = 0;
  from.on('data', (chunk) => {
    count(chunk.length);
    freeAtMs = Math.max(freeAtMs, performance.now()) + chunk.length / bytesPerMs;
    setTimeout(() => to.destroyed || to.write(chunk), freeAtMs - performance.now() + roundTripMs / 2);
  });
};

const measure = async (webSocket: boolean): Promise<string> => {
  const upstream = await startSocketUpstream({
    script: (_, count) => ({ events: responseEvents(`resp_${count}`, [callItem(String(count), '{"path":"a.ts"}')]) }),
  });
  const line = await startLine(Number(new URL(upstream.url).port));
  const provider = { name: 'p', baseUrl: `${line.url}/v1/responses`, apiKey: 'k', models: ['m'], webSocket };
  const gateway = await startGateway({ LOG: false, Providers: [provider] });
  const input: object[] = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Mend it.' }] }];
  const times: number[] = [];
  let [firstTurnUp, lastTurnUp] = [0, 0];
  for (let turn = 1; turn <= turns; turn += 1) {
    const before = line.state.up;
    const startMs = performance.now();
    const answer = await fetch(`${gateway.baseUrl}/v1/responses`, {
      method: 'POST',
      body: JSON.stringify({ model: 'p,m', stream: true, store: false, instructions, prompt_cache_key: 'c', input }),
    });
    const reader = answer.body?.getReader();
    await reader?.read();
    times.push(performance.now() - startMs);
    while (!(await reader?.read())?.done);
    lastTurnUp = line.state.up - before;
    if (turn === 2) firstTurnUp = lastTurnUp;
    const { id: _, status: __, ...call } = callItem(String(turn), '{"path":"a.ts"}');
    input.push(call, { type: 'function_call_output', call_id: call.call_id, output: result });
  }
  await gateway.stop();
  line.close();
  await upstream.close();
  const kb = (bytes: number) => `${(bytes / 1_000).toFixed(1)} KB`;
  const ms = (value: number | undefined) => `${(value ?? 0).toFixed(0)} ms`;
  const median = times.slice(1).sort((a, b) => a - b)[Math.floor((turns - 1) / 2)];
  const bytes = `up in turn 2: ${kb(firstTurnUp)}, in turn ${turns}: ${kb(lastTurnUp)}, in all: ${kb(line.state.up)}`;
  const waits = `first byte in turn 1: ${ms(times[0])}, later (median): ${ms(median)}, in turn ${turns}: ${ms(times.at(-1))}`;
  return `${webSocket ? 'WebSocket' : 'HTTP'}: ${bytes}; ${waits}`;
};

for (const webSocket of [false, true]) process.stdout.write(`${await measure(webSocket)}\n`);
