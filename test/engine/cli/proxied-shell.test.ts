import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { commandRig } from '../../support/processes/command.ts';

/**
 * What NODE_USE_ENV_PROXY does, for releases that don't know it: `fetch` and the shared agent of `node:http` go to the proxy of
 * HTTP_PROXY.
 */
const proxied = `data:text/javascript,${encodeURIComponent(`
  import http from 'node:http';
  const proxy = new URL(process.env.HTTP_PROXY);
  const given = globalThis.fetch;
  globalThis.fetch = (url, more) => given(new URL(new URL(url).pathname, proxy), more);
  http.globalAgent.createConnection = (options, connected) =>
    http.Agent.prototype.createConnection.call(http.globalAgent, { ...options, host: proxy.hostname, port: proxy.port }, connected);
`)}`;

test('in a shell with a proxy, every question to the service goes past it', async (t) => {
  const asked: string[] = [];
  const proxy = createServer((request, answer) => {
    asked.push(request.url ?? '');
    answer.writeHead(502).end();
  });
  t.teardown(() => proxy.close());
  const port = await new Promise<number>((started) => {
    proxy.listen(0, '127.0.0.1', () => {
      const address = proxy.address();
      started(typeof address === 'object' && address ? address.port : 0);
    });
  });
  const { home, run } = await commandRig(t, { Providers: [] });
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: `http://127.0.0.1:${port}`, NODE_OPTIONS: `--import=${proxied}` };
  const started = await run(['start', '--daemon'], { env });
  t.is(started.code, 0, started.err);
  const status = await run(['status'], { env });
  t.is(status.code, 0, status.out);
  const restarted = await run(['restart'], { env });
  t.is(restarted.code, 0, restarted.err);
  const ran = await run(['run', process.execPath, '-e', 'console.log(process.env.NO_PROXY)'], { env });
  t.like(ran, { code: 0, out: '127.0.0.1,localhost\n' }, ran.err);
  const health = resolve(import.meta.dirname, '../../../engine/cli/health.js');
  const { PATH = '' } = process.env;
  await t.notThrowsAsync(
    promisify(execFile)(process.execPath, [health], { env: { ...env, PATH, JUNCTOR_HOME: home } }),
  );
  t.deepEqual(asked, []);
});
