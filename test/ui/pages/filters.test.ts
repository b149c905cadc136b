import test from 'ava';
import type { Page } from 'playwright-core';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { keptFile } from '../../support/kept-requests.ts';
import { hasBrowser, startBrowser, type TestBrowser } from '../../support/processes/browser.ts';
import { until } from '../../support/until.ts';

// What is kept of an earlier process: agents' sessions, then many single requests, of all kinds.
const now = Date.now();
const minute = 60_000;
const session = (name: string, hoursAgo: number, count: number) =>
  Array.from({ length: count }, (_, n) => ({
    id: `${name}-${n}`,
    session: name,
    endedAt: now - hoursAgo * 60 * minute + n * 1_000,
  }));
const single = (n: number) => ({
  id: `single-${n}`,
  session: `single-${n}`,
  endedAt: now - 50 * minute + n * 10_000,
  durationMs: n === 7 ? 64_000 : 700,
  firstByteMs: [90, 1_500, 6_000, 12_000][n % 4] ?? 90,
  cost: n === 7 ? 12_345_678_901 : 123_456 * (n + 1),
  usage: { input: 123_456, output: 98_765, cacheRead: 45_678, cacheWrite: 0, reasoning: 0 },
  client: `client-${n % 3}`,
  provider: n % 2 === 0 ? 'fast' : 'staging',
  status: n % 9 === 0 ? 401 : 200,
  ...(n % 9 === 0 && { fault: { kind: 'upstream' as const, message: 'Incorrect API key provided' } }),
  title: `Single ${n}`,
});

let gateway: TestGateway;
let browser: TestBrowser;

test.before(async () => {
  if (!hasBrowser) return;
  const requests = [
    ...session('past', 72, 3),
    ...session('morning', 9, 43),
    ...session('noon', 6, 12),
    ...Array.from({ length: 260 }, (_, n) => single(n)),
  ];
  gateway = await startGateway({ LOG: false, Providers: [] }, {}, { files: keptFile(requests) });
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await gateway?.stop();
});

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

const rowsOf = (page: Page) => page.getByRole('region', { name: 'Request list' }).getByRole('row');

browserTest('each choice of each filter and each sorting is answered, also of sessions', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/requests`);
  const tried: string[] = [];
  for (const [hash, names] of [
    ['', ['Model', 'Provider', 'Client', 'Status', 'Duration', 'First byte', 'Cost', 'Time']],
    ['?group=session', ['Time']],
  ] as const) {
    await page.goto(`${gateway.baseUrl}/ui#/requests${hash}`);
    for (const name of names) {
      const field = page.getByRole('combobox', { name, exact: true });
      await field.waitFor();
      const usual = await field.inputValue();
      for (const label of await field.locator('option').allInnerTexts()) {
        const before = await field.inputValue();
        const answered = page.waitForResponse(/\/api\/(?:history|sessions)\b/);
        await field.selectOption({ label });
        // What was chosen before asks for nothing.
        if ((await field.inputValue()) === before) void answered.catch(() => undefined);
        else t.is((await answered).status(), 200, `${name} ${label}`);
        tried.push(label);
      }
      await field.selectOption(usual);
    }
  }
  for (const name of ['Tokens', 'Cost', 'Duration']) {
    await page.goto(`${gateway.baseUrl}/ui#/requests`);
    const answered = page.waitForResponse(/\/api\/history\?.*sort=/);
    await page.getByRole('button', { name, exact: true }).click();
    t.is((await answered).status(), 200, name);
  }
  t.is(tried.filter((label) => label === 'Last 15 min').length, 2);
  t.true(tried.length > 30, tried.join());
  t.deepEqual(complaints, []);
});

browserTest('the sessions of agents stay in the list, whatever single requests come after them', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/requests?group=session`);
  const list = page.getByRole('region', { name: 'Sessions' });
  for (const name of ['morning', 'noon']) await list.getByRole('row', { name: new RegExp(name) }).waitFor();
  t.is(await list.getByRole('row').count(), 3, 'and the heading');
  await page.getByRole('searchbox', { name: 'Filter' }).fill('morning');
  await until(async () => (await list.getByRole('row').count()) === 2);
  t.deepEqual(complaints, []);
});

browserTest('rows of one model of two providers differ, and no cost, duration or time is cut', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/requests`);
  await rowsOf(page).nth(20).waitFor();
  const models = await page.locator('td[data-column="model"]').allInnerTexts();
  t.deepEqual([...new Set(models)].toSorted(), ['any ▸ fast,small', 'any ▸ staging,small']);
  const cut = `[...document.querySelectorAll('td:is([data-column=cost], [data-column=duration], [data-column=time])')]
    .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)`;
  t.deepEqual(await page.evaluate(cut), []);
  // Of another day, they have it, too.
  await page.goto(`${gateway.baseUrl}/ui#/requests?session=past`);
  await until(async () => (await rowsOf(page).count()) === 4);
  t.regex(await page.locator('td[data-column="time"]').first().innerText(), /^\d+ \w{3,4}, \d\d:\d\d$/);
  t.deepEqual(await page.evaluate(cut), []);
  t.deepEqual(complaints, []);
});
