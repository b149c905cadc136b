import test from 'ava';
import type { Page } from 'playwright-core';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { keptFile } from '../../support/kept-requests.ts';
import { hasBrowser, startBrowser, type TestBrowser } from '../../support/processes/browser.ts';
import { until } from '../../support/until.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../../support/upstreams/upstream.ts';

let upstream: ScriptedUpstream;
let browser: TestBrowser;

test.before(async () => {
  if (!hasBrowser) return;
  upstream = await startUpstream(() => jsonAnswer(chatReply('Hello.')));
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await upstream?.close();
});

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

const start = (files: Readonly<Record<string, string>> = {}): Promise<TestGateway> =>
  startGateway(
    {
      LOG: false,
      Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['small'] }],
      Router: { default: 'p,small' },
    },
    {},
    { files },
  );

const send = async ({ baseUrl }: TestGateway, model = 'any'): Promise<void> => {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] });
  await (await fetch(`${baseUrl}/v1/chat/completions`, { method: 'POST', body })).text();
};

const rowsOf = (page: Page) => page.getByRole('region', { name: 'Request list' }).getByRole('row');

/** As many requests as this, one a second, the last one a minute ago. */
const kept = (count: number) =>
  keptFile(
    Array.from({ length: count }, (_, n) => ({ id: `kept-${n}`, endedAt: Date.now() - 60_000 - (count - n) * 1_000 })),
  );

const evil = '<img src=x onerror="window.hurt=1">"\'><script>window.hurt=1</script>javascript:window.hurt=1';

browserTest('hostile names, titles and messages are text on each page', async (t) => {
  const long = 'W'.repeat(3_000);
  const names = [evil, long, '\u202egnp.exe\u2066', '../../../etc', '%00%ff?&#', '{{constructor}}'];
  const gateway = await start(
    keptFile(
      names.flatMap((name, n) => [
        {
          ...{
            id: `evil-${n}`,
            endedAt: Date.now() - 60_000 + n,
            provider: name,
            model: name,
            asked: name,
            client: name,
          },
          ...{
            session: name,
            scenario: name,
            title: name,
            status: 502,
            fault: { kind: 'upstream' as const, message: name },
          },
        },
        { id: `evil-again-${n}`, endedAt: Date.now() - 50_000 + n, session: name, title: name, client: name },
      ]),
    ),
  );
  t.teardown(gateway.stop);
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/requests`);
  await rowsOf(page)
    .nth(names.length * 2)
    .waitFor();
  const pages = [
    '#/requests?status=failed',
    '#/requests/evil-0',
    '#/requests?group=session',
    `#/requests?group=session&session=${encodeURIComponent(evil)}`,
    `#/requests?text=${encodeURIComponent(evil)}&client=${encodeURIComponent(evil)}`,
    '#/usage?by=client',
    `#/settings/logs?request=${encodeURIComponent(evil)}`,
    `#/${encodeURIComponent(evil)}`,
  ];
  for (const hash of pages) {
    await page.evaluate(`window.location.hash = ${JSON.stringify(hash)}`);
    await page.getByRole('heading').first().waitFor();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 50)))');
    t.false(await page.evaluate('"hurt" in window'), hash);
    t.is(await page.locator('img, main script').count(), 0, hash);
    t.false(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'), hash);
  }
  t.deepEqual(complaints, []);
});

