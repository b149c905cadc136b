import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Page } from 'playwright-core';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { hasBrowser, startBrowser, type TestBrowser, violations } from '../../support/processes/browser.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

let browser: TestBrowser;
let gateway: TestGateway;

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

const rules = [
  {
    name: 'old',
    when: {
      client: ['chat', 'responses'],
      headers: { 'x-team': ['blue', 'red'], 'x-trial': false },
      tokens: { under: 10 },
      images: false,
      any: [{ system: 'a' }, { not: { compaction: '*' } }],
      time: { from: '22:00', to: '06:00' },
    },
    to: ['p,small', 'p,large'],
  },
];

test.before(async () => {
  if (!hasBrowser) return;
  const files = { 'route.js': 'module.exports = () => null;' };
  const config = {
    LOG: false,
    Providers: [{ name: 'p', baseUrl: 'http://127.0.0.1:9', apiKey: 'k', models: ['small', 'large'] }],
    Router: { default: 'p,large', rules },
  };
  gateway = await startGateway(config, {}, { files });
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await gateway?.stop();
});

const rulesOnDisk = async (): Promise<unknown> =>
  JSON.parse(await readFile(join(gateway.home, 'config.json'), 'utf8')).Router.rules;

const save = async (page: Page): Promise<void> => {
  const bar = page.getByRole('region', { name: 'Unsaved changes' });
  await bar.getByRole('button', { name: 'Save' }).click();
  await bar.waitFor({ state: 'detached' });
};

browserTest(
  'a rule is added by its form, moved to the front, and decides; a wrong one is reported at its field',
  async (t) => {
    const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/routing`);
    await page.getByRole('button', { name: 'Add a rule' }).click();
    await page.getByLabel('Rule name', { exact: true }).fill('a b');
    const add = page.getByLabel('Add to this condition', { exact: true });
    await add.selectOption({ label: 'Requested model' });
    await page.getByLabel('Requested model', { exact: true }).fill('*opus*\n*sonnet*');
    await add.selectOption({ label: 'Tokens' });
    await page.getByLabel('Tokens: more than', { exact: true }).fill('1');
    await add.selectOption({ label: 'Not' });
    const inner = page.getByRole('group', { name: 'Not', exact: true });
    await inner.getByLabel('Add to this condition', { exact: true }).selectOption({ label: 'Client protocol' });
    await inner.getByLabel('Messages', { exact: true }).uncheck();
    await inner.getByLabel('Chat Completions', { exact: true }).check();
    await page.getByLabel('Hold until the user speaks again').check();
    const destination = page.getByRole('combobox', { name: 'Destination', exact: true });
    await destination.fill('p,small');
    await destination.press('Tab');
    await page.getByRole('button', { name: 'Add a fallback' }).click();
    await page.getByRole('combobox', { name: 'Fallback 1' }).fill('p,large');
    await page.getByRole('combobox', { name: 'Fallback 1' }).press('Tab');
    await page
      .getByText(/Must be 1 to 64 letters/)
      .first()
      .waitFor();
    await page.getByLabel('Rule name', { exact: true }).fill('large-ones');
    await page
      .getByText(/Must be 1 to 64 letters/)
      .first()
      .waitFor({ state: 'detached' });
    t.deepEqual(await violations(page), []);
    await page.getByRole('button', { name: 'Move large-ones up' }).click();
    await save(page);
    t.deepEqual(await rulesOnDisk(), [
      {
        name: 'large-ones',
        when: { model: ['*opus*', '*sonnet*'], tokens: { over: 1 }, not: { client: 'chat' } },
        to: ['p,small', 'p,large'],
        hold: 'turn',
      },
      ...rules,
    ]);
    const explained = await fetch(`${gateway.baseUrl}/api/explain?model=opus&text=Hello`);
    t.like(await explained.json(), { scenario: 'rule/large-ones', model: 'small' });

    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.getByText('Step by step').click();
    const result = page.getByRole('list', { name: 'Dry run result' });
    await result.getByText(/large-ones does not match: model is \*opus\* or \*sonnet\* \(no\)/).waitFor();
    t.deepEqual(complaints, []);
  },
);

browserTest('opening a rule and closing it again changes nothing; each fact has its field', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/routing`);
  await page.getByRole('button', { name: /^old/ }).click();
  t.true(await page.getByRole('checkbox', { name: 'Responses' }).isChecked());
  t.is(await page.getByLabel('x-team: values', { exact: true }).inputValue(), 'blue\nred');
  t.is(await page.getByLabel('x-trial: test', { exact: true }).inputValue(), 'absent');
  t.is(await page.getByLabel('From', { exact: true }).inputValue(), '22:00');
  t.is(await page.getByLabel('Images', { exact: true }).inputValue(), 'no');
  t.is(await page.getByLabel('System prompt contains', { exact: true }).inputValue(), 'a');
  t.is(await page.getByLabel('Agent’s compaction', { exact: true }).inputValue(), '*');
  t.deepEqual(await violations(page), []);
  await page.setViewportSize({ width: 390, height: 844 });
  t.false(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'));
  await page.getByRole('button', { name: 'Back to the drawing' }).click();
  t.is(await page.getByRole('region', { name: 'Unsaved changes' }).count(), 0);
  t.deepEqual(complaints, []);
});

