import { readFile } from 'node:fs/promises';
import test from 'ava';
import type { KeptRequest } from '../../../engine/features/record/schema.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { hasBrowser, pressPair, startBrowser, type TestBrowser, violations } from '../../support/processes/browser.ts';
import { until } from '../../support/until.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../../support/upstreams/upstream.ts';

let upstream: ScriptedUpstream;
let browser: TestBrowser;

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

test.before(async () => {
  if (!hasBrowser) return;
  upstream = await startUpstream(({ text }) =>
    text.includes('"bad"') ? jsonAnswer({ error: { message: 'no capacity' } }, 400) : jsonAnswer(chatReply('Hello.')),
  );
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await upstream?.close();
});

const configOf = (more: object = {}) => ({
  LOG: false,
  Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['good', 'bad'] }],
  Router: { default: 'p,good' },
  ...more,
});

const send = async ({ baseUrl }: TestGateway, model: string, id: string): Promise<void> => {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
  const headers = { 'x-request-id': id };
  await (await fetch(`${baseUrl}/v1/chat/completions`, { method: 'POST', headers, body })).text();
};

/** A file of requests that an earlier process kept, one a second, the last one at this time: `kept-0` is the oldest. */
const keptFile = (count: number, lastMs: number): Readonly<Record<string, string>> => {
  const lines = Array.from({ length: count }, (_, n): KeptRequest => {
    const endedAt = lastMs - (count - 1 - n) * 1_000;
    return {
      endedAt,
      n: n + 1,
      id: `kept-${n}`,
      startedAt: endedAt - 20,
      path: '/v1/chat/completions',
      protocol: 'chat',
      asked: 'any',
      stream: false,
      provider: 'p',
      model: 'good',
      status: 200,
      durationMs: 20,
      losses: [],
      relayed: { request: true, reply: true },
      captured: n === 5,
    };
  });
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return { [`history/${lines[0]?.endedAt}.1-${lastMs - 3_600_000}.jsonl`]: text };
};

browserTest(
  'the history finds requests of an earlier process, page by page, and back leads to where one was',
  async (t) => {
    const gateway = await startGateway(configOf(), {}, { files: keptFile(600, Date.now() - 60_000) });
    t.teardown(gateway.stop);
    const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/history`);
    const list = page.getByRole('region', { name: 'Kept requests' });
    const heading = (id: string) => page.getByRole('heading', { level: 1, name: new RegExp(`\\b${id}\\b`) });
    const row = (id: string) => list.locator(`a[href^="#/requests/${id}?ended="]`);
    await row('kept-599').waitFor();
    await page.getByText('Requests are kept for 30 days.').waitFor();
    // By keyboard: rows that come into sight change their height, and the link may move away below a mouse.
    await page.getByRole('link', { name: 'Older requests' }).press('Enter');
    await row('kept-499').waitFor();
    await page.getByRole('link', { name: 'Newest requests' }).press('Enter');
    await row('kept-599').waitFor();
    await page.goBack();
    await row('kept-499').waitFor();

    await page.getByRole('searchbox', { name: 'Text' }).fill('KEPT-4');
    await page.getByRole('combobox', { name: 'Time' }).selectOption('Last hour');
    await page.getByRole('searchbox', { name: 'Text' }).press('Enter');
    await row('kept-499').waitFor();
    t.is(await page.evaluate('window.location.hash'), '#/history?from=1h&text=KEPT-4');
    // The page before shows the same rows: the link tells them apart.
    await page.getByRole('link', { name: 'Older requests' }).and(page.locator('[href*="text=KEPT-4"]')).press('Enter');
    await row('kept-4').scrollIntoViewIfNeeded();
    const address = await page.evaluate<string>('window.location.hash');
    const top = await page.evaluate<number>('window.scrollY');
    await row('kept-4').click();
    await heading('kept-4').waitFor();
    await page.getByText('This request was not recorded').waitFor();
    await page.getByText('p, good').waitFor();
    await page.keyboard.press('k');
    await heading('kept-40').waitFor();
    await page.goBack();
    await heading('kept-4').waitFor();
    await page.goBack();
    await row('kept-4').waitFor();
    t.is(await list.locator('[aria-current]').getAttribute('href'), await row('kept-4').getAttribute('href'));
    t.true((await page.evaluate<string>('window.location.hash')).startsWith(`${address}&row=`));
    t.is(await page.getByRole('searchbox', { name: 'Text' }).inputValue(), 'KEPT-4');
    await until(async () => Math.abs((await page.evaluate<number>('window.scrollY')) - top) < 80);
    await row('kept-4').click();
    await page.getByRole('link', { name: '← History' }).click();
    await row('kept-4').waitFor();

    // Without the time of its end, it is found too.
    await page.goto(`${gateway.baseUrl}/ui#/requests/kept-5`);
    await page.getByText('The recording of this request is no longer kept').waitFor();
    t.deepEqual(complaints, []);
  },
);

browserTest('a search narrows the history, its export has the same requests, and an empty one says why', async (t) => {
  const gateway = await startGateway(configOf());
  t.teardown(gateway.stop);
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/history`);
  await page.getByText('No requests yet').waitFor();
  for (const [model, id] of [
    ['any', 'one'],
    ['p,bad', 'two'],
    ['p,good', 'three'],
  ] as const)
    await send(gateway, model, id);
  await page.getByRole('button', { name: 'Search' }).click();
  const rows = page.getByRole('region', { name: 'Kept requests' }).locator('tbody tr');
  await rows.nth(2).waitFor();
  const status = page.getByRole('combobox', { name: 'Status' });
  await status.fill('failed');
  await status.press('Escape');
  await status.press('Enter');
  await page.getByText('p, bad').waitFor();
  await until(async () => (await rows.count()) === 1);
  await page.reload();
  await until(async () => (await rows.count()) === 1);
  t.is(await status.inputValue(), 'failed');
  const contentsOf = async (name: string): Promise<string> => {
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name }).click();
    return readFile(await (await downloading).path(), 'utf8');
  };
  t.deepEqual(
    (await contentsOf('Export JSONL'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id),
    ['two'],
  );
  t.is(JSON.parse(await contentsOf('Export HAR')).log.entries[0].response.status, 400);

  await page.getByRole('combobox', { name: 'Time' }).selectOption('Between two times');
  await page.getByLabel('To', { exact: true }).fill('2026-01-02T03:04');
  await page.getByLabel('From', { exact: true }).fill('2026-01-01T00:00');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByText('No requests match').waitFor();
  await page.reload();
  t.is(await page.getByLabel('To', { exact: true }).inputValue(), '2026-01-02T03:04');
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await until(() => page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth'));
    t.deepEqual(await violations(page), [], String(width));
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('link', { name: 'Show all' }).click();
  await rows.nth(2).waitFor();
  t.deepEqual(await violations(page), []);
  await status.fill('teapot');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('alert').getByText('status must be ok, failed, or a status such as 429 or 5xx.').waitFor();
  t.deepEqual(
    complaints.filter((line) => !/400.*\/api\/history/.test(line)),
    [],
  );
});

browserTest('with the history off, its page says how to switch it on', async (t) => {
  const gateway = await startGateway(configOf({ HISTORY: { days: 0 } }));
  t.teardown(gateway.stop);
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/`);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  await pressPair(page, 'g', 'h');
  await page.getByText('The history is off').waitFor();
  await page.getByRole('button', { name: 'Change the setting' }).click();
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await until(() => page.evaluate<boolean>('document.activeElement.dataset.path === "HISTORY.days"'));
  t.deepEqual(complaints, []);
});