browserTest('with a clock that is off, new requests pass the filter of time, and the list answers', async (t) => {
  const gateway = await start();
  t.teardown(gateway.stop);
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/requests`);
  const twoHours = 7_200_000;
  for (const off of [twoHours, -2 * twoHours]) {
    await page.evaluate(`(() => { const { now } = Date; Date.now = () => now.call(Date) + ${off}; })()`);
    await page.evaluate("window.location.hash = '#/requests?from=15m'");
    const answered = page.waitForResponse(/\/api\/history/);
    await page.getByRole('searchbox', { name: 'Filter' }).fill('small');
    await answered;
    const before = await rowsOf(page).count();
    await send(gateway);
    await until(async () => (await rowsOf(page).count()) > before);
    await page.evaluate("window.location.hash = '#/requests'");
  }
  t.deepEqual(complaints, []);
});

browserTest('a history that is deleted while it is read ends the list', async (t) => {
  const gateway = await start(kept(700));
  t.teardown(gateway.stop);
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/requests`);
  await rowsOf(page).nth(20).waitFor();
  await fetch(`${gateway.baseUrl}/api/history`, { method: 'DELETE' });
  for (let tries = 0; tries < 40; tries += 1) {
    await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
    await page.evaluate('new Promise((done) => setTimeout(done, 50))');
  }
  t.is(await page.getByText('Could not load').count(), 0);
  await send(gateway);
  await page.reload();
  await until(async () => (await rowsOf(page).count()) === 2);
  t.deepEqual(complaints, []);
});

browserTest('8,000 requests on disk and 50 a second: few rows are drawn, and those that are read stay', async (t) => {
  const gateway = await start(kept(8_000));
  t.teardown(gateway.stop);
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/requests`);
  await rowsOf(page).nth(20).waitFor();
  const under = await rowsOf(page).nth(6).getByRole('link').getAttribute('href');
  await rowsOf(page).nth(6).hover();
  await page.evaluate(`window.frames = { count: 0, longest: 0, last: performance.now(), from: performance.now() };
    const tick = (now) => { const f = window.frames; f.count += 1; f.longest = Math.max(f.longest, now - f.last); f.last = now; requestAnimationFrame(tick); };
    requestAnimationFrame(tick);`);
  const perSecond = 50;
  const seconds = 4;
  const all: Promise<void>[] = [];
  const begun = performance.now();
  for (let n = 0; n < perSecond * seconds; n += 1) {
    const wait = begun + (n * 1_000) / perSecond - performance.now();
    if (wait > 0) await new Promise((done) => setTimeout(done, wait));
    all.push(send(gateway));
  }
  await Promise.all(all);
  await page.getByText(/^\d+ new$/).waitFor();
  const frames = await page.evaluate<string>(
    '`${Math.round((window.frames.count * 1000) / (window.frames.last - window.frames.from))} frames a second, the longest ${Math.round(window.frames.longest)} ms`',
  );
  t.log(frames);
  t.is(
    await rowsOf(page).nth(6).getByRole('link').getAttribute('href'),
    under,
    'the row under the pointer is the same',
  );
  t.true((await rowsOf(page).count()) < 90, 'only rows in sight are drawn');
  await page.mouse.move(0, 0);
  await until(async () => (await rowsOf(page).nth(1).textContent())?.includes('Chat') === true);
  t.deepEqual(complaints, []);
});

browserTest(
  'the playground names who answered by the rules and what that cost; tables of answers are told apart',
  async (t) => {
    const text = '| A | B |\n|---|---|\n| 1 | 2 |\n\nand\n\n| C | D |\n|---|---|\n| 3 | 4 |';
    const usage = { prompt_tokens: 1_000_000, completion_tokens: 0, total_tokens: 1_000_000 };
    const own = await startUpstream(() => jsonAnswer({ ...chatReply(text), usage }));
    t.teardown(own.close);
    const models = [{ name: 'small', price: { input: 1.25, output: 1 } }];
    const gateway = await startGateway({
      LOG: false,
      Providers: [{ name: 'p', baseUrl: `${own.url}/v1`, apiKey: 'k', models }],
      Router: { default: 'p,small' },
    });
    t.teardown(gateway.stop);
    const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/playground`);
    await page.getByLabel('Stream').uncheck();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText(/^p,small · .* · \$1\.25$/).waitFor();
    for (const name of ['Table of A, B', 'Table of C, D']) await page.getByRole('region', { name }).waitFor();
    t.deepEqual(complaints, []);
  },
);