browserTest('a header keeps its test while another one’s name is typed through its own', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/routing`);
  await page.getByRole('button', { name: /^old/ }).click();
  await page.getByRole('button', { name: 'Add a header' }).click();
  const added = page.getByLabel('Header', { exact: true }).nth(2);
  await added.pressSequentially('x-team');
  await page.getByText('Is tested again below; only that test is used.').waitFor();
  await added.pressSequentially('s');
  await page.getByText('Is tested again below').waitFor({ state: 'detached' });
  t.is(await page.getByLabel('x-team: values', { exact: true }).inputValue(), 'blue\nred');
  t.is(await page.getByLabel('x-teams: test', { exact: true }).inputValue(), 'present');
  await save(page);
  const { Router } = JSON.parse(await readFile(join(gateway.home, 'config.json'), 'utf8'));
  t.deepEqual(Router.rules.at(-1).when.headers, {
    'x-team': ['blue', 'red'],
    'x-trial': false,
    'x-teams': true,
  });
  t.deepEqual(complaints, []);
});

browserTest('a module is set, and one that cannot be used is reported at its field', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/routing`);
  await page.getByRole('button', { name: 'Router module' }).click();
  const path = page.getByLabel('Router module', { exact: true });
  await path.fill('none.js');
  await page
    .getByText(/Can't be used: none\.js/i)
    .first()
    .waitFor();
  await page.getByLabel('The module takes').selectOption({ label: 'A Messages body and the configuration' });
  await path.fill('route.js');
  await page
    .getByText(/Can't be used/i)
    .first()
    .waitFor({ state: 'detached' });
  await save(page);
  const { Router } = JSON.parse(await readFile(join(gateway.home, 'config.json'), 'utf8'));
  t.deepEqual(Router.module, { path: 'route.js', form: 'messages' });
  t.deepEqual(complaints, []);
});

/** The titles of the nodes that are lit. */
const litNodes = (page: Page) => page.locator('.routing-lit .routing-title > .cut').allTextContents();

