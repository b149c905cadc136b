import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import test, { type ExecutionContext } from 'ava';
import { openSocket } from '../support/faults/socket-client.ts';
import { startGateway } from '../support/gateway.ts';
import { hasBrowser, startBrowser } from '../support/processes/browser.ts';

const page = readFileSync(new URL('../../docs/running.md', import.meta.url), 'utf8');
/** What the page has a proxy state: the header, and its value. */
const [, header = '', prefix = ''] = /proxy_set_header (\S+) (\/gateway);/.exec(page) ?? [];

/** A proxy that serves a gateway below `/gateway`, whose path it removes or only states. Returns its URL. */
const startProxy = async (t: ExecutionContext, target: string, removes: boolean): Promise<string> => {
  const proxy = createServer((asked, reply) => {
    const path = asked.url ?? '';
    if (!path.startsWith('/gateway/')) {
      reply.writeHead(404).end();
      return;
    }
    const headers = removes ? asked.headers : { ...asked.headers, [header]: prefix };
    const forwarded = request(
      target + (removes ? path.slice('/gateway'.length) : path),
      { method: asked.method ?? 'GET', headers, agent: false },
      (answer) => {
        reply.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(reply);
        answer.once('error', () => reply.destroy());
      },
    );
    forwarded.once('error', () => reply.destroy());
    reply.once('close', () => forwarded.destroy());
    asked.pipe(forwarded);
  });
  t.teardown(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return new Promise((resolve) => {
    proxy.listen(0, '127.0.0.1', () => {
      const address = proxy.address();
      resolve(`http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`);
    });
  });
};

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

browserTest('below a path of a proxy, the interface has its files, its data and its own address', async (t) => {
  const gateway = await startGateway({ Providers: [] });
  t.teardown(gateway.stop);
  const url = await startProxy(t, gateway.baseUrl, true);
  const browser = await startBrowser();
  t.teardown(browser.close);
  const { page, complaints } = await browser.open(`${url}/gateway/ui/#/clients`);
  await page.getByText(`${url}/gateway`, { exact: false }).first().waitFor();
  t.is(await page.evaluate('window.location.pathname'), '/gateway/ui');
  t.deepEqual(complaints, []);
});

test('a listed proxy may leave its path in; what others say of one does not count', async (t) => {
  const gateway = await startGateway({ Providers: [], APIKEY: 'k', PROXIES: ['127.0.0.1'] });
  t.teardown(gateway.stop);
  const url = await startProxy(t, gateway.baseUrl, false);
  const headers = { 'x-api-key': 'k' };
  t.is((await fetch(`${url}/gateway/health`, { headers })).status, 200);
  t.is((await fetch(`${url}/gateway/api/service`, { headers })).status, 200);
  const socket = await openSocket(t, `${gateway.baseUrl}/gateway/v1/responses`, { ...headers, [header]: prefix });
  t.is(socket.socket.readyState, 1);
  const slash = await fetch(`${url}/gateway/ui/`, { redirect: 'manual' });
  t.is(new URL(slash.headers.get('location') ?? '', slash.url).pathname, '/gateway/ui');

  const open = await startGateway({ Providers: [], APIKEY: 'k' });
  t.teardown(open.stop);
  const given = { ...headers, [header]: prefix };
  t.is((await fetch(`${open.baseUrl}/gateway/health`, { headers: given })).status, 404);
});
