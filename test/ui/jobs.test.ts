import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Locator, Page } from 'playwright-core';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { keptFile } from '../support/kept-requests.ts';
import { hasBrowser, startBrowser, type TestBrowser } from '../support/processes/browser.ts';
import { chatReply } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../support/upstreams/upstream.ts';

// What people come for, in so many clicks. Typing counts nothing, a choice from a select two, a drag one.

const minute = 60_000;

/** An hour of requests, one of which was slow ten minutes ago. */
const lastHour = () =>
  Array.from({ length: 60 }, (_, n) => {
    const slow = n === 50;
    return {
      ...{ id: `kept-${n}`, endedAt: Date.now() - (60 - n) * minute, durationMs: slow ? 64_000 : 500 + n },
      ...{ session: `session-${n % 4}`, client: 'ci-bot', title: slow ? 'The slow one' : `Step ${n}` },
    };
  });

const configOf = (url: string) => ({
  LOG: false,
  RETRY: { attempts: 0 },
  Providers: [
    {
      name: 'fast',
      baseUrl: `${url}/v1`,
      apiKey: 'key-of-fast',
      models: [{ name: 'small', price: { input: 1, output: 1 } }, 'broken'],
    },
    { name: 'deep', baseUrl: `${url}/v1`, apiKey: 'key-of-deep', models: ['large'] },
  ],
  Router: { default: 'fast,small', routes: { think: 'deep,large' } },
});

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let browser: TestBrowser;

test.before(async () => {
  if (!hasBrowser) return;
  upstream = await startUpstream(({ text, url }) => {
    if (url.endsWith('/models')) return jsonAnswer({ data: [{ id: 'large' }] });
    return text.includes('"broken"')
      ? jsonAnswer({ error: { message: 'no capacity left' } }, 529)
      : jsonAnswer(chatReply('Hello.'));
  });
  gateway = await startGateway(configOf(upstream.url), {}, { files: keptFile(lastHour()) });
  browser = await startBrowser();
  await send('any', { 'x-junctor-capture': '1' });
  await send('fast,broken', { 'x-junctor-capture': '1' });
});

test.after.always(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.close();
});

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

const send = async (model: string, headers: Record<string, string> = {}): Promise<void> => {
  const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Why two levers?' }] });
  await (await fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', headers, body })).text();
};

/** Counts, from here on. */
const counter = `window.clicks = 0;
  window.addEventListener('pointerdown', ({ target }) => { if (!(target instanceof HTMLSelectElement)) window.clicks += 1; }, true);
  window.addEventListener('change', ({ target }) => { if (target instanceof HTMLSelectElement) window.clicks += 2; }, true);`;

const job = (
  title: string,
  most: number,
  run: (page: Page) => Promise<void>,
  of: () => Promise<TestGateway> = async () => gateway,
): void => {
  browserTest(`${title}: ${most}`, async (t) => {
    const own = await of();
    if (own !== gateway) t.teardown(own.stop);
    const { page } = await browser.open(`${own.baseUrl}/ui#/requests`);
    await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
    await page.evaluate(counter);
    await run(page);
    t.is(await page.evaluate('window.clicks'), most);
  });
};

const link = (page: Page, name: string): Locator => page.getByRole('link', { name, exact: true });
const button = (page: Page | Locator, name: string | RegExp): Locator =>
  page.getByRole('button', { name, exact: true });
const row = (page: Page, name: RegExp): Locator =>
  page.getByRole('region', { name: 'Request list' }).getByRole('row', { name }).first();
const pane = (page: Page): Locator => page.getByRole('region', { name: 'Request', exact: true });
const saved = (page: Page): Locator => page.getByText('The configuration was saved and is in use.').last();

job(
  'from nothing to the first answer of a provider of one’s own',
  6,
  async (page) => {
    await link(page, 'Add a provider').click();
    const dialog = page.getByRole('dialog', { name: 'Add a provider' });
    await dialog.getByLabel('Vendor').selectOption({ label: 'Another service or server' });
    await dialog.getByLabel('Base URL').fill(`${upstream.url}/v1`);
    await dialog.getByLabel('large', { exact: true }).waitFor();
    await button(dialog, 'Add').click();
    await dialog.waitFor({ state: 'detached' });
    await link(page, 'Requests').click();
    await button(page, 'Ask it something').click();
    await row(page, /large/).waitFor();
  },
  () => startGateway(),
);

job('why the last request failed', 1, async (page) => {
  await page
    .getByRole('group', { name: 'Filters' })
    .getByRole('button', { name: /^Failed/ })
    .click();
  await row(page, /no capacity left/).waitFor();
});

job('which rule chose the model', 1, async (page) => {
  await row(page, /any ▸ fast,small/).click();
  await pane(page).getByRole('list', { name: 'Path' }).getByText('default').waitFor();
});

job('changing the route of background tasks, tried and saved', 7, async (page) => {
  await link(page, 'Routing').click();
  await button(page, /^Background/).click();
  const field = page.getByRole('combobox', { name: 'Destination', exact: true });
  await field.click();
  await page.getByRole('option', { name: 'deep,large' }).click();
  await page.getByLabel('Sample').selectOption({ label: 'Background task' });
  await page.locator('.routing-lit', { hasText: 'large' }).waitFor();
  await button(page.getByRole('region', { name: 'Unsaved changes' }), 'Save').click();
  await saved(page).waitFor();
});

job('a wrong change undone at once', 1, async (page) => {
  await link(page, 'Routing').click();
  await button(page, /^Long context/).click();
  await page.getByLabel('Threshold (tokens)').fill('70000');
  await button(page.getByRole('region', { name: 'Unsaved changes' }), 'Save').click();
  await saved(page).waitFor();
  await page.evaluate('window.clicks = 0');
  await button(page, 'Undo').click();
  await page.getByText('The configuration is as it was before.').waitFor();
});

job('a wrong change undone later', 4, async (page) => {
  await link(page, 'Settings').click();
  await page.getByRole('tab', { name: 'Backups' }).click();
  await page
    .getByRole('button', { name: /^Preview/ })
    .first()
    .click();
  await button(page.getByRole('dialog'), 'Restore').click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
});

job('what was spent this week, and on what', 1, async (page) => {
  await link(page, 'Usage').click();
  await page.getByRole('region', { name: 'Usage by model' }).getByText('fast,small').waitFor();
});

job('sending a failed request to another provider', 2, async (page) => {
  await row(page, /no capacity left/).click();
  await button(pane(page), /^Retry on deep,large/).click();
  await pane(page).getByRole('region', { name: 'Retry and original' }).waitFor();
});

job('a transformer of one’s own, and what it does to the last request', 6, async (page) => {
  await link(page, 'Routing').click();
  await button(page, 'Stages').click();
  await page.getByLabel('Add a transformer').selectOption('module');
  await page.getByLabel('Module').fill('my-stage.ts');
  const starter = await page.getByRole('region', { name: 'my-stage.ts' }).textContent();
  await writeFile(join(gateway.home, 'my-stage.ts'), starter ?? '');
  await button(page, 'Show on last request').click();
  await page.getByRole('region', { name: 'Before and after' }).getByText('Answer in one paragraph.').waitFor();
  await button(page.getByRole('region', { name: 'Unsaved changes' }), 'Save').click();
  await saved(page).waitFor();
});

job('why the agent was slow ten minutes ago', 2, async (page) => {
  const chart = page.getByRole('img', { name: /requests over time/ });
  const { x = 0, y = 0, width = 0 } = (await chart.boundingBox()) ?? {};
  await page.mouse.move(x + width * 0.75, y + 10);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.95, y + 10, { steps: 3 });
  await page.mouse.up();
  await page.waitForURL(/from=.*to=/);
  await row(page, /The slow one/).click();
  await pane(page).getByText('1 min 04 s').first().waitFor();
});

