import { get } from 'node:http';
import test from 'ava';
import type { Locator, Page } from 'playwright-core';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import {
  hasBrowser,
  pressPair,
  startBrowser,
  type Tab,
  type TestBrowser,
  violations,
} from '../../support/processes/browser.ts';
import { chatReply, chatStream } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const secret = 'the-secret-of-the-provider';

const configOf = (url: string) => ({
  Providers: [
    { name: 'fast', baseUrl: `${url}/v1`, apiKey: secret, models: ['small', 'broken'] },
    { name: 'deep', baseUrl: `${url}/v1`, apiKey: secret, models: ['large'] },
  ],
  Router: { default: 'fast,small', routes: { think: 'deep,large' } },
  transformers: [{ name: 'maxtoken', provider: 'fast', options: { max_tokens: 100 } }],
});

/** As it is at first glance: what a tab shows, and that nothing went wrong in it. */
const look = async ({ page }: Tab, hash = ''): Promise<Page> => {
  await page.evaluate(`window.location.hash = ${JSON.stringify(hash)}`);
  return page;
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let browser: TestBrowser;

test.before(async () => {
  if (!hasBrowser) return;
  upstream = await startUpstream(({ text }) => {
    if (text.includes('"broken"')) return jsonAnswer({ error: { message: 'no capacity left' } }, 529);
    const isStream = text.includes('"stream":true');
    return isStream ? sseAnswer(chatStream(['One lever ', 'throws ', 'the points.'])) : jsonAnswer(chatReply('Hello.'));
  });
  gateway = await startGateway(configOf(upstream.url));
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.close();
});

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

const send = async (baseUrl: string, body: object, headers: Record<string, string> = {}): Promise<string> => {
  const answer = await fetch(`${baseUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ max_tokens: 500, messages: [{ role: 'user', content: 'Why two levers?' }], ...body }),
  });
  await answer.text();
  return answer.headers.get('x-request-id') ?? '';
};

browserTest(
  'the first page is small, makes no external requests, and keyboard shortcuts open the others',
  async (t) => {
    const tab = await browser.open(`${gateway.baseUrl}/ui`);
    await tab.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await tab.page.getByText('Route', { exact: true }).waitFor();
    await tab.page.locator('.plot canvas').waitFor();
    const files = await tab.page.evaluate<readonly string[]>(
      `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
        .map(({ name }) => name)
        .filter((name) => !name.includes('/api/'))`,
    );
    const sizes = await Promise.all(files.map(compressedSize));
    const size = sizes.reduce((sum, one) => sum + one, 0);
    t.log(`${Math.round(size / 1_000)} kB, compressed`);
    t.true(size > 0 && size <= 220_000, `${size} bytes`);

    await tab.page.keyboard.press('Tab');
    t.is(await tab.page.evaluate('document.activeElement.textContent'), 'Skip to main content');
    await tab.page.keyboard.press('Enter');
    t.is(await tab.page.evaluate('document.activeElement.id'), 'main');
    await tab.page.keyboard.press('?');
    const dialog = tab.page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await dialog.getByText('Go to Providers').waitFor();
    await tab.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    for (const [key, title] of pageKeys) {
      await pressPair(tab.page, 'g', key);
      await tab.page.getByRole('heading', { level: 1, name: title }).waitFor();
      t.is(await tab.page.title(), `${title} · Junctor`);
      t.is(await tab.page.evaluate('document.activeElement.id'), 'main', title);
    }
    await look(tab, '#/no/such/page');
    await tab.page.getByText('There is no page at /no/such/page.').waitFor();
    t.deepEqual(tab.complaints, []);
  },
);

/** The size of a file as browsers get it. */
const compressedSize = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': 'br' } }, (answer) => {
      let size = 0;
      answer.on('data', (bytes) => {
        size += bytes.length;
      });
      answer.on('end', () => resolve(size));
    }).on('error', reject);
  });

const pageKeys = [
  ['l', 'Logs'],
  ['p', 'Providers'],
  ['r', 'Routing'],
  ['t', 'Transformers'],
  ['e', 'Presets'],
  ['s', 'Settings'],
  ['c', 'Connect'],
  ['a', 'Playground'],
  ['o', 'Overview'],
] as const;

browserTest('the Overview shows all lines with their traffic, and recent requests with filters', async (t) => {
  await send(gateway.baseUrl, { model: 'any', stream: true });
  await send(gateway.baseUrl, { model: 'any', thinking: { type: 'enabled', budget_tokens: 2_000 }, max_tokens: 4_000 });
  await send(gateway.baseUrl, { model: 'fast,broken', top_k: 3 });
  const tab = await browser.open(`${gateway.baseUrl}/ui`);
  const { page } = tab;

  const drawing = page.getByRole('figure', { name: /Drawing of all lines/ });
  await drawing.getByRole('link', { name: /small/ }).waitFor();
  t.is(await drawing.locator('.track').count(), 6, 'three protocols, two routes, one by name');
  await drawing.getByText('1 failed').waitFor();

  const table = page.getByRole('region', { name: 'Request list' });
  t.is(await table.getByRole('row').count(), 4);
  const row = table.getByRole('row', { name: /deep, large/ });
  t.regex((await row.textContent()) ?? '', /think.*200/);
  await table.getByRole('link').first().focus();
  await page.keyboard.press('ArrowDown');
  t.is(await page.evaluate('document.activeElement.textContent'), await table.getByRole('link').nth(1).textContent());
  await page.getByLabel('Outcome').selectOption('Failed');
  t.is(await table.getByRole('row').count(), 2);
  t.regex((await table.textContent()) ?? '', /529/);
  const reason = (list: Locator) =>
    list.getByRole('button', { name: /no capacity left.*\(provider fast, model broken\)/ });
  await reason(table).focus();
  await page.keyboard.press('Enter');
  t.is(await reason(table).getAttribute('aria-expanded'), 'true');
  t.is(await page.evaluate('window.location.hash'), '#/?outcome=failed', 'the row was not opened');
  const failures = page.locator('dl.summary-tiles').getByRole('link', { name: '1', exact: true });
  t.regex((await failures.locator('..').textContent()) ?? '', /^1of 3 since \d/);
  await failures.click();
  const kept = page.getByRole('region', { name: 'Kept requests' });
  await reason(kept).waitFor();
  t.is(await kept.getByRole('row').count(), 2);
  t.is(await page.getByLabel('Status').inputValue(), 'failed');
  t.deepEqual(await violations(page), []);
  await page.goBack();
  await page.getByLabel('Search').fill('no such text');
  await page.getByText('No requests match the filters').waitFor();
  await page.getByRole('button', { name: 'Show all' }).click();
  await page.getByLabel('Scenario').selectOption('think');
  t.is(await table.getByRole('row').count(), 2);
  await page.getByLabel('Scenario').selectOption('');

  await page.getByRole('group', { name: 'View' }).getByText('Table').click();
  const lines = page.getByRole('region', { name: 'Table of lines' });
  t.regex((await lines.getByRole('row', { name: /Messages.*fast, small/ }).textContent()) ?? '', /maxtoken/);
  await page.getByRole('group', { name: 'View' }).getByText('Drawing').click();
  await drawing.getByRole('link', { name: /small/ }).click();
  await page
    .getByRole('figure', { name: /from Messages to fast, small/ })
    .getByText('maxtoken')
    .waitFor();
  await page.goBack();
  await drawing.waitFor();

  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    t.deepEqual(await violations(page), [], `${width}`);
    t.is(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'), false, `${width}`);
  }
  t.deepEqual(tab.complaints, []);
});

browserTest('a recorded request opens by keyboard: steps, events, curl, replay in another protocol', async (t) => {
  const tab = await browser.open(`${gateway.baseUrl}/ui`);
  const { page } = tab;
  await page.getByRole('button', { name: 'Record requests' }).click();
  await page.getByText('At most 270 requests are kept, up to 1.0 MiB each').waitFor();
  await page.getByRole('button', { name: 'Start recording' }).click();
  await page.getByRole('button', { name: 'Recording requests' }).waitFor();
  const id = await send(
    gateway.baseUrl,
    { model: 'any', stream: true, top_k: 5 },
    { 'x-api-key': 'the-clients-own-key' },
  );

  const first = page.getByRole('region', { name: 'Request list' }).locator(`a[href$="${id}"]`);
  await first.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: id }).waitFor();
  await page.getByText('Wait for the provider').waitFor();
  t.regex((await page.getByRole('main').textContent()) ?? '', /fast, small.*top_k.*dropped/s);

  await page.getByRole('tab', { name: 'Steps' }).click();
  await page.getByRole('button', { name: /maxtoken/ }).click();
  const changes = page.getByRole('region', { name: 'Changes by maxtoken' });
  t.is(await changes.locator('del').textContent(), '−"maxTokens": 500');
  t.is(await changes.locator('ins').textContent(), '+"maxTokens": 100');
  await page.getByRole('button', { name: /encode/ }).click();
  await page
    .getByRole('textbox', { name: /encode.*after/ })
    .getByText('"max_tokens"')
    .or(page.getByText('"max_completion_tokens"'))
    .first()
    .waitFor();
  t.deepEqual(await violations(page), []);

  await page.getByRole('tab', { name: 'Steps' }).press('ArrowRight');
  const events = page.getByRole('region', { name: 'Events' }).getByRole('table');
  t.regex(
    (await events.getByRole('row', { name: /throws/ }).textContent()) ?? '',
    /chat\.completion\.chunk.*content_block_delta/s,
  );
  await page.getByLabel('Show gateway events').check();
  await events.getByText('text-delta').first().waitFor();
  await page.getByRole('searchbox', { name: 'Find' }).fill('message_stop');
  t.is(await events.getByRole('row').count(), 2);
  t.deepEqual(await violations(page), []);

  await page.getByRole('tab', { name: 'Headers and curl' }).click();
  await page.getByText('curl -sS').first().waitFor();
  const shown = (await page.getByRole('main').textContent()) ?? '';
  t.regex(shown, /\$FAST_API_KEY/);
  t.false(shown.includes(secret) || shown.includes('the-clients-own-key'));
  t.deepEqual(await violations(page), []);

  const calls = upstream.requests.length;
  await page.getByRole('tab', { name: 'Replay' }).click();
  await page.getByLabel('Client protocol').selectOption('Responses');
  await page.getByText('Instant').click();
  await page.getByRole('button', { name: 'Replay', exact: true }).click();
  await page.getByRole('region', { name: 'Replayed response' }).getByText('response.completed').waitFor();
  t.is(upstream.requests.length, calls, 'no upstream was called');
  t.deepEqual(await violations(page), []);

  await page.getByRole('link', { name: '← Overview' }).click();
  await page.getByRole('button', { name: 'Clear list' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Clear list' }).click();
  await page.getByText('No requests yet').waitFor();
  const extent = async () => JSON.parse(await (await fetch(`${gateway.baseUrl}/api/history/extent`)).text());
  const { requests } = await extent();
  t.true(requests > 0, 'the history stays');
  await look(tab, '#/history');
  await page.locator(`a[href*="${id}"]`).first().waitFor();

  await look(tab, '#/settings?tab=history');
  await page.getByText(new RegExp(`^${requests} requests? from .* to .*, in `)).waitFor();
  t.deepEqual(await violations(page), []);
  await page.getByRole('button', { name: 'Delete the history' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(new RegExp(`^${requests} requests? from .* to .* are deleted from disk`)).waitFor();
  const confirm = dialog.getByRole('button', { name: 'Delete' });
  t.true(await confirm.isDisabled());
  await dialog.getByLabel('Type “delete” to confirm').fill('delete');
  t.deepEqual(await violations(page), []);
  await confirm.click();
  await page.getByText('No requests are kept.').waitFor();
  t.like(await extent(), { requests: 0, bytes: 0, from: undefined });
  await look(tab, `#/requests/${id}`);
  await page.getByText(/There is no request of that id/).waitFor();
  t.deepEqual(
    tab.complaints.filter((line) => !line.includes('404')),
    [],
  );
});

browserTest('an unreachable gateway is reported, and the page reconnects', async (t) => {
  const { page } = await browser.open(`${gateway.baseUrl}/ui`);
  await page.getByText('Where requests come from').waitFor();
  await page.route('**/{api,health}/**', (asked) => asked.abort());
  await page.getByText('The gateway is not responding').waitFor();
  t.deepEqual(await violations(page), []);
  await page.route('**/ui/assets/**', (asked) => asked.abort());
  await page.getByRole('link', { name: 'Presets' }).click();
  await page.getByText('This page failed to load').waitFor();
  await page.unrouteAll();
  await page.getByText('The gateway is not responding').waitFor({ state: 'detached' });
  await page.getByText('No presets yet').waitFor();
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await send(gateway.baseUrl, { model: 'any' });
  await page.getByRole('region', { name: 'Request list' }).getByText('fast, small').first().waitFor();
});

browserTest('the key is requested once per load, stored nowhere, and a wrong one is rejected', async (t) => {
  const key = 'a-key-of-some-length';
  const guarded = await startGateway({ ...configOf(upstream.url), APIKEY: key });
  t.teardown(guarded.stop);
  const { page } = await browser.open(`${guarded.baseUrl}/ui#/settings`);
  const dialog = page.getByRole('dialog', { name: 'This gateway requires a key' });
  await dialog.getByLabel('Key', { exact: true }).fill('not the key');
  t.deepEqual(await violations(page), []);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByText('The gateway rejected this key.').waitFor();
  await dialog.getByLabel('Key', { exact: true }).fill(key);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await look({ page, complaints: [] }, '#/');
  await page.getByRole('figure', { name: /Drawing of all lines/ }).waitFor();
  t.false((await page.content()).includes(key));
  t.false(String(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).includes(key));
  await page.reload();
  await dialog.waitFor();
});

browserTest('unsaved changes stay as a draft when their page is left, and the navigation leads back', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
  await page.getByRole('link', { name: 'Routing' }).click();
  const threshold = page.getByLabel('Threshold (tokens)');
  await threshold.fill('70000');
  t.is(await page.getByRole('link', { name: /Unsaved changes/ }).count(), 0, 'the page itself says so');
  // To the address without a fragment, with which the tab began.
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  t.deepEqual(await violations(page), []);
  await page.getByRole('link', { name: 'Unsaved changes to the configuration' }).click();
  await page.getByRole('heading', { level: 1, name: 'Routing' }).waitFor();
  t.is(await threshold.inputValue(), '70000');
  await page.getByRole('button', { name: 'Discard', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('link', { name: 'Overview', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  t.is(await page.getByRole('link', { name: /Unsaved changes/ }).count(), 0);
  t.deepEqual(complaints, []);
});

browserTest('the selected theme is kept, and narrow pages navigate through the menu', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
  await page.getByRole('group', { name: 'Theme' }).getByText('Dark').check({ force: true });
  t.is(await page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'dark');
  await page.reload();
  t.is(await page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'dark');
  await page.evaluate('localStorage.clear()');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: 'Menu' }).click();
  const drawer = page.getByRole('dialog', { name: 'Pages' });
  t.deepEqual(await violations(page), []);
  await page.setViewportSize({ width: 390, height: 844 });
  await drawer.getByRole('link', { name: 'Settings' }).click();
  await drawer.waitFor({ state: 'detached' });
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  t.deepEqual(complaints, []);
});
