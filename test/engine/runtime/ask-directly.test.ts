import { createServer } from 'node:http';
import test from 'ava';
import { askDirectly } from '../../../engine/runtime/ask-directly.ts';

test('a question returns status and text, with its method, headers and body', async (t) => {
  const server = createServer((asked, answer) => {
    let body = '';
    asked.on('data', (piece) => (body += piece));
    asked.on('end', () => answer.writeHead(201).end(`${asked.method} ${asked.headers['x-a']} ${body} ü`));
  });
  t.teardown(() => server.close());
  const url = await new Promise<string>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(`http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`);
    });
  });
  const asked = { method: 'POST', headers: { 'x-a': 'b' }, body: 'text', limitMs: 60_000 } as const;
  t.deepEqual(await askDirectly(url, asked), { status: 201, text: 'POST b text ü' });
  await t.throwsAsync(askDirectly(url, { ...asked, maxBytes: 5 }), { message: /too long/ });
});

test('a question fails when its time is over, and when nothing listens', async (t) => {
  const server = createServer(() => undefined);
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const port = await new Promise<number>((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address ? address.port : 0);
    });
  });
  await t.throwsAsync(askDirectly(`http://127.0.0.1:${port}`, { limitMs: 20 }), { name: 'AbortError' });
  await t.throwsAsync(askDirectly('http://127.0.0.1:1', { limitMs: 60_000 }), { code: 'ECONNREFUSED' });
});
