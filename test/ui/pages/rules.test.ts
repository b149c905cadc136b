import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Page } from 'playwright-core';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { hasBrowser, startBrowser, type TestBrowser, violations } from '../../support/processes/browser.ts';

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
    const destination = page.getByRole('combobox', { name: 'Destination', exact: true });
    await destination.fill('p,small');
    await destination.press('Tab');
    await page.getByRole('button', { name: 'Add a fallback to this rule' }).click();
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
      },
      ...rules,
    ]);
    const explained = await fetch(`${gateway.baseUrl}/api/explain?model=opus&text=Hello`);
    t.like(await explained.json(), { scenario: 'rule/large-ones', model: 'small' });

    await page.getByRole('button', { name: 'Explain' }).click();
    const result = page.getByRole('list', { name: 'Dry run result' });
    await result.getByText(/large-ones does not match: model is \*opus\* or \*sonnet\* \(no\)/).waitFor();
    t.deepEqual(complaints, []);
  },
);

browserTest('opening a rule and closing it again changes nothing; each fact has its field', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/routing`);
  await page.getByRole('button', { name: /^old/ }).click();
  t.true(await page.getByLabel('Responses').first().isChecked());
  t.is(await page.getByLabel('x-team: values', { exact: true }).inputValue(), 'blue\nred');
  t.is(await page.getByLabel('x-trial: test', { exact: true }).inputValue(), 'absent');
  t.is(await page.getByLabel('From', { exact: true }).inputValue(), '22:00');
  t.is(await page.getByLabel('Images', { exact: true }).inputValue(), 'no');
  t.is(await page.getByLabel('System prompt contains', { exact: true }).inputValue(), 'a');
  t.is(await page.getByLabel('Agent’s compaction', { exact: true }).inputValue(), '*');
  t.deepEqual(await violations(page), []);
  await page.setViewportSize({ width: 390, height: 844 });
  t.false(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'));
  await page.getByRole('button', { name: /^old/ }).click();
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