job('which client spends most on which model', 2, async (page) => {
  await link(page, 'Usage').click();
  await button(page, 'fast,small by client').click();
  await page.getByRole('region', { name: 'Usage by model' }).getByText('No client').waitFor();
});

job('a stage for one provider, and what it does to the last request', 6, async (page) => {
  await link(page, 'Routing').click();
  await button(page, /^Stages/).click();
  await page.getByLabel('Add a transformer').selectOption('stage maxtoken');
  await page.getByLabel('max_tokens').last().fill('100');
  await page.getByRole('combobox', { name: 'Provider' }).last().fill('deep');
  await button(page, 'Show on last request').last().click();
  await page.getByRole('region', { name: 'Before and after' }).waitFor();
  await button(page.getByRole('region', { name: 'Unsaved changes' }), 'Save').click();
  await saved(page).waitFor();
});

job('two models compared for a captured request', 5, async (page) => {
  await row(page, /Why two levers/).click();
  await link(page, 'Open in playground').click();
  await page.getByLabel('Compare with').click();
  await page.getByRole('option', { name: 'deep,large' }).click();
  await button(page, 'Send').click();
  await page.getByText('done', { exact: true }).nth(1).waitFor();
});

job('all requests of a session, and its cost', 2, async (page) => {
  await page.getByRole('group', { name: 'Group' }).getByText('Sessions').click();
  await page
    .getByRole('region', { name: 'Sessions' })
    .getByRole('row', { name: /ci-bot/ })
    .first()
    .click();
  await page.getByRole('region', { name: 'Session', exact: true }).getByText('Cost', { exact: true }).waitFor();
});

job('a provider’s key replaced, tested and saved', 5, async (page) => {
  await link(page, 'Providers').click();
  await button(page, /^fast/).click();
  const key = page.getByLabel('Key', { exact: true });
  await key.click();
  await key.fill('another-key-of-fast');
  await button(page, 'Test connection').click();
  await page.getByText('Connection works').waitFor();
  await button(page.getByRole('region', { name: 'Unsaved changes' }), 'Save').click();
  await saved(page).waitFor();
});

job('what the gateway itself costs in time', 2, async (page) => {
  await row(page, /any ▸ fast,small/).click();
  await pane(page).getByRole('tab', { name: 'Path' }).click();
  await pane(page).getByText('Gateway overhead').waitFor();
});

job('a key for one client', 3, async (page) => {
  await link(page, 'Clients').click();
  await button(page, 'Add a client').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('ci-bot');
  await button(dialog, 'Add').click();
  await dialog.getByText('Copy it now').waitFor();
});

job('Claude Code connected', 2, async (page) => {
  await link(page, 'Clients').click();
  await button(page, 'Copy').first().click();
});
