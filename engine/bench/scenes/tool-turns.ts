import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { spreadOf } from '../load/spread.ts';
import { junctorConfigured } from '../targets/junctor.ts';
import type { Row, Scene } from './scene.ts';
import { callItem, startSocketVendor } from './socket-vendor.ts';

const roundTripMs = 30;
const uploadBytesPerMs = 2_500; // 20 Mbit/s
const turns = { full: 30, quick: 10 } as const;
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

/**
 * What `webSocket` of a provider saves per tool turn over a slow line: the bytes that go to the provider, and the time from a request to
 * the first byte of its answer. It needs no other gateway, and neither load generator nor floor.
 */
export const toolTurnsScene: Scene = {
  name: 'tool-turns',
  groups: ['socket'],
  about: `a tool loop of ${turns.full} turns with and without \`webSocket\` of the provider, over a line with a round trip of ${roundTripMs} ms`,
  seconds: ({ quick }) => (quick ? 5 : 15),
  async run({ settings: { quick }, progress }) {
    const rows: Row[] = [];
    for (const webSocket of [false, true]) {
      progress(`tool-turns: ${webSocket ? 'WebSocket' : 'HTTP'}`);
      rows.push(await measure(webSocket, quick ? turns.quick : turns.full));
    }
    return rows;
  },
};

const measure = async (webSocket: boolean, turns: number): Promise<Row> => {
  const upstream = await startSocketVendor();
  const line = await startLine(upstream.port);
  const provider = { name: 'p', baseUrl: `${line.url}/v1/responses`, apiKey: 'k', models: ['m'], webSocket };
  const target = junctorConfigured('junctor', () => ({ LOG: false, Providers: [provider] }), []);
  const gateway = await target.start({ upstreamUrl: line.url, upstream: 'responses', workers: 1, env: {} });
  const row = { scene: 'tool-turns', pair: 'responses→responses', unit: 'request' } as const;
  const participant = webSocket ? 'WebSocket' : 'HTTP';
  try {
    const input: object[] = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Mend it.' }] }];
    const [firstByteMs, wholeMs, sent]: [number[], number[], number[]] = [[], [], []];
    for (let turn = 1; turn <= turns; turn += 1) {
      const before = line.state.up;
      const startMs = performance.now();
      const answer = await fetch(`${gateway.baseUrl}/v1/responses`, {
        method: 'POST',
        body: JSON.stringify({ model: 'p,m', stream: true, store: false, instructions, prompt_cache_key: 'c', input }),
      });
      const reader = answer.body?.getReader();
      await reader?.read();
      firstByteMs.push(performance.now() - startMs);
      while (!(await reader?.read())?.done);
      wholeMs.push(performance.now() - startMs);
      if (!answer.ok) return { ...row, participant, failed: `turn ${turn}: status ${answer.status}` };
      sent.push(line.state.up - before);
      const { type, call_id, name, arguments: written } = callItem(turn);
      input.push(
        { type, call_id, name, arguments: written },
        { type: 'function_call_output', call_id, output: result },
      );
    }
    const kb = (bytes = 0): string => `${(bytes / 1_000).toFixed(1)} KB`;
    const ms = (value = 0): string => `${value.toFixed(0)} ms`;
    return {
      ...row,
      participant,
      latencyMs: spreadOf(wholeMs),
      note:
        `sent in turn 2: ${kb(sent[1])}, in turn ${turns}: ${kb(sent.at(-1))}, in all: ${kb(line.state.up)}; ` +
        `first byte in turn 1: ${ms(firstByteMs[0])}, in turn ${turns}: ${ms(firstByteMs.at(-1))}`,
    };
  } finally {
    await gateway.stop();
    line.close();
    upstream.close();
  }
};