browserTest(
  'a scenario is changed where it is drawn, and a tried request is lit there by what is not saved',
  async (t) => {
    const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/routing`);
    const drawing = page.getByRole('group', { name: 'Drawing of the rules and destinations' });
    await drawing.getByRole('button', { name: /^Background/ }).click();
    await page.getByRole('combobox', { name: 'Destination', exact: true }).fill('p,small');
    await page.getByLabel('Sample').selectOption({ label: 'Background task' });
    await page.locator('.routing-lit').first().waitFor();
    t.deepEqual(await litNodes(page), ['Messages', 'Background', 'small']);
    await page.getByRole('combobox', { name: 'Destination', exact: true }).fill('p,large');
    await page.locator('.routing-lit', { hasText: 'large' }).waitFor();
    t.deepEqual(await litNodes(page), ['Messages', 'Background', 'large'], 'tried again as it is changed');
    await page.route('**/api/explain', () => undefined);
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.getByText('The gateway has not answered within 5 s.').first().waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.locator('.routing-lit').first().waitFor();
    t.deepEqual(complaints, []);
  },
);

browserTest(
  'what is on no way through the box under the pointer is dimmed, and red figures are explained',
  async (t) => {
    const body = JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hi' }] });
    await (await fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', body })).text();
    const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/routing`);
    const opacity = (id: string): Promise<string> =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('[data-node="${id}"]')).opacity`);
    await page.getByRole('button', { name: /^Default/ }).hover();
    await page.locator('.routing-dim').first().waitFor();
    t.deepEqual(
      [await opacity('scenario/default'), await opacity('client/chat'), await opacity('scenario/background')],
      ['1', '1', '0.2'],
    );
    t.true((await page.locator('path.routing-dim').count()) > 0);
    await page.mouse.move(0, 0);
    await page.locator('.routing-dim').first().waitFor({ state: 'detached' });
    await page.getByText('% a quarter of them or more failed').waitFor();
    t.deepEqual(complaints, []);
  },
);

browserTest('the drawing is used by keyboard: arrows, Enter, and Alt to move a rule', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/routing`);
  const drawing = page.getByRole('group', { name: 'Drawing of the rules and destinations' });
  const focused = (): Promise<string> => page.evaluate('document.activeElement.dataset.node ?? ""');
  await drawing.getByRole('button', { name: /^Router module/ }).focus();
  await page.keyboard.press('ArrowDown');
  const rule = await focused();
  t.is(rule, 'rule/0');
  await page.keyboard.press('Enter');
  const name = page.getByLabel('Rule name', { exact: true });
  const before = await name.inputValue();
  await page.keyboard.press('Alt+ArrowDown');
  t.is(await name.inputValue(), before, 'the moved rule stays open');
  t.is(await page.getByRole('button', { name: `Move ${before} down` }).isDisabled(), true);
  await page.keyboard.press('ArrowRight');
  t.regex(await focused(), /^to\/p,/);
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowLeft');
  t.regex(await focused(), /^client\//);
  await page.goto(`${gateway.baseUrl}/ui#/routing?at=rule/99`);
  await page.getByRole('heading', { name: 'Not there any more' }).waitFor();
  t.deepEqual(complaints, []);
});

browserTest(
  'a custom transformer begins with a starter file, and shows what it does to the last captured request',
  async (t) => {
    await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-junctor-capture': '1' },
      body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hi' }] }),
    });
    const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/routing`);
    await page.getByRole('button', { name: 'Stages', exact: true }).click();
    await page.getByLabel('Add a transformer').selectOption('module');
    await page.getByLabel('Module').fill('my-stage.ts');
    const starter = await page.getByRole('region', { name: 'my-stage.ts' }).textContent();
    await writeFile(join(gateway.home, 'my-stage.ts'), starter ?? '');
    await page.getByRole('button', { name: 'Show on last request' }).click();
    await page.getByRole('region', { name: 'Before and after' }).getByText('Answer in one paragraph.').waitFor();
    t.deepEqual(await violations(page), []);
    t.deepEqual(complaints, []);
  },
);

browserTest('the guide leads to the first answer; what is done is read from the service', async (t) => {
  let isRefused = true;
  const upstream = await startUpstream(() =>
    isRefused ? jsonAnswer({ error: { message: 'wrong key' } }, 401) : jsonAnswer(chatReply('Hello!')),
  );
  const fresh = await startGateway();
  t.teardown(async () => {
    await fresh.stop();
    await upstream.close();
  });
  const { page } = await browser.open(`${fresh.baseUrl}/ui#/guide`);
  const step = page.locator('[aria-current=step]');
  await step.getByRole('link', { name: 'Add a provider' }).waitFor();
  t.deepEqual(await violations(page), []);
  const before = Object(await (await fetch(`${fresh.baseUrl}/api/config`)).json());
  const own = { name: 'mine', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] };
  await fetch(`${fresh.baseUrl}/api/config`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...before, Providers: [...before.Providers, own] }),
  });
  await page.reload();
  await step.getByRole('button', { name: 'Use mine,m' }).click();
  await step.getByRole('button', { name: 'Ask it something' }).click();
  await page
    .getByRole('alert')
    .getByText(/mine refused the gateway's credentials/)
    .waitFor();
  isRefused = false;
  await page.getByRole('button', { name: 'Ask it something' }).click();
  await page.getByText('Hello!').waitFor();
  await page.getByRole('heading', { name: 'All set: your requests are answered' }).waitFor();
  // Nothing of it is kept in the browser.
  await page.evaluate('localStorage.clear(); sessionStorage.clear()');
  await page.reload();
  await page.getByRole('heading', { name: 'All set: your requests are answered' }).waitFor();
  t.is(await step.count(), 0);
});
