import { readFile } from 'node:fs/promises';
import test from 'ava';
import { startGateway } from '../../support/gateway.ts';
import { hasBrowser, startBrowser, violations } from '../../support/processes/browser.ts';
import { until } from '../../support/until.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

browserTest('the page of usage shows what was asked for, what that cost, and what is not known of it', async (t) => {
  const usage = { prompt_tokens: 1_000_000, completion_tokens: 2_000 };
  const upstream = await startUpstream(({ body }) =>
    Object(body).user === 'fails'
      ? jsonAnswer({ error: { message: 'no' } }, 400)
      : jsonAnswer({ ...chatReply('Hello'), usage }),
  );
  t.teardown(upstream.close);
  const models = [{ name: 'priced', price: { input: 1.25, output: 100 } }, 'unpriced'];
  const gateway = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models }],
    Router: { default: 'p,priced' },
  });
  t.teardown(gateway.stop);
  const send = async (model: string, user = 'works'): Promise<void> => {
    const body = JSON.stringify({ model, user, messages: [{ role: 'user', content: 'Hello' }] });
    await (await fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', body })).text();
  };
  const browser = await startBrowser();
  t.teardown(browser.close);
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/usage`);
  await page.getByText('No requests in this time').waitFor();
  for (const model of ['p,priced', 'any', 'p,unpriced']) await send(model);
  await send('p,priced', 'fails');
  await until(async () => {
    const { total } = JSON.parse(await (await fetch(`${gateway.baseUrl}/api/usage`)).text());
    return total.requests === 4;
  });
  await page.reload();

  const cells = async (name: string, region: RegExp = /^Usage by/): Promise<string> => {
    const row = page.getByRole('region', { name: region }).getByRole('row', { name });
    return (await row.getByRole('cell').allInnerTexts()).join(' | ');
  };
  const sums = page.getByRole('region', { name: 'Usage by model' });
  await sums.getByRole('row', { name: /^Total 4\b/ }).waitFor();
  t.is(await cells('p,priced 3'), 'p,priced | 3 | 1 | 0 | 0 | 2,000,000 | 0 | 0 | 4,000 | 0 | $2.90');
  t.is(await cells('p,unpriced 1'), 'p,unpriced | 1 | 0 | 0 | 0 | 1,000,000 | 0 | 0 | 2,000 | 0 | –');
  t.is(await cells('Total'), 'Total | 4 | 1 | 0 | 0 | 3,000,000 | 0 | 0 | 6,000 | 0 | ≥ $2.90');
  await page.getByRole('img', { name: 'Requests by hour: 4 requests in all.' }).waitFor();
  await page.getByRole('img', { name: 'Cost by hour: ≥ $2.90 in all.' }).waitFor();
  await page.getByRole('img', { name: /^Time to first byte by hour: median .* 95 % within / }).waitFor();
  t.regex(await cells('p,unpriced', /^Times by/), /^p,unpriced(?: \| [\d.]+ m?s){9}$/);
  t.is(await cells('p,priced $1.25', /^Prices/), 'p,priced | $1.25 | $100 | The configuration');
  t.is(await cells('p,unpriced –', /^Prices/), 'p,unpriced | – | – | Not known: set it in the configuration');

  await page.getByRole('radio', { name: '1 hour' }).focus();
  await page.keyboard.press('Space');
  await page.getByRole('img', { name: 'Requests by minute: 4 requests in all.' }).waitFor();
  await page.getByRole('img', { name: 'Cost by minute: ≥ $2.90 in all.' }).waitFor();
  await sums.getByRole('row', { name: /^Total 4\b/ }).waitFor();
  t.is(await page.evaluate('window.location.hash'), '#/usage?range=1h&by=model');

  await page.getByRole('radio', { name: '7 days' }).focus();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('img', { name: /^Requests by day/ }).waitFor();
  await page.getByLabel('Group by').selectOption('Scenario');
  await page
    .getByRole('region', { name: 'Usage by scenario' })
    .getByRole('row', { name: /^explicit 3\b/ })
    .waitFor();
  t.regex(await cells('explicit 3'), / \| ≥ \$1\.45 \| –$/, 'the last column is what was saved');
  t.regex(await cells('default 1'), / \| \$1\.45 \| \$0$/);
  t.is(await page.evaluate('window.location.hash'), '#/usage?range=30d&by=scenario');
  await page.reload();
  await page
    .getByRole('region', { name: 'Usage by scenario' })
    .getByRole('row', { name: /^default 1\b/ })
    .waitFor();

  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download CSV' }).click();
  const download = await downloading;
  t.is(download.suggestedFilename(), 'usage-30d-by-scenario.csv');
  t.regex(
    await readFile(await download.path(), 'utf8'),
    /^from,scenario,requests,[\s\S]*T00:00:00\.000Z,explicit,3,1,/,
  );

  // Of a fleet, a part of which does not answer.
  await page.route('**/api/usage?*', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), machines: { known: 3, heard: 2 } } });
  });
  await page.reload();
  await page.getByText('2 of 3 machines answered').waitFor();

  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await until(() => page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth'));
    t.deepEqual(await violations(page), [], String(width));
  }
  t.deepEqual(complaints, []);
});
