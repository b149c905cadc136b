import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Page } from 'playwright-core';
import { hashedKey } from '../../../engine/config/sections/clients.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { hasBrowser, startBrowser, type TestBrowser, violations } from '../../support/processes/browser.ts';
import { until } from '../../support/until.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../../support/upstreams/upstream.ts';

let browser: TestBrowser;
let gateway: TestGateway;
let upstream: ScriptedUpstream;

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

test.before(async () => {
  if (!hasBrowser) return;
  upstream = await startUpstream(() => jsonAnswer(chatReply('Hello')));
  gateway = await startGateway({
    LOG: false,
    Providers: [
      {
        name: 'p',
        baseUrl: `${upstream.url}/v1`,
        apiKey: 'k',
        models: [{ name: 'small', price: { input: 1_000, output: 1_000 } }, 'large'],
      },
    ],
    Router: { default: 'p,small' },
  });
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.close();
});

const on = async (t: ExecutionContext, hash: string, run: (page: Page) => Promise<void>): Promise<void> => {
  const tab = await browser.open(`${gateway.baseUrl}/ui#${hash}`);
  await run(tab.page);
  t.deepEqual(tab.complaints, []);
};

const statusFor = async (key: string, model = 'any'): Promise<number> => {
  const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: key === '' ? {} : { 'x-api-key': key },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await answer.text();
  return answer.status;
};

const onDisk = () => readFile(join(gateway.home, 'config.json'), 'utf8');

