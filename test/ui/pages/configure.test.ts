import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Locator, Page } from 'playwright-core';
import { start } from '../../../engine/service/server.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import {
  hasBrowser,
  replaceText,
  startBrowser,
  type Tab,
  type TestBrowser,
  violations,
} from '../../support/processes/browser.ts';
import { until } from '../../support/until.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../../support/upstreams/upstream.ts';

let browser: TestBrowser;
let gateway: TestGateway;
let upstream: ScriptedUpstream;

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

const written = (upstreamUrl: string) => ({
  Providers: [
    { name: 'first', baseUrl: upstreamUrl, apiKey: '$FIRST_KEY', models: ['small', 'large'] },
    { name: 'second', baseUrl: `${upstreamUrl}/v1`, apiKey: 'a-key-in-the-file', models: ['other'] },
  ],
  Router: { default: 'first,large', routes: { background: 'first,small' } },
  transformers: [
    { name: 'maxtoken', provider: 'first', options: { max_tokens: 4096 } },
    { name: 'reasoning', options: { tag: 'think' } },
    { path: 'stages/absent.ts', provider: 'second' },
  ],
});

/** A module that demands an option. */
const strictModule = `import { transformer, Type } from 'junctor/transformer';
export default transformer({ name: 'strict', options: Type.Object({ word: Type.String() }), request: (request) => request });`;

test.before(async () => {
  if (!hasBrowser) return;
  upstream = await startUpstream(({ url }) =>
    url.endsWith('/models')
      ? jsonAnswer({ object: 'list', data: ['small', 'large', 'huge'].map((id) => ({ id, object: 'model' })) })
      : jsonAnswer({
          id: 'c1',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: 'All clear.' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
        }),
  );
  gateway = await startGateway(
    written(upstream.url),
    { FIRST_KEY: 'k' },
    {
      files: {
        'strict.ts': strictModule,
        'presets/cheap/manifest.json': JSON.stringify({ Router: { default: 'first,small' } }),
      },
      localServerKinds: [
        {
          name: 'vllm',
          title: 'vLLM',
          origin: upstream.url,
          models: async () => [{ name: 'org/m', contextWindow: 8192 }],
        },
      ],
    },
  );
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.close();
});

/** Runs on a page; afterwards nothing may have been complained of. */
const on = async (
  t: ExecutionContext,
  hash: string,
  run: (page: Page, tab: Tab) => Promise<void>,
  expected: readonly RegExp[] = [],
): Promise<void> => {
  const tab = await browser.open(`${gateway.baseUrl}/ui#${hash}`);
  await run(tab.page, tab);
  t.deepEqual(
    tab.complaints.filter((line) => !expected.some((one) => one.test(line))),
    [],
  );
};

const onDisk = async (): Promise<ReturnType<typeof written> & Record<string, unknown>> =>
  JSON.parse(await readFile(join(gateway.home, 'config.json'), 'utf8'));

const put = async (change: (config: Record<string, unknown>) => object): Promise<void> => {
  const before = await (await fetch(`${gateway.baseUrl}/api/config`)).json();
  const response = await fetch(`${gateway.baseUrl}/api/config`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(change(before as Record<string, unknown>)),
  });
  if (!response.ok) throw new Error(await response.text());
};

const isCovered = `(button) => {
  const { x, y, width, height } = button.getBoundingClientRect();
  const top = document.elementFromPoint(x + width / 2, y + height / 2);
  return top !== null && top.closest('.toasts') !== null;
}`;

const save = async (page: Page): Promise<void> => {
  const bar = page.getByRole('region', { name: 'Unsaved changes' });
  const button = bar.getByRole('button', { name: 'Save' });
  // Messages of an earlier save may still be there: they mustn't lie on the button.
  if (await button.evaluate(isCovered)) throw new Error('A message lies on the Save button.');
  await button.click();
  await bar.waitFor({ state: 'detached' });
  await page.getByText('The configuration was saved and is in use.').last().waitFor();
};

/** Chooses a node of the drawing of the routing, which opens its editor. */
const choose = (page: Page, name: string): Promise<void> =>
  page
    .getByRole('group', { name: 'Drawing of the rules and destinations' })
    .getByRole('button', { name: new RegExp(`^${name}`) })
    .first()
    .click();

const pages = [
  ['providers', '/providers', 'first'],
  ['routing', '/routing', 'Long context'],
  ['routing of a rule', '/routing?at=scenario%2FlongContext', 'Threshold'],
  ['stages', '/routing?at=stages', 'maxtoken'],
  ['preset', '/routing?preset=cheap&at=scenario%2Fdefault', 'Preset cheap'],
  ['settings', '/settings', 'Listening'],
  ['settings-file', '/settings?tab=file', 'config.json'],
  ['settings-backups', '/settings?tab=backups', 'Backups'],
  ['settings-history', '/settings?tab=history', 'History'],
  ['settings-service', '/settings?tab=service', 'Processes'],
] as const;

