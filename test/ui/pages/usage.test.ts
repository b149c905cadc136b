import { readFile } from 'node:fs/promises';
import test from 'ava';
import { client, keyOf } from '../../engine/features/clients/rig.ts';
import { startGateway } from '../../support/gateway.ts';
import { hasBrowser, startBrowser, violations } from '../../support/processes/browser.ts';
import { until } from '../../support/until.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

browserTest(
  'who spends on what: rows unfold into a second split, and bars and rows lead to their requests',
  async (t) => {
    const upstream = await startUpstream(() =>
      jsonAnswer({ ...chatReply('Hello'), usage: { prompt_tokens: 1_000_000, completion_tokens: 1 } }),
    );
    t.teardown(upstream.close);
    const price = { input: 1, output: 1 };
    const gateway = await startGateway({
      LOG: false,
      CLIENTS: [client('team'), client('ci')],
      Providers: [
        {
          name: 'p',
          baseUrl: `${upstream.url}/v1`,
          apiKey: 'k',
          models: [
            { name: 'small', price },
            { name: 'large', price: { ...price, input: 5 } },
          ],
        },
      ],
    });
    t.teardown(gateway.stop);
    const sent = [
      ['team', 'p,small'],
      ['team', 'p,large'],
      ['ci', 'p,small'],
    ] as const;
    for (const [name, model] of sent) {
      const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] });
      const headers = { 'x-api-key': keyOf(name) };
      await (await fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', headers, body })).text();
    }
    await until(async () => {
      const answer = await fetch(`${gateway.baseUrl}/api/usage`);
      return JSON.parse(await answer.text()).total.requests === 3;
    });
    const browser = await startBrowser();
    t.teardown(browser.close);
    const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/usage`);
    await page.getByText('Client', { exact: true }).click();
    await page.getByRole('button', { name: 'team by model' }).click();
    const table = page.getByRole('region', { name: 'Usage by client' });
    await table.getByRole('link', { name: 'p,large' }).waitFor();
    const rows = (await table.locator('tbody tr').all()).map(async (row) =>
      (await row.getByRole('cell').allInnerTexts()).slice(1, 3).join(' '),
    );
    t.deepEqual(await Promise.all(rows), ['team $6.00', 'p,large $5.00', 'p,small $1.00', 'ci $1.00', 'Total $7.00']);
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 844 });
      await until(() => page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth'));
      t.deepEqual(await violations(page), [], String(width));
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    const to = await table.getByRole('link', { name: 'p,large' }).getAttribute('href');
    t.is(to, '#/requests?from=7d&client=team&model=p%2Clarge');
    // What is unfolded is in the file, too.
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download CSV' }).click();
    const download = await downloading;
    t.is(download.suggestedFilename(), 'usage-7d-by-client-model.csv');
    const csv = await readFile(await download.path(), 'utf8');
    t.regex(csv, /^from,client,model,requests,/);
    t.deepEqual(
      csv
        .trim()
        .split('\r\n')
        .slice(1)
        .map((line) => /Z,(\w+),"(p,\w+)",1,/.exec(line)?.slice(1).join(' ')),
      ['team p,large', 'ci p,small', 'team p,small'],
    );

    // What the gateway adds is in the headline, in the table and a chart.
    t.regex(
      (await page.locator('.figures').innerText()).replaceAll(/\s+/g, ' '),
      /Gateway overhead [\d.]+ m?s 95 % within/,
    );
    const overhead = table.getByRole('columnheader', { name: 'Overhead' });
    const box = await overhead.boundingBox();
    t.true(box !== null && box.x + box.width <= 1280, `${box?.x} ${box?.width}`);
    await page.getByText('Overhead, p95').click();
    await page.getByRole('img', { name: 'Overhead, p95 by day and client' }).waitFor();

    // The bar of a name leads to its requests in that time; a p95 with no other beside it is seen.
    const bar = page.locator('.series-chart path').first();
    await page.getByText('Duration, p95').click();
    await page.getByRole('img', { name: 'Duration, p95 by day and client' }).waitFor();
    t.regex((await bar.getAttribute('d')) ?? '', /a2 2 /);
    await page.getByText('Cost', { exact: true }).first().click();
    await page.getByRole('img', { name: 'Cost by day and client' }).waitFor();
    await bar.click();
    await page.locator('.request-title, .data-lines').first().waitFor();
    t.regex(await page.evaluate<string>('window.location.hash'), /^#\/requests\?from=20\d\d-[^&]+&client=team$/);
    t.deepEqual(complaints, []);
  },
);

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

  const table = page.getByRole('region', { name: /^Usage by/ });
  const cells = async (name: string | RegExp): Promise<string> =>
    (await table.getByRole('row', { name }).getByRole('cell').allInnerTexts())
      .slice(1, 9)
      .map((text) => text.trim())
      .join(' | ');
  await table.getByRole('row', { name: /^Total/ }).waitFor();
  t.is(await cells(/^p,priced/), 'p,priced | $2.90 | $1.25 / $100 | 3 | 1 | 2,000,000 | 0 | 4,000');
  t.is(await cells(/^p,unpriced/), 'p,unpriced | – | not known | 1 | 0 | 1,000,000 | 0 | 2,000');
  t.is(await cells(/^Total/), 'Total | ≥ $2.90 |  | 4 | 1 | 3,000,000 | 0 | 6,000');
  const figures = (await page.locator('.figures').innerText()).replaceAll(/\s+/g, ' ');
  t.regex(figures, /^Spent ≥ \$2\.90 Requests 4 Failed 1 25% From cache 0% of all prompt tokens Saved by routing/);
  await page.getByRole('img', { name: 'Cost by day and model' }).waitFor();
  t.is(await page.locator('.series-chart path').count(), 3, 'two models, and room for all others');

  // Each row leads to its requests, each count of failures to these.
  t.is(await table.getByRole('link', { name: 'p,priced' }).getAttribute('href'), '#/requests?from=7d&model=p%2Cpriced');
  t.is(
    await table
      .getByRole('row', { name: /^p,priced/ })
      .getByRole('link', { name: '1', exact: true })
      .getAttribute('href'),
    '#/requests?from=7d&model=p%2Cpriced&status=failed',
  );

  // A price is set where it is missing.
  await page.getByRole('button', { name: 'Set the price of p,unpriced' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Not known: set it in the configuration').waitFor();
  await dialog.getByLabel('Prompts').fill('2');
  await dialog.getByLabel('Answers').fill('8');
  t.deepEqual(await violations(page), []);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await table.getByText('$2 / $8').waitFor();

  await page.getByRole('radio', { name: '1 hour' }).focus();
  await page.keyboard.press('Space');
  await page.getByRole('img', { name: 'Cost by minute and model' }).waitFor();
  await page.getByRole('radio', { name: 'Cost' }).focus();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('img', { name: 'Tokens by minute and model' }).waitFor();
  t.is(await page.evaluate('window.location.hash'), '#/usage?range=1h&measure=tokens');
  await page.getByRole('radio', { name: '30 days' }).focus();
  await page.keyboard.press('Space');
  await page.getByRole('img', { name: 'Tokens by day and model' }).waitFor();
  await page.getByRole('radio', { name: 'Model' }).focus();
  for (const _ of ['Provider', 'Scenario']) await page.keyboard.press('ArrowRight');
  await table.getByRole('row', { name: /^explicit/ }).waitFor();
  t.regex(await cells(/^explicit/), /^explicit \| ≥ \$1\.45 \| – \| 3 /, 'the third column is what was saved');
  t.regex(await cells(/^default/), /^default \| \$1\.45 \| \$0 \| 1 /);
  await page.getByRole('button', { name: 'All figures' }).click();
  await page.getByRole('columnheader', { name: 'Retries' }).waitFor();
  t.is(await page.evaluate('window.location.hash'), '#/usage?range=30d&measure=tokens&by=scenario&all=1');
  await page.reload();
  await table.getByRole('row', { name: /^default/ }).waitFor();

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

browserTest(
  'what became slow just now has a colour and says by how much, behind any number of slower ones',
  async (t) => {
    const gateway = await startGateway({ LOG: false, Providers: [] });
    t.teardown(gateway.stop);
    const browser = await startBrowser();
    t.teardown(browser.close);
    const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
    const endMs = Math.floor(Date.now() / 60_000) * 60_000 + 30_000;
    const slow = Array.from({ length: 7 }, (_, n) => `p,slow-${n}`);
    /** The p95 of a model, so many minutes ago. */
    const p95Of = (name: string, ago: number): number => (name !== 'p,quick' ? 5_000 : ago < 3 ? 900 : 100);
    await page.route('**/api/usage?*', async (route) => {
      const response = await route.fetch();
      const { total } = await response.json();
      const step = new URL(route.request().url()).searchParams.get('step');
      const figures = (p95: number) => ({ ...total, requests: 9, durationMs: { p50: p95 / 2, p95, p99: p95 } });
      const rows = [...slow, 'p,quick'].flatMap((name) =>
        step === 'none'
          ? [{ from: null, name, ...figures(p95Of(name, 9)) }]
          : Array.from({ length: 20 }, (_, at) => ({
              ...{ from: new Date(endMs - 30_000 - (19 - at) * 60_000).toISOString(), name },
              ...figures(p95Of(name, 19 - at)),
            })),
      );
      const [from, to] = [endMs - 3_600_000, endMs].map((ms) => new Date(ms).toISOString());
      await route.fulfill({ response, json: { from, to, by: 'model', step, total: figures(5_000), rows } });
    });
    await page.evaluate('window.location.hash = "#/usage?range=1h&measure=p95"');
    const row = page.getByRole('region', { name: 'Usage by model' }).getByRole('row', { name: /p,quick/ });
    await row.getByText('↑ 9.0×').waitFor();
    const coloursOf = (selector: string) =>
      page.evaluate<readonly string[]>(
        `[...document.querySelectorAll(${JSON.stringify(selector)})].map((one) => one.style.background)`,
      );
    t.is((await coloursOf('tbody tr:has(.badge) .series-key')).join(), 'var(--series-1)');
    t.is(await page.getByText('↑').count(), 1);
    t.is(await page.locator('.series-chart path').count(), 5);
    t.deepEqual(await violations(page), []);
    t.deepEqual(complaints, []);
  },
);