browserTest('a client is added by keyboard, its key is shown once, used, and revoked', async (t) => {
  await on(t, '/clients', async (page) => {
    await page.getByText('Requests need no key. The first client changes that for all programs.').waitFor();
    t.is(await statusFor(''), 200);
    t.deepEqual(await violations(page), []);
    await page.getByRole('button', { name: 'Add a client' }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Requests without a key will be refused').waitFor();
    t.true(await dialog.getByLabel('Also create a key for them').isChecked());
    await dialog.getByLabel('Name').fill('team-a');
    await page.keyboard.press('Tab');
    await page.keyboard.type('1');
    await dialog.getByLabel('Budget per').selectOption('day');
    await dialog.getByText('Limits', { exact: true }).click();
    await dialog.getByLabel(/^Requests per minute/).fill('60');
    await dialog.getByLabel('Budget in tokens').fill('5000000');
    await dialog.getByLabel('Models').fill('small\np,sm*');
    t.deepEqual(await violations(page), []);
    await dialog.getByLabel('Name').press('Enter');
    await page.getByRole('heading', { name: 'Key of team-a' }).waitFor();
    const key = await dialog.getByLabel('Key', { exact: true }).inputValue();
    const keyOfTools = await dialog.getByLabel('Key of existing-tools', { exact: true }).inputValue();
    for (const one of [key, keyOfTools]) t.regex(one, /^sk-junctor-[\w-]{43}$/);
    t.deepEqual(await violations(page), []);
    await dialog.getByText(`export JUNCTOR_API_KEY='${key}'`).waitFor();
    await dialog.getByLabel('Tool', { exact: true }).selectOption('Codex');
    await dialog.getByText('env_key = "JUNCTOR_API_KEY"').waitFor();
    await page.keyboard.press('Escape');
    t.true(await dialog.isVisible(), 'a key that is shown once is not lost by a slip');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.waitFor({ state: 'detached' });
    t.is(await page.getByText(key).count(), 0);

    t.deepEqual(JSON.parse(await onDisk()).CLIENTS, [
      {
        name: 'team-a',
        limits: { requestsPerMinute: 60 },
        models: ['small', 'p,sm*'],
        budget: { tokens: 5_000_000, usd: 1, per: 'day' },
        key: hashedKey(key),
      },
      { name: 'existing-tools', key: hashedKey(keyOfTools) },
    ]);
    t.is(await statusFor(key), 200);
    t.is(await statusFor(keyOfTools), 200);
    t.is(await statusFor(''), 401);
    await page.getByText('1 request without a valid key refused since the gateway started.').waitFor();
    const row = page.getByRole('row', { name: /team-a/ });
    t.is((await row.boundingBox())?.height, 32, 'one line');
    await row.getByText('59 of 60 requests/min').waitFor();
    const budget = row.getByText('$0.998 of $1.00 per day');
    t.regex((await budget.getAttribute('title')) ?? '', /Also 5M of 5M tokens/);
    t.is(await row.getByText('1 request · $0.002').count(), 2);
    await row.getByText('today').waitFor();
    t.is(await row.getByRole('meter', { name: 'Budget of team-a' }).getAttribute('max'), '1');
    t.deepEqual(await violations(page), []);
    await page.setViewportSize({ width: 390, height: 844 });
    t.false(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'));
    t.is(
      await page.evaluate(
        `[...document.querySelectorAll('.data td')].filter((cell) => cell.scrollHeight > cell.clientHeight + 1).length`,
      ),
      0,
      'what a cell holds does not lie on the next one',
    );
    await page.setViewportSize({ width: 1280, height: 800 });
    const revoke = await page.getByRole('button', { name: 'Revoke team-a' }).boundingBox();
    const table = await page.getByRole('region', { name: 'Clients', exact: true }).boundingBox();
    t.true(revoke && table && revoke.x + revoke.width <= table.x + table.width, 'all buttons are in sight');

    await page.getByRole('button', { name: 'Edit team-a' }).click();
    const edit = page.getByRole('dialog', { name: 'Edit team-a' });
    t.is(await edit.getByLabel('Budget in USD').inputValue(), '1');
    t.is(await edit.getByLabel('Budget per').inputValue(), 'day');
    await edit.getByLabel('Budget in USD').fill('2.5');
    await edit.getByText('Limits (set)').click();
    t.is(await edit.getByLabel(/^Requests per minute/).inputValue(), '60');
    await edit.getByLabel('Models').fill('');
    await edit.getByLabel('Expires').fill('90d');
    t.deepEqual(await violations(page), []);
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.waitFor({ state: 'detached' });
    await row.getByText('$2.50 per day').waitFor();
    const [changed] = JSON.parse(await onDisk()).CLIENTS;
    t.like(changed, {
      key: hashedKey(key),
      limits: { requestsPerMinute: 60 },
      budget: { tokens: 5_000_000, usd: 2.5, per: 'day' },
    });
    t.false('models' in changed);
    t.true(Date.parse(changed.expires) > Date.now() + 89 * 86_400_000);

    await page.getByRole('button', { name: 'Revoke team-a' }).click();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await row.waitFor({ state: 'detached' });
    await until(async () => (await statusFor(key)) === 401);
    await page.getByRole('button', { name: 'Revoke existing-tools' }).click();
    await dialog.getByText('requests need no key any more').waitFor();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('No clients yet').waitFor();
    t.is(await page.getByText('without a valid key').count(), 0, 'keys are needed no more');
    await until(async () => (await statusFor('')) === 200);
    t.false('CLIENTS' in JSON.parse(await onDisk()));
  });
});

browserTest('what is wrong with a client is said in the dialog, and nothing is lost', async (t) => {
  const tab = await browser.open(`${gateway.baseUrl}/ui#/clients`);
  const { page } = tab;
  await page.getByRole('button', { name: 'Add a client' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('not a name');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByText(/CLIENTS\[0\]\.name must be 1 to 64 letters/).waitFor();
  t.is(await dialog.getByLabel('Name').inputValue(), 'not a name');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  // The browser itself logs the refusal.
  t.deepEqual(
    tab.complaints.filter((line) => !/400/.test(line)),
    [],
  );
});

browserTest('requests show their client, and are filtered by it', async (t) => {
  const keys = await Promise.all(
    ['team-b', 'team-c'].map(async (name) => {
      const answer = await fetch(`${gateway.baseUrl}/api/clients`, { method: 'POST', body: JSON.stringify({ name }) });
      return JSON.parse(await answer.text()).key;
    }),
  );
  // The filters have the clients with most requests: one more than the others.
  for (const key of [...keys, ...keys.slice(1)]) t.is(await statusFor(key), 200);
  await on(t, '/', async (page) => {
    const table = page.getByRole('region', { name: 'Request list' });
    await table.getByText('team-b').waitFor();
    await page.getByRole('combobox', { name: 'Client' }).selectOption('team-c');
    await table.getByText('team-b').waitFor({ state: 'detached' });
    await table.getByText('team-c').first().waitFor();
    t.deepEqual(await violations(page), []);
  });
});

browserTest('a budget that ends before its period says when, at the rate so far', async (t) => {
  const daysOn = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString();
  await on(t, '/', async (page) => {
    await page.route('**/api/clients', async (route) => {
      const response = await route.fetch();
      const list = await response.json();
      const [one] = list.clients;
      const clients = [
        ['fast', 10],
        ['slow', 90],
        ['new', 10],
      ].map(([name, remainingUsd]) => ({
        ...one,
        ...{ name, budget: { per: 'month', usd: 100, remainingUsd, isUsedUp: false, renewsAt: daysOn(15) } },
      }));
      await route.fulfill({ response, json: { ...list, clients } });
    });
    await page.route('**/api/usage?*', async (route) => {
      const response = await route.fetch();
      const rows = [
        { name: 'fast', from: daysOn(-30) },
        { name: 'slow', from: daysOn(-30) },
        { name: 'new', from: daysOn(-1) },
      ];
      await route.fulfill({ response, json: { ...(await response.json()), rows } });
    });
    await page.evaluate('window.location.hash = "#/clients"');
    const rows = page.getByRole('region', { name: 'Clients' }).getByRole('row');
    await rows.getByText(/^\$10\.00 of \$100\.00 until \d+ \w+$/).waitFor();
    t.deepEqual(
      (await rows.locator('.budget').allInnerTexts()).map((text) => text.replace(/until .*/, 'until …')),
      ['$10.00 of $100.00 until …', '$90.00 of $100.00 per month', '$10.00 of $100.00 per month'],
    );
    t.regex((await rows.locator('.budget').first().getAttribute('title')) ?? '', /at the rate so far, used up \d/);
    t.deepEqual(await violations(page), []);
  });
});

browserTest('machines that share a store are shown, also when the store fails', async (t) => {
  await on(t, '/settings?tab=service', async (page) => {
    t.is(await page.getByRole('heading', { name: 'Machines' }).count(), 0, 'nothing without FLEET');
    const member = { pid: 7, version: '1.2.3', config: 'a1b2c3', configSeconds: 99, streams: 4 };
    const members = ['one', 'two'].map((machine) => ({
      ...member,
      machine,
      address: `http://${machine}:3456`,
      isThis: machine === 'one',
    }));
    await page.route('**/api/fleet', (route) =>
      route.fulfill({ json: { store: { up: false, seconds: 0.001 }, drift: true, members } }),
    );
    await page.reload();
    await page.getByText("The store doesn't answer").waitFor();
    await page.getByText('Configurations differ').waitFor();
    await page.getByRole('row', { name: /one \(this one\) 7 http:\/\/one:3456 1\.2\.3 a1b2c3 4/ }).waitFor();
    t.deepEqual(await violations(page), []);
  });
});
