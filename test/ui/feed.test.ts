import test from 'ava';
import type { Page, Request } from 'playwright-core';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { hasBrowser, startBrowser, type TestBrowser } from '../support/processes/browser.ts';
import { until } from '../support/until.ts';
import { chatReply } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../support/upstreams/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let browser: TestBrowser;

test.before(async () => {
  if (!hasBrowser) return;
  upstream = await startUpstream(() => jsonAnswer(chatReply('Hello.')));
  gateway = await startGateway({
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['small'] }],
    Router: { default: 'p,small' },
  });
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.close();
});

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

const send = async (id: string): Promise<void> => {
  const body = JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hello' }] });
  const headers = { 'x-request-id': id };
  await (await fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', headers, body })).text();
};

/** The paths that a page asks from now on, and the feeds among them that are open. */
const watch = (page: Page) => {
  const asked: string[] = [];
  const open = new Set<Request>();
  const onRequest = (request: Request): void => {
    const { pathname } = new URL(request.url());
    asked.push(pathname);
    if (pathname === '/api/feed') open.add(request);
  };
  const onEnd = (request: Request): void => {
    open.delete(request);
  };
  page.on('request', onRequest).on('requestfinished', onEnd).on('requestfailed', onEnd);
  return {
    asked,
    open,
    stop: () => page.off('request', onRequest).off('requestfinished', onEnd).off('requestfailed', onEnd),
  };
};

const hide = (page: Page, hidden: boolean): Promise<unknown> =>
  page.evaluate(`(() => {
    Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  })()`);

const rowOf = (page: Page, id: string) => page.locator(`a[href="#/requests/${id}"]`);

browserTest(
  'the list of requests lives on one stream, which a hidden tab closes and a visible one opens anew',
  async (t) => {
    await send('before');
    const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/usage`);
    await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
    const { asked, open, stop } = watch(page);
    t.teardown(stop);
    await page.goto(`${gateway.baseUrl}/ui#/`);
    await rowOf(page, 'before').waitFor();
    await send('live');
    await rowOf(page, 'live').waitFor();
    t.is(open.size, 1);
    t.deepEqual(
      asked.filter((path) => ['/api/feed', '/api/activity'].includes(path)),
      ['/api/feed'],
    );

    await hide(page, true);
    await until(() => open.size === 0);
    await send('meanwhile');
    await hide(page, false);
    await rowOf(page, 'meanwhile').waitFor();
    t.is(open.size, 1);
    await page.goto(`${gateway.baseUrl}/ui#/usage`);
    await until(() => open.size === 0);
    t.false(asked.includes('/api/requests'));
    t.deepEqual(complaints, []);
  },
);

browserTest(
  'rows stay where the pointer, the focus or a scrolled window is, until the new ones are asked for',
  async (t) => {
    for (const id of ['r1', 'r2', 'r3']) await send(id);
    const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
    const fresh = page.getByRole('button', { name: /^\d+ new$/ });
    const arrives = async (id: string): Promise<void> => {
      await send(id);
      await fresh.waitFor();
      t.is(await rowOf(page, id).count(), 0, id);
    };
    await rowOf(page, 'r2').hover();
    const place = await rowOf(page, 'r2').boundingBox();
    await arrives('pointed');
    t.deepEqual(await rowOf(page, 'r2').boundingBox(), place, 'nothing has moved');
    await fresh.click();
    await rowOf(page, 'pointed').waitFor();
    await arrives('still-pointed');
    await page.mouse.move(0, 0);
    await rowOf(page, 'still-pointed').waitFor();
    await fresh.waitFor({ state: 'detached' });

    await rowOf(page, 'r3').focus();
    await arrives('focused');
    await page.evaluate('document.activeElement.blur()');
    await rowOf(page, 'focused').waitFor();

    await page.setViewportSize({ width: 1280, height: 160 });
    await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
    await arrives('scrolled');
    await fresh.press('Enter');
    await rowOf(page, 'scrolled').waitFor();
    t.is(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'Request list');
    t.deepEqual(complaints, []);
  },
);

browserTest('without the stream the list of requests asks each second, until there is one again', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/usage`);
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  await page.route('**/api/feed?*', (route) => route.fulfill({ status: 503, json: { message: 'no' } }));
  const { asked, open, stop } = watch(page);
  t.teardown(stop);
  await page.goto(`${gateway.baseUrl}/ui#/`);
  await until(() => asked.includes('/api/requests') && asked.includes('/api/activity'));
  await send('asked');
  await rowOf(page, 'asked').waitFor();
  await page.unroute('**/api/feed?*');
  await until(() => open.size === 1);
  await send('streamed');
  await rowOf(page, 'streamed').waitFor();
  t.deepEqual(
    complaints.filter((line) => !/503.*\/api\/feed/.test(line)),
    [],
  );
});

browserTest('a log is read when the stream says that it grew', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/usage`);
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  const { asked, open, stop } = watch(page);
  t.teardown(stop);
  await page.goto(`${gateway.baseUrl}/ui#/logs?text=in-the-log`);
  await until(() => open.size === 1 && asked.includes('/api/logs'));
  await page.getByText('live', { exact: true }).waitFor();
  await send('in-the-log');
  await page.getByRole('region', { name: 'app.log' }).getByText('in-the-log').first().waitFor();
  t.deepEqual(complaints, []);
});
