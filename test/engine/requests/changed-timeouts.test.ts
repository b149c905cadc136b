import { createServer } from 'node:http';
import test from 'ava';
import { startGateway } from '../../support/gateway.ts';

const answer = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
});

test('a change of TIMEOUTS applies to the next call, over the same connection', async (t) => {
  let connections = 0;
  let isSilent = false;
  const upstream = createServer((request, reply) => {
    request.resume();
    if (!isSilent) reply.writeHead(200, { 'content-type': 'application/json' }).end(answer);
  }).on('connection', () => (connections += 1));
  // The connection is kept however slow the machine is.
  upstream.keepAliveTimeout = 600_000;
  const port = await new Promise<number>((resolve) => {
    upstream.listen(0, '127.0.0.1', () => {
      const address = upstream.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
  t.teardown(() => {
    upstream.closeAllConnections();
    upstream.close();
  });
  const written = {
    Providers: [{ name: 'p', baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: '', models: ['m'] }],
    Router: { default: 'p,m' },
    RETRY: { attempts: 0 },
  };
  const gateway = await startGateway(written);
  t.teardown(gateway.stop);
  const ask = (): Promise<Response> =>
    fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }),
    });
  t.is((await ask()).status, 200);
  for (const TIMEOUTS of [{ drainMs: 1_000 }, { stageMs: 7_000 }, { idleMs: 9_000 }, { firstByteMs: 50 }]) {
    const saved = await fetch(`${gateway.baseUrl}/api/config`, {
      method: 'POST',
      body: JSON.stringify({ PORT: 0, ...written, TIMEOUTS }),
    });
    t.is(saved.status, 200, await saved.text());
    t.is((await ask()).status, 200);
  }
  t.is(connections, 1);
  isSilent = true;
  const late = await ask();
  t.is(late.status, 504, await late.text());
});