for (const [name, hash, text] of pages) {
  browserTest(`${name}: accessible in both themes, fits a phone`, async (t) => {
    await on(t, hash, async (page) => {
      await page.getByText(text).first().waitFor();
      await page.waitForTimeout(300);
      for (const row of await page.locator('.sortable-name').all()) await row.click();
      t.deepEqual(await violations(page), []);
      await page.setViewportSize({ width: 390, height: 844 });
      t.false(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'));
      await page.setViewportSize({ width: 1280, height: 800 });
      for (const row of await page.locator('.sortable-name').all()) await row.click();
    });
  });
}

/** The dialog, with a vendor picked. */
const addProvider = async (page: Page, vendor: string, url: string): Promise<Locator> => {
  await page.getByRole('button', { name: 'Add a provider' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add a provider' });
  await dialog.getByLabel('Vendor').selectOption({ label: vendor });
  await dialog.getByLabel('Base URL').fill(url);
  return dialog;
};

const other = 'Another service or server';

browserTest(
  'a provider is added by three fields: its models are fetched, tested, saved, and the save undone',
  async (t) => {
    const before = await onDisk();
    await on(t, '/providers', async (page) => {
      const dialog = await addProvider(page, other, upstream.url);
      t.is(await dialog.locator('.field-error').count(), 0, 'nothing is red before it is typed');
      await dialog.getByLabel('huge', { exact: true }).waitFor();
      const checked = dialog.locator('.model-picker input[type=checkbox]:checked');
      while ((await checked.count()) > 0) await checked.first().uncheck();
      await dialog.getByLabel('huge', { exact: true }).check();
      t.false(await dialog.getByLabel(/^Make .* the default$/).isChecked(), 'there is a default');
      await dialog.getByRole('button', { name: 'Test connection' }).click();
      await dialog.getByText('Connection works').waitFor();
      await dialog.getByText('All clear.').waitFor();
      t.deepEqual(await violations(page), []);
      t.deepEqual(await onDisk(), before, 'nothing is saved by a test');
      await dialog.getByRole('button', { name: 'Add', exact: true }).click();
      await dialog.waitFor({ state: 'detached' });
      t.like((await onDisk()).Providers[2], { name: 'local', baseUrl: upstream.url, models: ['huge'] });

      await page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Undo' }).click();
      await page.getByText('The configuration is as it was before.').waitFor();
      t.deepEqual(await onDisk(), before);
      await put(() => ({
        ...before,
        Providers: [...before.Providers, { name: 'third', baseUrl: upstream.url, apiKey: '', models: ['huge'] }],
      }));

      await page.getByRole('link', { name: 'Routing' }).click();
      await page.getByRole('button', { name: /^Thinking/ }).click();
      const field = page.getByRole('combobox', { name: 'Destination', exact: true });
      await field.fill('hu');
      await field.press('ArrowDown');
      await field.press('Enter');
      t.is(await field.inputValue(), 'third,huge');
      const trial = page.getByRole('region', { name: 'Try a request' });
      await trial.getByLabel('Sample').selectOption({ label: 'Thinking' });
      await trial.getByRole('button', { name: 'Try', exact: true }).click();
      await trial.getByText('third,huge').first().waitFor();
      t.notRegex(JSON.stringify((await onDisk()).Router), /huge/, 'nothing is saved by a dry run');
      await save(page);
      t.like((await onDisk()).Router, { default: 'first,large', routes: { think: 'third,huge' } });
    });
  },
);

browserTest('a server on the same machine is among the vendors, with its models', async (t) => {
  await on(t, '/providers', async (page) => {
    const before = await onDisk();
    await page.getByRole('button', { name: 'Add a provider' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a provider' });
    await dialog.getByLabel('Vendor').selectOption({ label: `vLLM, running at ${upstream.url}/v1` });
    t.is(await dialog.getByLabel('Base URL').inputValue(), `${upstream.url}/v1`);
    await dialog.getByLabel('org/m', { exact: true }).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    t.deepEqual(await onDisk(), before);
  });
});

browserTest('renaming a provider updates its routes', async (t) => {
  await on(t, '/providers', async (page) => {
    await page
      .getByRole('list', { name: 'Providers' })
      .getByRole('button', { name: /^third/ })
      .click();
    await page.getByLabel('Name', { exact: true }).fill('thirdly');
    await page.getByLabel('Name', { exact: true }).press('Tab');
    await save(page);
    t.like((await onDisk()).Router, { routes: { think: 'thirdly,huge' } });
  });
});

browserTest('a key in plain text is reported, masked everywhere, and kept', async (t) => {
  await on(t, '/providers', async (page) => {
    await page
      .getByRole('list', { name: 'Providers' })
      .getByRole('button', { name: /^second/ })
      .click();
    await page.getByText('key in plain text').waitFor();
    t.is(await page.getByLabel('Key', { exact: true }).getAttribute('type'), 'password');
    await page.goto(`${gateway.baseUrl}/ui#/settings?tab=file`);
    const editor = page.getByRole('textbox', { name: 'config.json' });
    await editor.getByText('•••• Providers[second].apiKey').waitFor();
    t.false((await page.content()).includes('a-key-in-the-file'));
    const changed = (await text(page)).replace('"LOG_LEVEL"', '"X"').replace('{', '{ "LOG_LEVEL": "warn",');
    await replaceText(editor, changed);
    await page.getByRole('button', { name: 'Review' }).click();
    await page.getByRole('dialog').getByText('"LOG_LEVEL": "warn"').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByText('The configuration was saved and is in use.').waitFor();
    const { LOG_LEVEL, Providers } = await onDisk();
    t.is(LOG_LEVEL, 'warn');
    t.is(Providers[1]?.apiKey, 'a-key-in-the-file');
  });
});

browserTest('the tab of the settings follows the address, also where only its fragment changes', async (t) => {
  await on(t, '/settings', async (page) => {
    await page.getByLabel('Port (PORT)').waitFor();
    await page.evaluate(`location.hash = '#/settings?tab=file'`);
    await page.getByRole('textbox', { name: 'config.json' }).waitFor();
    await page.goBack();
    await page.getByLabel('Port (PORT)').waitFor();
    await page.getByRole('tab', { name: 'Backups' }).click();
    await page.getByRole('tab', { name: 'Backups', selected: true }).waitFor();
    t.regex(page.url(), /#\/settings\?tab=backups$/);
  });
});

browserTest('a key that is typed is in no storage, and is asked for again after a reload', async (t) => {
  await on(t, '/providers', async (page) => {
    const open = () =>
      page
        .getByRole('list', { name: 'Providers' })
        .getByRole('button', { name: /^second/ })
        .click();
    await open();
    const field = page.getByLabel('Key', { exact: true });
    await field.fill('a-typed-key');
    await page.getByText('Unsaved changes').waitFor();
    t.false(String(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).includes('a-typed-key'));
    await page.reload();
    await page.getByText('Unsaved changes restored').waitFor();
    const bar = page.getByRole('region', { name: 'Unsaved changes' });
    await bar.getByText('no secret is stored for it at this address; enter the secret').waitFor();
    t.true(await bar.getByRole('button', { name: 'Save', exact: true }).isDisabled());
    await open();
    await field.fill('a-typed-key');
    await save(page);
    t.is((await onDisk()).Providers[1]?.apiKey, 'a-typed-key');
  });
});

/** The editor's whole text, which it shows only a part of. */
const text = async (page: Page): Promise<string> => {
  const answer = await page.request.get(`${gateway.baseUrl}/api/config?secrets=hidden`);
  return JSON.stringify(await answer.json(), null, 2);
};

browserTest('fallbacks are an ordered list, and the dry run lists them', async (t) => {
  await on(t, '/routing', async (page) => {
    await choose(page, 'Default');
    const add = page.getByRole('button', { name: 'Add a fallback' });
    await add.click();
    await page.getByRole('combobox', { name: 'Fallback 1' }).fill('second,other');
    await page.keyboard.press('Tab');
    await add.click();
    await page.getByRole('combobox', { name: 'Fallback 2' }).fill('first,large');
    await page.getByText('first,large comes twice').waitFor();
    await page.getByRole('combobox', { name: 'Fallback 2' }).fill('first,small');
    await page.getByText('comes twice').waitFor({ state: 'detached' });
    await page.keyboard.press('Tab');
    await page.getByRole('button', { name: 'Move first,small up' }).click();
    await save(page);
    t.like((await onDisk()).Router, { fallback: { default: ['first,small', 'second,other'] } });
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.getByText('Step by step').click();
    const steps = page.getByRole('list', { name: 'Dry run result' });
    await steps.getByText('Fallbacks').waitFor();
    t.deepEqual(await steps.locator('ol strong').allTextContents(), ['first,small', 'second,other']);
  });
});

browserTest("a provider can take its clients' own credentials", async (t) => {
  await on(t, '/providers', async (page) => {
    await page
      .getByRole('list', { name: 'Providers' })
      .getByRole('button', { name: /^second/ })
      .click();
    await page.getByText('More options').click();
    await page.getByLabel('Credentials').selectOption('client');
    await page.getByLabel('Key', { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Unsaved changes' }).getByRole('button', { name: 'Review' }).click();
    await page.getByRole('dialog').getByText('"credentials": "client"').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Credentials').selectOption({ label: 'Not set' });
    await page.getByRole('region', { name: 'Unsaved changes' }).waitFor({ state: 'detached' });
  });
});

browserTest('a pool is added, named by a route and renamed; the dry run shows its members', async (t) => {
  await on(t, '/routing', async (page) => {
    await page.getByRole('button', { name: 'Add a pool' }).click();
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('both');
    await page.getByLabel('Strategy').selectOption({ label: 'Sticky: one member per conversation' });
    await page.getByRole('combobox', { name: 'Member 1: destination' }).fill('first,large');
    await page.getByLabel('Member 1: weight').fill('2.5');
    await page.getByRole('button', { name: 'Add a member to both' }).click();
    await page.getByRole('combobox', { name: 'Member 2: destination' }).fill('second,other');
    await page.getByLabel('Member 2: only for these models').fill('*haiku*, small');
    t.deepEqual(await violations(page), []);
    await choose(page, 'Image');
    const route = page.getByRole('combobox', { name: 'Destination', exact: true });
    await route.fill('bot');
    await route.press('ArrowDown');
    await route.press('Enter');
    t.is(await route.inputValue(), 'both');
    await choose(page, 'both');
    await name.fill('pair');
    await name.press('Tab');
    await choose(page, 'Image');
    t.is(await route.inputValue(), 'pair');
    await save(page);
    const { Pools, Router } = await onDisk();
    t.deepEqual(Pools, [
      {
        name: 'pair',
        strategy: 'sticky',
        members: [
          { to: 'first,large', weight: 2.5 },
          { to: 'second,other', models: ['*haiku*', 'small'] },
        ],
      },
    ]);
    t.like(Router, { routes: { image: 'pair' } });
    await page.getByLabel('Sample').selectOption({ label: 'Image' });
    await page.getByText('Step by step').click();
    const members = page.getByRole('list', { name: 'Members' }).filter({ hasText: 'second,other' });
    await members.getByText('chosen').waitFor();
    t.deepEqual(
      await page.locator('.routing-lit .routing-title > .cut').allTextContents(),
      ['Messages', 'Image', '2 stages', 'pair', 'large'],
      'the way of the request is lit',
    );
    await page.setViewportSize({ width: 390, height: 844 });
    t.false(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'));
    await page.setViewportSize({ width: 1280, height: 800 });
    await put(({ Pools: _, Router, ...config }) => ({
      ...config,
      Router: { ...Object(Router), routes: { ...Object(Object(Router).routes), image: '' } },
    }));
  });
});

browserTest('a provider that is removed hands its routes to another one', async (t) => {
  const before = await onDisk();
  await put((config) => ({
    ...config,
    Providers: [...before.Providers, { name: 'spare', baseUrl: upstream.url, apiKey: '$SPARE', models: ['other'] }],
    transformers: [...before.transformers, { name: 'reasoning', provider: 'spare' }],
    Router: {
      default: 'first,large',
      routes: { background: 'first,small', think: 'spare,other' },
      fallback: { default: ['spare,other', 'first,small'] },
      rules: [{ name: 'mine', when: { images: true }, to: ['spare,other', 'first,small'] }],
    },
    Pools: [{ name: 'pair', members: [{ to: 'first,large' }, { to: 'spare,other' }] }],
  }));
  t.teardown(() => put(() => before));
  await on(t, '/providers', async (page) => {
    await page.getByRole('button', { name: 'Remove spare' }).click();
    const dialog = page.getByRole('dialog', { name: 'Remove spare?' });
    t.deepEqual(await dialog.getByRole('list', { name: 'Uses of spare' }).locator('li').allTextContents(), [
      'the route Thinking',
      'fallbacks of Default',
      'the rule mine',
      'the pool pair',
      'its transformers, which are removed',
    ]);
    t.deepEqual(await violations(page), []);
    const to = dialog.getByLabel('Move its routes to');
    t.is(await to.inputValue(), 'first,large');
    await to.fill('spare,other');
    t.true(await dialog.getByRole('button', { name: 'Remove and move routes' }).isDisabled());
    await to.fill('first,small');
    await to.press('Escape');
    await dialog.getByRole('button', { name: 'Remove and move routes' }).click();
    await dialog.waitFor({ state: 'detached' });
    await save(page);
  });
  const after = await onDisk();
  t.false(JSON.stringify(after).includes('spare'));
  t.like(after, {
    Router: {
      default: 'first,large',
      routes: { background: 'first,small', think: 'first,small' },
      fallback: { default: ['first,small'] },
    },
    Pools: [{ name: 'pair', members: [{ to: 'first,large' }] }],
  });
});

browserTest('a provider can have several keys', async (t) => {
  await on(t, '/providers', async (page) => {
    await page
      .getByRole('list', { name: 'Providers' })
      .getByRole('button', { name: /^first/ })
      .click();
    await page.getByRole('button', { name: 'Add a key' }).click();
    await page.getByLabel('Key 2', { exact: true }).fill('$OTHER_KEY');
    t.is(await page.getByLabel('Key 1', { exact: true }).inputValue(), '$FIRST_KEY');
    await save(page);
    t.like((await onDisk()).Providers[0], { apiKey: ['$FIRST_KEY', '$OTHER_KEY'] });
    await page.getByText('0 requests in flight').first().waitFor();
    await page.getByRole('button', { name: 'Remove key 2' }).click();
    await page.getByRole('region', { name: 'Unsaved changes' }).getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('region', { name: 'Unsaved changes' }).waitFor({ state: 'detached' });
  });
});

browserTest('a provider can have further base URLs', async (t) => {
  await on(t, '/providers', async (page) => {
    await page
      .getByRole('list', { name: 'Providers' })
      .getByRole('button', { name: /^first/ })
      .click();
    await page.getByText('More options').click();
    const further = page.getByLabel('Further base URLs');
    await further.fill('nowhere');
    await page.getByText('must be a URL (http or https)').first().waitFor();
    await further.fill('http://127.0.0.1:9/v1');
    await save(page);
    t.like((await onDisk()).Providers[0], { otherBaseUrls: ['http://127.0.0.1:9/v1'] });
    await further.fill('');
    await save(page);
    t.false('otherBaseUrls' in ((await onDisk()).Providers[0] ?? {}));
    const idle = page.getByLabel('Idle (idleMs)');
    await idle.fill('1800000');
    await idle.blur();
    await save(page);
    t.like((await onDisk()).Providers[0], { timeouts: { idleMs: 1_800_000 } });
  });
});

const openAdditions = async (page: Page): Promise<void> => {
  await page
    .getByRole('list', { name: 'Providers' })
    .getByRole('button', { name: /^first/ })
    .click();
  await page.getByText('More options').click();
};

browserTest(
  'a provider and one of its models have headers, URL parameters and body members of their own',
  async (t) => {
    await on(t, '/providers', async (page) => {
      await openAdditions(page);
      const name = (kind: string, row: number) => page.getByLabel(`Name of ${kind} ${row}`, { exact: true });
      const value = (kind: string, row: number) => page.getByLabel(`Value of ${kind} ${row}`, { exact: true });
      const add = (kind: string) => page.getByRole('button', { name: `Add to ${kind}` });
      await add('Headers').click();
      t.true(await add('Headers').isDisabled(), 'one row without a name is enough');
      await name('Headers', 1).fill('host');
      await name('Headers', 1).press('Tab');
      await page.getByText('Is set by the gateway itself; use `baseUrl` instead.').waitFor();
      await name('Headers', 1).fill('x-title');
      await value('Headers', 1).fill('all');
      await add('Headers').click();
      await value('Headers', 2).fill('secret-of-a-team');
      // On the way, the name is that of the first row.
      await name('Headers', 2).pressSequentially('x-title');
      await page.getByText('Is set again below; only that value is used.').waitFor();
      await name('Headers', 2).pressSequentially('-key');
      t.is(await value('Headers', 2).getAttribute('type'), 'password');
      await page.getByLabel('For', { exact: true }).selectOption('large');
      t.is(await page.getByLabel('Base URL', { exact: true }).count(), 1);
      await add('URL parameters').click();
      await name('URL parameters', 1).fill('a');
      await value('URL parameters', 1).fill('b');
      await add('URL parameters').click();
      // Numbers come first in an object, and keep their place on the page.
      await name('URL parameters', 2).pressSequentially('12');
      await replaceText(page.getByRole('textbox', { name: 'Body', exact: true }), '{"seed": 7}');
      t.deepEqual(await violations(page), []);
      await save(page);
      const query = { 12: '', a: 'b' };
      t.like(await onDisk(), {
        Providers: {
          0: {
            headers: { 'x-title': 'all', 'x-title-key': 'secret-of-a-team' },
            models: { 1: { name: 'large', query, body: { seed: 7 } } },
          },
        },
      });

      await page.reload();
      await openAdditions(page);
      t.is(await value('Headers', 2).inputValue(), '•••• Providers[first].headers.x-title-key');
      await value('Headers', 1).fill('changed');
      await save(page);
      t.like(await onDisk(), {
        Providers: { 0: { headers: { 'x-title': 'changed', 'x-title-key': 'secret-of-a-team' } } },
      });

      await page.getByRole('button', { name: 'Remove Headers 2' }).click();
      await page.getByRole('button', { name: 'Remove Headers 1' }).click();
      await page.getByLabel('For', { exact: true }).selectOption('large');
      await replaceText(page.getByRole('textbox', { name: 'Body', exact: true }), '');
      for (const row of [2, 1]) await page.getByRole('button', { name: `Remove URL parameters ${row}` }).click();
      await save(page);
      t.like(await onDisk(), { Providers: { 0: { models: ['small', 'large'] } } });
      t.notRegex(JSON.stringify(await onDisk()), /x-title|seed/);
    });
  },
);

browserTest(
  'an additional header that is not text is shown, kept, and corrected where its problem leads',
  async (t) => {
    await on(t, '/settings?tab=file', async (page) => {
      const editor = page.getByRole('textbox', { name: 'config.json' });
      await editor.getByText('"first"').first().waitFor();
      const changed = (await text(page)).replace('"name": "first",', '"name": "first", "headers": { "x-n": 5 },');
      await replaceText(editor, changed);
      await page.getByRole('link', { name: 'Providers', exact: true }).click();
      await page.getByRole('button', { name: 'Providers[0].headers.x-n' }).click();
      const value = page.getByLabel('Value of Headers 1', { exact: true });
      t.is(await value.inputValue(), '5');
      t.is(await page.evaluate('document.activeElement.value'), 'x-n', 'the folded form opens');
      await page.getByText('Must be string.').waitFor();
      await page.getByRole('button', { name: 'Add to Headers' }).click();
      await page.getByLabel('Name of Headers 2', { exact: true }).fill('x-m');
      t.is(await value.inputValue(), '5');
      await value.fill('56');
      await save(page);
      t.like((await onDisk()).Providers[0], { headers: { 'x-n': '56', 'x-m': '' } });
      for (const row of [2, 1]) await page.getByRole('button', { name: `Remove Headers ${row}` }).click();
      await save(page);
      t.false('headers' in ((await onDisk()).Providers[0] ?? {}));
    });
  },
);

browserTest('facts about a model are set in fields, and a model without any is a name again', async (t) => {
  await on(t, '/providers', async (page) => {
    await page
      .getByRole('list', { name: 'Providers' })
      .getByRole('button', { name: /^first/ })
      .click();
    await page.getByText('More options').click();
    await page.getByLabel('For', { exact: true }).selectOption('large');
    await page.getByLabel('Context', { exact: true }).fill('65536');
    const price = page.getByRole('group', { name: 'Price' });
    await price.getByLabel('Input').fill('0.5');
    await price.getByLabel('Output').focus();
    await price.getByLabel('Output').press('Tab');
    await page.getByText('output is required').first().waitFor();
    await price.getByLabel('Output').fill('2');
    await page.getByRole('group', { name: 'Input' }).getByLabel('Image').check();
    const lacks = page.getByRole('group', { name: 'Lacks' });
    await lacks.getByLabel('Forced tool choice').check();
    await lacks.getByLabel('Sampling').check();
    await save(page);
    const large = {
      name: 'large',
      context: 65_536,
      price: { input: 0.5, output: 2 },
      input: ['image'],
      lacks: ['sampling', 'forcedToolChoice'],
    };
    t.deepEqual((await onDisk()).Providers[0]?.models, ['small', large]);
    t.deepEqual(await violations(page), []);
    await page.getByLabel('Context', { exact: true }).fill('');
    for (const name of ['Input', 'Output']) await price.getByLabel(name).fill('');
    for (const name of ['Image', 'Forced tool choice', 'Sampling'])
      await page.getByRole('checkbox', { name, exact: true }).uncheck();
    await save(page);
    t.deepEqual((await onDisk()).Providers[0]?.models, ['small', 'large']);
  });
});

browserTest('transformers: options by schema, order by keyboard and by dragging', async (t) => {
  await on(t, '/routing?at=stages', async (page) => {
    await page
      .getByRole('list', { name: 'Transformers' })
      .getByRole('button', { name: /^maxtoken/ })
      .click();
    await page.getByLabel('max_tokens').fill('2048');
    await page.getByText('When it runs, and what follows when it fails', { exact: true }).click();
    await page.getByLabel('On error (onError)').selectOption('skip');
    await page.getByRole('button', { name: 'Add a condition' }).click();
    await page.getByLabel('Add to this condition', { exact: true }).selectOption({ label: 'Requested model' });
    await page.getByLabel('Requested model', { exact: true }).fill('*opus*');
    await page.getByText('When it runs, and what follows when it fails (set)', { exact: true }).click();
    const names = async () => page.locator('.sortable-row strong').allTextContents();
    await page.getByRole('button', { name: 'Move maxtoken down' }).click();
    t.deepEqual((await names()).slice(0, 2), ['reasoning', 'maxtoken']);
    t.is(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'Move maxtoken down');
    await page.keyboard.press('Alt+ArrowUp');
    t.deepEqual((await names()).slice(0, 2), ['maxtoken', 'reasoning']);
    const rows = page.locator('.sortable-row');
    await rows.nth(1).locator('.sortable-grip').dragTo(rows.nth(0).locator('.sortable-grip'));
    t.deepEqual((await names()).slice(0, 2), ['reasoning', 'maxtoken']);
    await save(page);
    t.like((await onDisk()).transformers[1], {
      name: 'maxtoken',
      options: { max_tokens: 2048 },
      onError: 'skip',
      when: { model: '*opus*' },
    });
    await page.getByText('not loaded').waitFor();
  });
});

browserTest('an invalid edit can not be saved, and its field shows why', async (t) => {
  const before = await onDisk();
  await on(t, '/routing?at=stages', async (page) => {
    const bar = page.getByRole('region', { name: 'Unsaved changes' });
    await page
      .getByRole('list', { name: 'Transformers' })
      .getByRole('button', { name: /^maxtoken/ })
      .click();
    // The gateway's check reports the same field.
    const checked = page.waitForResponse((response) => /"max_tokens":0\b/.test(response.request().postData() ?? ''));
    await page.getByLabel('max_tokens').fill('0');
    await bar.getByText('must be at least 1').waitFor();
    t.true(await bar.getByRole('button', { name: 'Save' }).isDisabled());
    await checked;
    await bar.getByText('1 problem', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Providers' }).click();
    await page
      .getByRole('list', { name: 'Providers' })
      .getByRole('button', { name: /^first/ })
      .click();
    await page.getByLabel('Base URL', { exact: true }).fill('ftp://nowhere');
    await bar.getByText('must be a URL').waitFor();
    await page.getByText('Must be a URL (http or https).').waitFor();
    // From one problem to the field of the other, on another page.
    await bar.getByRole('button', { name: 'transformers[1].options.max_tokens' }).click();
    await page.getByRole('heading', { level: 2, name: 'Stages' }).waitFor();
    await page.locator(':focus[data-path="transformers[1].options.max_tokens"]').waitFor();
    await bar.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    t.is(await page.getByLabel('max_tokens').inputValue(), '2048');
  });
  t.deepEqual(await onDisk(), before);
});

browserTest('a blank field has a problem once it was left or saving was tried, and a field has one', async (t) => {
  const before = await onDisk();
  const bar = (page: Page) => page.getByRole('region', { name: 'Unsaved changes' });
  const isChecked = (page: Page, text: string) =>
    page.waitForResponse((response) => response.request().postData()?.includes(text) ?? false);
  const discard = async (page: Page): Promise<void> => {
    await bar(page).getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await bar(page).waitFor({ state: 'detached' });
  };
  const spare = { name: 'spare', baseUrl: upstream.url, apiKey: '', models: ['other'] };
  await put(() => ({ ...before, Providers: [...before.Providers, spare] }));
  await on(t, '/providers', async (page) => {
    const problems = page.locator('.field-error, .problem-failed li');
    const name = page.getByLabel('Name', { exact: true });
    await page
      .getByRole('list', { name: 'Providers' })
      .getByRole('button', { name: /^spare/ })
      .click();
    for (const turn of ['left', 'saved']) {
      const checked = isChecked(page, '"name":""');
      await name.fill('');
      await checked;
      await page.getByText('New provider').waitFor();
      t.deepEqual(await problems.allTextContents(), [], turn);
      if (turn === 'left') {
        await name.press('Tab');
        await page.getByText('Must not be blank.', { exact: true }).waitFor();
      } else {
        await bar(page).getByRole('button', { name: 'Save' }).click();
        await bar(page)
          .getByRole('button', { name: /^Providers\[\d\]\.name$/ })
          .waitFor();
        await page.locator('[data-path$="].name"]:focus').waitFor();
        t.true(await bar(page).getByRole('button', { name: 'Save' }).isDisabled());
      }
      await discard(page);
    }
  });
  await put(() => before);
  await on(t, '/routing', async (page) => {
    for (const [button, posted] of [
      ['Add a pool', '"Pools":'],
      ['Add a rule', '"rules":'],
    ] as const) {
      const checked = isChecked(page, posted);
      await page.getByRole('button', { name: button }).click();
      await checked;
      t.deepEqual(await page.locator('.field-error, .problem-failed li').allTextContents(), [], button);
      await bar(page).getByRole('button', { name: 'Save' }).click();
      await page.locator('.field-error').first().waitFor();
      t.true(await bar(page).getByRole('button', { name: 'Save' }).isDisabled());
      await discard(page);
    }
  });
  t.deepEqual(await onDisk(), before);
});

browserTest('a stage that is added is no problem before its options were left', async (t) => {
  await on(t, '/routing?at=stages', async (page) => {
    await page.getByLabel('Add a transformer').selectOption('stage maxtoken');
    const option = page.getByLabel('max_tokens').last();
    await option.waitFor();
    await page.getByText('Unsaved changes', { exact: true }).waitFor();
    t.is(await page.getByText(/\d problem/).count(), 0);
    await option.focus();
    await page.getByLabel('Add a transformer').focus();
    await page.getByRole('region', { name: 'Unsaved changes' }).getByText('1 problem').waitFor();
    await page.getByRole('button', { name: 'Discard' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  });
});

browserTest('a transformer of an unknown name is one problem', async (t) => {
  await on(t, '/settings?tab=file', async (page) => {
    const bar = page.getByRole('region', { name: 'Unsaved changes' });
    const editor = page.getByRole('textbox', { name: 'config.json' });
    const { transformers } = await onDisk();
    const wrong = { ...JSON.parse(await text(page)), transformers: [...transformers, 'nope'] };
    const checked = page.waitForResponse((response) => response.request().postData()?.includes('"nope"') ?? false);
    await replaceText(editor, JSON.stringify(wrong));
    await checked;
    await bar.getByText('1 problem', { exact: true }).waitFor();
    await bar.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  });
});

browserTest('a vendor keeps its format at another base URL', async (t) => {
  const before = await onDisk();
  await on(t, '/providers', async (page) => {
    const dialog = await addProvider(page, 'Anthropic', `${upstream.url}/proxied`);
    await dialog.getByLabel('Key', { exact: true }).fill('k');
    await dialog.getByRole('button', { name: 'Test connection' }).click();
    await dialog.getByText('Connection failed').waitFor();
    // The dialog may ask for the vendor's models meanwhile.
    t.true(
      upstream.requests.some(({ url }) => url.startsWith('/proxied/v1/messages')),
      'the draft is tried, not what is saved',
    );
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    const { Providers, transformers } = await onDisk();
    t.like(Providers.at(-1), { name: 'anthropic', baseUrl: `${upstream.url}/proxied` });
    t.deepEqual(transformers.at(-1), { name: 'anthropic', provider: 'anthropic' });
    await put(() => before);
  });
});

browserTest('a missing module is an error at its field, and can not be saved', async (t) => {
  const before = await onDisk();
  await on(t, '/routing?at=stages', async (page) => {
    const bar = page.getByRole('region', { name: 'Unsaved changes' });
    await page.getByLabel('Add a transformer').selectOption('module');
    const field = page.getByLabel('Module').last();
    await field.fill('nope.ts');
    await bar.getByRole('button', { name: 'transformers[3].path' }).waitFor();
    await page.locator('.field-error', { hasText: "Can't be used: nope.ts: the file does not exist" }).waitFor();
    t.true(await bar.getByRole('button', { name: 'Save' }).isDisabled());
    await bar.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  });
  t.deepEqual(await onDisk(), before);
});

browserTest('a module whose options are missing is an error at its option, and can not be saved', async (t) => {
  const before = await onDisk();
  await on(t, '/routing?at=stages', async (page) => {
    const bar = page.getByRole('region', { name: 'Unsaved changes' });
    await page.getByLabel('Add a transformer').selectOption('module');
    await page.getByLabel('Module').last().fill('strict.ts');
    await bar.getByRole('button', { name: 'transformers[3].options.word' }).waitFor();
    t.true(await bar.getByRole('button', { name: 'Save' }).isDisabled());
    await page.locator('.field-error', { hasText: 'Word is required' }).waitFor();
    await bar.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  });
  t.deepEqual(await onDisk(), before);
});

browserTest(
  'on a fresh home a first provider is saved, becomes the default, and answers after a restart',
  async (t) => {
    const home = await mkdtemp(join(tmpdir(), 'junctor-fresh-'));
    t.teardown(() => rm(home, { recursive: true, force: true }));
    const run = async () => {
      const service = await start({ env: {}, home, port: 0, report: () => undefined });
      t.teardown(service.stop);
      const ask = () =>
        fetch(`${service.baseUrl}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
        });
      return { ...service, ask };
    };
    const first = await run();
    t.is((await first.ask()).headers.get('x-junctor-route'), 'demo,echo;default');
    const tab = await browser.open(`${first.baseUrl}/ui`);
    const { page } = tab;
    const steps = page.getByRole('region', { name: 'Getting started' });
    const step = steps.locator('[aria-current=step]');
    await step.getByText('Add a provider').first().waitFor();
    t.deepEqual(await violations(page), []);
    await step.getByRole('link', { name: 'Add a provider' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add a provider' });
    await dialog.getByLabel('Vendor').selectOption({ label: other });
    await dialog.getByLabel('Base URL').fill(upstream.url);
    await dialog.getByLabel('huge', { exact: true }).waitFor();
    const checked = dialog.locator('.model-picker input[type=checkbox]:checked');
    while ((await checked.count()) > 0) await checked.first().uncheck();
    await dialog.getByLabel('huge', { exact: true }).check();
    t.true(await dialog.getByLabel(/^Make .* the default$/).isChecked());
    await dialog.getByRole('button', { name: 'Add', exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    await step.getByText('Get the first answer').waitFor();
    t.is((await first.ask()).headers.get('x-junctor-route'), 'local,huge;default');
    await steps.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByText('in flight').waitFor();
    t.is(await steps.count(), 0, 'it comes once');
    t.deepEqual(tab.complaints, []);
    await first.stop();

    const second = await run();
    const answer = await second.ask();
    t.is(answer.headers.get('x-junctor-route'), 'local,huge;default');
    t.regex(await answer.text(), /All clear\./);
    await second.stop();
  },
);

browserTest('unsaved changes survive a reload, and malformed text survives other pages', async (t) => {
  await on(t, '/routing', async (page) => {
    await choose(page, 'Default');
    await page.getByRole('combobox', { name: 'Destination', exact: true }).fill('first,small');
    await page.getByText('Unsaved changes').waitFor();
    await page.reload();
    await page.getByText('Unsaved changes restored').waitFor();
    t.is(await page.getByRole('combobox', { name: 'Destination', exact: true }).inputValue(), 'first,small');

    await page.goto(`${gateway.baseUrl}/ui#/settings?tab=file`);
    await replaceText(page.getByRole('textbox', { name: 'config.json' }), '{ "PORT": ');
    await page.getByText('is not valid JSON yet').first().waitFor();
    t.true(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled());

    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByRole('link', { name: 'Unsaved changes to the configuration' }).click();
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
    await page.getByRole('textbox', { name: 'config.json' }).getByText('"PORT"').waitFor();
    await page.getByRole('button', { name: 'Discard', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('region', { name: 'Unsaved changes' }).waitFor({ state: 'detached' });
  });
});

browserTest(
  'changes saved elsewhere are kept: other settings are merged, the same setting is a conflict',
  async (t) => {
    await on(
      t,
      '/routing?at=scenario%2Fdefault',
      async (page) => {
        const field = page.getByRole('combobox', { name: 'Destination', exact: true });
        await field.fill('first,small');
        await put((config) => ({ ...config, LOG_LEVEL: 'error' }));
        await save(page);
        t.like(await onDisk(), { LOG_LEVEL: 'error', Router: { default: 'first,small' } });

        await field.fill('second,other');
        await put((config) => ({ ...config, Router: { ...(config.Router as object), default: 'first,large' } }));
        await page.getByRole('button', { name: 'Save', exact: true }).click();
        await page.getByText('The same settings were changed elsewhere').waitFor();
        t.true(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled());
        t.like(await onDisk(), { Router: { default: 'first,large' } });
        t.false(await page.getByText('save again').isVisible());
        await page.getByRole('button', { name: 'Keep mine' }).click();
        await save(page);
        t.like(await onDisk(), { Router: { default: 'second,other' } });
      },
      // The refusal itself, which the browser reports as well.
      [/412/],
    );
  },
);

browserTest('a backup is compared and restored', async (t) => {
  await on(t, '/settings?tab=backups', async (page) => {
    await page
      .getByRole('button', { name: /^Preview/ })
      .first()
      .click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('"default": "second,other"').waitFor();
    await dialog.getByText('"default": "first,large"').waitFor();
    await dialog.getByRole('button', { name: 'Restore' }).click();
    await dialog.waitFor({ state: 'detached' });
    t.like(await onDisk(), { Router: { default: 'first,large' } });
  });
});

browserTest('a preset is created, rejected while invalid, served, and deleted', async (t) => {
  const { baseUrl } = gateway;
  const ask = () =>
    fetch(`${baseUrl}/preset/fresh/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
    });
  await on(t, '/routing', async (page) => {
    await page.getByRole('button', { name: 'New preset' }).click();
    await page.getByLabel('Name', { exact: true }).fill('no spaces');
    await page.getByText('Use letters, digits').waitFor();
    await page.getByLabel('Name', { exact: true }).fill('fresh');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Address and JSON' }).click();
    const editor = page.getByRole('textbox', { name: 'Manifest of the preset fresh' });
    await replaceText(editor, '{ "Router": { "default": "nobody,none" } }');
    await page.getByText('unknown provider "nobody"').first().waitFor();
    t.deepEqual(await violations(page), []);
    await page.keyboard.press('Escape');
    t.true(await page.getByRole('button', { name: 'Create' }).isDisabled());
    await choose(page, 'Default');
    const route = page.getByRole('combobox', { name: 'Destination', exact: true });
    await route.fill('first,small');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('The preset fresh was saved.').waitFor();
    t.is((await ask()).headers.get('x-junctor-route')?.split(';')[0], 'first,small');

    await choose(page, 'Background');
    t.is(await route.getAttribute('placeholder'), 'As in the base: first,small');
    await choose(page, 'Default');
    await route.fill('nobody,none');
    await page.locator('.field-error', { hasText: 'nknown provider' }).waitFor();
    t.true(await page.getByRole('button', { name: 'Save', exact: true }).isDisabled());
    await route.fill('first,lar');
    await route.press('ArrowDown');
    await route.press('Enter');
    await page.getByRole('button', { name: 'Add a fallback' }).click();
    await page.getByRole('combobox', { name: 'Fallback 1' }).fill('first,small');
    await page.getByRole('button', { name: 'Try', exact: true }).click();
    await page.getByRole('region', { name: 'Try a request' }).getByText('first,large').first().waitFor();
    t.deepEqual(await violations(page), []);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    // The first save's message may still be there, so the file tells.
    const manifest = async (name = 'fresh') =>
      JSON.parse(await readFile(join(gateway.home, `presets/${name}/manifest.json`), 'utf8'));
    await until(async () => (await manifest()).Router.default === 'first,large');
    t.deepEqual(await manifest(), { Router: { default: 'first,large', fallback: { default: ['first,small'] } } });
    t.is((await ask()).headers.get('x-junctor-route')?.split(';')[0], 'first,large');
    await page.getByRole('button', { name: 'Address and JSON' }).click();
    await page.getByRole('link', { name: 'Set up a client for this preset' }).click();
    await page.getByText(`ANTHROPIC_BASE_URL='${baseUrl}/preset/fresh'`).first().waitFor();
    await page.getByRole('button', { name: 'Run check' }).click();
    await page.getByText(/^first, large replied: All clear/).waitFor();
    await page.goBack();

    await page.getByRole('button', { name: 'Rename fresh' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill('newer');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Preset newer: what it leaves out').waitFor();
    t.is((await ask()).status, 404);
    t.like(await manifest('newer'), { Router: { default: 'first,large' } });
    await page.getByRole('button', { name: 'Delete newer' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('The preset newer was removed.').waitFor();
    await page.getByText('Which model serves a request').waitFor();
  });
});

browserTest('a saved change is shown although another process still has the old configuration', async (t) => {
  await on(t, '/routing?at=scenario%2Fbackground', async (page) => {
    const field = page.getByRole('combobox', { name: 'Destination', exact: true });
    await field.fill('second,other');
    const old = await page.request.get(`${gateway.baseUrl}/api/config?secrets=hidden`);
    const [body, headers] = [await old.body(), old.headers()];
    let isLate = true;
    await page.route(/\/api\/config\?secrets=hidden$/, (route) => {
      if (!isLate) return route.continue();
      isLate = false;
      return route.fulfill({ status: 200, headers, body });
    });
    await save(page);
    t.false(isLate);
    t.is(await field.inputValue(), 'second,other');
  });
});

browserTest('settings: a server field, and a required restart', async (t) => {
  await on(
    t,
    '/settings',
    async (page) => {
      const search = page.getByLabel('Search the settings');
      await search.fill('a balancer to see');
      await page.getByLabel('Leave (leaveMs)').waitFor();
      t.is(await page.locator('.settings-group').count(), 1);
      await search.fill('no such setting');
      await page.getByText('No setting is found').waitFor();
      await search.fill('');
      const size = page.getByLabel('Body (bodyBytes)');
      t.is(await size.getAttribute('placeholder'), '32 MiB');
      await size.fill('many');
      await page.getByText('Write a size, such as 32 MiB or 500 KiB.').waitFor();
      const bar = page.getByRole('region', { name: 'Unsaved changes' });
      await bar.getByRole('button', { name: 'LIMITS.bodyBytes' }).waitFor();
      t.true(await bar.getByRole('button', { name: 'Save' }).isDisabled());
      await size.fill('1.5 MiB');
      await size.press('Tab');
      t.is(await size.inputValue(), '1536 KiB');
      await page.getByLabel('idleMs').fill('90 s');
      t.is(await page.getByLabel('Bytes', { exact: true }).getAttribute('placeholder'), '256 MiB');
      t.is(await page.getByLabel('Days', { exact: true }).getAttribute('placeholder'), '30 d');
      const captures = page.getByLabel('Capture (captureMinutes)');
      t.is(await captures.getAttribute('placeholder'), '1 d');
      await captures.fill('90 s');
      await page.getByText('Write a time in whole minutes').waitFor();
      await captures.fill('12 h');
      await page.getByLabel('Port (PORT)').fill('34999');
      // At once: what needs a restart is told whether or not the check was faster.
      await save(page);
      await page.getByText('Restart required: PORT').waitFor();
      await page.reload();
      t.like(await onDisk(), {
        PORT: 34999,
        LIMITS: { bodyBytes: 1_572_864 },
        TIMEOUTS: { idleMs: 90_000 },
        HISTORY: { captureMinutes: 720 },
      });
      await page.getByLabel('Changed only').check();
      await page.getByText('From the file.').first().waitFor();
      t.is(await page.getByText('The default.').count(), 0);
      await page.getByRole('button', { name: 'Go to restart' }).click();
      await page.getByRole('button', { name: 'Restart' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Restart' }).click();
      // This gateway runs inside the test, without a supervisor: it says so.
      await page.getByText('This service runs inside another program').waitFor();
    },
    [/503.*\/api\/restart/],
  );
});
