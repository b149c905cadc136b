import test from 'ava';
import type { Page } from 'playwright-core';
import { hashedKey } from '../../engine/config/sections/clients.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { hasBrowser, startBrowser, type Tab, type TestBrowser } from '../support/processes/browser.ts';
import { until } from '../support/until.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../support/upstreams/upstream.ts';

// Where things are on a page: nothing is cut, hidden behind something else, or alone in its row.

let browser: TestBrowser;
let gateway: TestGateway;
let upstream: ScriptedUpstream;

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

const models = Array.from({ length: 75 }, (_, index) => `model-${index}`);

test.before(async () => {
  if (!hasBrowser) return;
  upstream = await startUpstream(() =>
    jsonAnswer({
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    }),
  );
  gateway = await startGateway(
    {
      Providers: [{ name: 'many', baseUrl: upstream.url, apiKey: '$KEY', models }],
      Router: { default: 'many,model-0' },
    },
    { KEY: 'k' },
  );
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.close();
});

const open = (hash: string): Promise<Tab> => browser.open(`${gateway.baseUrl}/ui#${hash}`);

/** Placeholders that their fields have no room for. */
const cutPlaceholders = `[...document.querySelectorAll('input[placeholder]')]
  .filter((input) => {
    const text = document.createElement('canvas').getContext('2d');
    const style = getComputedStyle(input);
    text.font = style.font;
    const room = input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    return text.measureText(input.placeholder).width > room;
  })
  .map((input) => input.placeholder)`;

/** How far each line number of the page's first editor is from its line, in pixels. */
const offsets = (page: Page): Promise<readonly number[]> =>
  page.evaluate(`(() => {
    const tree = document.querySelector('.json-editor').shadowRoot;
    const [numbers, lines] = ['.cm-lineNumbers .cm-gutterElement', '.cm-line'].map((one) =>
      [...tree.querySelectorAll(one)]
        .filter(({ style }) => style.visibility !== 'hidden')
        .map((element) => element.getBoundingClientRect().top));
    if (numbers.length !== lines.length) return [Infinity];
    return numbers.map((top, at) => Math.round(Math.abs(top - lines[at])));
  })()`);

for (const [hash, label, isBelow] of [
  ['/routing', 'Request body', false],
  ['/settings?tab=file', 'config.json', false],
] as const) {
  browserTest(`${hash}: line numbers stand beside their lines at first view, above and below the fold`, async (t) => {
    const { page, complaints } = await open(hash);
    const editor = page.getByRole('textbox', { name: label });
    if (label === 'Request body') await page.getByText(label, { exact: true }).click();
    await editor.waitFor();
    t.is(
      await page.evaluate(`document.querySelector('.json-editor').getBoundingClientRect().top > innerHeight`),
      isBelow,
    );
    // Above the fold, the editor measures in the next frame.
    await until(async () => isBelow || (await offsets(page)).every((offset) => offset === 0));
    const found = await offsets(page);
    t.true(found.length > 4);
    t.deepEqual(found, Array(found.length).fill(0));
    t.deepEqual(complaints, []);
  });
}

browserTest('the line that is typed is above the bar that saves', async (t) => {
  const { page, complaints } = await open('/settings?tab=file');
  const file = page.getByRole('textbox', { name: 'config.json' });
  await file.press('ControlOrMeta+End');
  await file.press('ArrowUp');
  await file.press('End');
  await page.keyboard.type(', "LOG_LEVEL": "warn"');
  const bar = page.getByRole('region', { name: 'Unsaved changes' });
  await bar.waitFor();
  await file.press('Enter');
  await until(() => page.evaluate<boolean>(`(${isClear})()`));
  await bar.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  t.deepEqual(complaints, []);
});

/** Whether the cursor is above the bar. */
const isClear = `() => {
  const cursor = document.querySelector('.json-editor').shadowRoot.querySelector('.cm-cursor-primary');
  const bar = document.querySelector('.save-bar');
  return cursor && bar && cursor.getBoundingClientRect().bottom <= bar.getBoundingClientRect().top;
}`;

browserTest('a long list of suggestions shows whole rows, and how many more there are', async (t) => {
  const { page, complaints } = await open('/routing?at=scenario%2Fimage');
  await page.getByRole('combobox', { name: 'Destination', exact: true }).click();
  const list = page.getByRole('listbox', { name: 'Suggestions' });
  await list.getByText('15 more: type to narrow the list.').waitFor();
  const cut: number = await page.evaluate(`(() => {
    const list = document.querySelector('.combo-list:not([hidden])');
    return [...list.querySelectorAll('[role=option]')].filter((option) => {
      const [box, row] = [list.getBoundingClientRect(), option.getBoundingClientRect()];
      return row.top < box.bottom - 5 && row.bottom > box.bottom + 1;
    }).length;
  })()`);
  t.is(cut, 0);
  t.deepEqual(complaints, []);
});

browserTest('on a phone, a request is two lines, and no placeholder is cut', async (t) => {
  const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
  });
  await answer.text();
  const { page, complaints } = await open('/');
  await page.setViewportSize({ width: 390, height: 844 });
  const row = page.getByRole('region', { name: 'Request list' }).locator('tbody tr').first();
  await row.waitFor();
  t.true(((await row.boundingBox())?.height ?? 999) <= 64);
  t.deepEqual(await page.evaluate(cutPlaceholders), []);
  t.false(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'));
  await page.setViewportSize({ width: 1280, height: 800 });
  t.true(((await row.boundingBox())?.height ?? 999) <= 33);
  t.deepEqual(await page.evaluate(cutPlaceholders), []);
  t.deepEqual(complaints, []);
});

/** Links in texts are as high as their line. */
const smallControls = `[...document.querySelectorAll(':is(main, dialog) :is(a, button, input, select, textarea, summary, [role=tab])')]
  .filter((one) => {
    const { width, height, left, right } = one.getBoundingClientRect();
    if (width === 0 || getComputedStyle(one).display === 'inline' || one.matches('.unseen')) return false;
    return Math.min(width, height) < 24 || left < 0 || right > window.innerWidth;
  })
  .map((one) => one.tagName + ' ' + one.className + ' ' + (one.getAttribute('aria-label') ?? one.textContent))`;

browserTest('on a phone, each control is on the page and large enough for a finger', async (t) => {
  const { page, complaints } = await open('/');
  await page.setViewportSize({ width: 390, height: 844 });
  for (const [hash, text] of [
    ['/requests', 'in flight'],
    ['/sessions', 'With single requests'],
    [`/requests/none`, 'Could not load this request'],
    ['/usage', 'Download CSV'],
    ['/logs', 'live'],
    ['/providers', 'Add a provider'],
    ['/routing', 'Try a request'],
    ['/routing?at=stages', 'Add a transformer'],
    ['/routing?preset=new', 'Not created yet'],
    ['/settings', 'Where the gateway listens'],
    ['/settings?tab=service', 'Running since'],
    ['/clients', 'Set up a tool'],
    ['/playground', 'Nothing sent yet'],
    ['/none', 'Page not found'],
  ] as const) {
    await page.goto(`${gateway.baseUrl}/ui#${hash}`);
    await page.getByText(text).first().waitFor();
    t.deepEqual(await page.evaluate(smallControls), [], hash);
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  t.deepEqual(
    complaints.filter((line) => !/404.*\/api\/requests\/none/.test(line)),
    [],
  );
});

browserTest('a message lies on no heading, no button of a row and not on the bar that saves', async (t) => {
  const { page, complaints } = await open('/routing?at=scenario%2Fdefault');
  const field = page.getByRole('combobox', { name: 'Destination', exact: true });
  await field.fill('many,model-1');
  const bar = page.getByRole('region', { name: 'Unsaved changes' });
  await bar.getByRole('button', { name: 'Save' }).click();
  await page.getByText('The configuration was saved and is in use.').waitFor();
  await field.fill('many,model-2');
  await bar.waitFor();
  const touched = await page.evaluate(`(() => {
    const toast = document.querySelector('.toast').getBoundingClientRect();
    const meets = (one) => {
      const box = one.getBoundingClientRect();
      return box.width > 0 && box.left < toast.right && box.right > toast.left && box.top < toast.bottom && box.bottom > toast.top;
    };
    return [...document.querySelectorAll('h1, h2, .page-bar button, .save-bar')].filter(meets).map((one) => one.textContent);
  })()`);
  t.deepEqual(touched, []);
  await bar.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  t.deepEqual(complaints, []);
});

/** A gateway with names of 60 and more characters in all places, and a request of each. */
const startLong = async (provider: string, model: string, client: string, preset: string): Promise<TestGateway> => {
  const to = `${provider},${model}`;
  const pool = `pool-${client}`.slice(0, 60);
  const long = await startGateway(
    {
      Providers: [{ name: provider, baseUrl: upstream.url, apiKey: '', models: [model] }],
      Router: { default: pool, rules: [{ name: client, when: { model: client }, to }] },
      Pools: [{ name: pool, members: [{ to }] }],
      CLIENTS: [{ name: client, key: hashedKey('k'), models: [to, '*'] }],
    },
    {},
    { files: { [`presets/${preset}/manifest.json`]: JSON.stringify({ Router: { default: to } }) } },
  );
  for (const path of ['/v1/chat/completions', `/preset/${preset}/v1/chat/completions`]) {
    const answer = await fetch(`${long.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': 'k' },
      body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
    });
    await answer.text();
  }
  return long;
};

/** What is wider than its box: the page, tables, and texts that neither wrap nor end in an ellipsis. */
const tooWide = `[document.documentElement, ...document.querySelectorAll('.data-frame, main :is(td, p, span, strong, dd)')]
  .filter((one) => {
    const { display, textOverflow } = getComputedStyle(one);
    if (display === 'inline' || textOverflow === 'ellipsis' || one.closest('.unseen, pre')) return false;
    return one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1;
  })
  .map((one) => one.tagName + ' ' + one.className + ' ' + one.scrollWidth)`;

browserTest('names of any length cut no figure and widen no page', async (t) => {
  const provider = 'a-very-long-name-of-a-provider-'.repeat(3);
  const [client, preset] = ['a-very-long-name-of-a-client-'.repeat(3), 'a-very-long-name-of-a-preset-'.repeat(3)].map(
    (name) => name.slice(0, 60),
  );
  const long = await startLong(provider, 'x'.repeat(90), client ?? '', preset ?? '');
  t.teardown(long.stop);
  const { page, complaints } = await browser.open(`${long.baseUrl}/ui`);
  for (const [hash, text] of [
    ['/', 'Duration'],
    ['/sessions?single=1', 'Last used'],
    ['/usage', 'Requests'],
    ['/providers', 'Add a provider'],
    ['/routing?at=scenario%2Fdefault', 'Destination, then fallbacks'],
    ['/clients', 'Budget left'],
  ] as const) {
    await page.goto(`${long.baseUrl}/ui#${hash}`);
    await page
      .getByText(text ?? '')
      .first()
      .waitFor({ state: 'attached' });
    for (const width of [1920, 1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      t.deepEqual(await page.evaluate(tooWide), [], `${hash} at ${width}`);
    }
  }
  await page.goto(`${long.baseUrl}/ui#/providers`);
  await page.getByRole('button', { name: `Remove ${provider}` }).click();
  await page.getByRole('dialog').getByText('It is used by').waitFor();
  t.deepEqual(await page.evaluate(smallControls), []);
  t.deepEqual(complaints, []);
});

browserTest(
  'fields beside each other have their controls on one line, and on a phone all tabs are in one row',
  async (t) => {
    const { page, complaints } = await open('/settings');
    await page.getByRole('heading', { name: 'Limits' }).waitFor();
    const rows: readonly (readonly number[])[] =
      await page.evaluate(`[...document.querySelectorAll('.form-grid')].flatMap((grid) => {
    const fields = [...grid.querySelectorAll(':scope > .field')].map((field) =>
      [field, field.querySelector('.control')].map((one) => Math.round(one.getBoundingClientRect().top)));
    return [...new Set(fields.map(([top]) => top))].map((top) => fields.filter(([own]) => own === top).map(([, control]) => control));
  })`);
    t.true(rows.some((row) => row.length > 1));
    for (const row of rows) t.is(new Set(row).size, 1, row.join());
    await page.setViewportSize({ width: 390, height: 844 });
    const tabs: readonly number[] = await page.evaluate(
      `[...document.querySelectorAll('[role=tab]')].map((tab) => Math.round(tab.getBoundingClientRect().top))`,
    );
    t.deepEqual([tabs.length, new Set(tabs).size], [6, 1]);
    t.deepEqual(complaints, []);
  },
);

browserTest('names of usual length stay whole beside all figures', async (t) => {
  const usual = await startLong('anthropic', 'claude-opus-5-5', 'team-b', 'cheap');
  t.teardown(usual.stop);
  const { page, complaints } = await browser.open(`${usual.baseUrl}/ui`);
  for (const hash of ['/']) {
    await page.goto(`${usual.baseUrl}/ui#${hash}`);
    const list = page.locator('.data-frame').last();
    await list.getByText('claude-opus-5-5').first().waitFor();
    t.false(
      await page.evaluate(
        `[...document.querySelectorAll('td[data-column=model]')].some((one) => one.scrollWidth > one.clientWidth)`,
      ),
    );
    t.deepEqual(await page.evaluate(tooWide), [], hash);
    t.deepEqual(await page.evaluate(cutPlaceholders), [], hash);
  }
  t.deepEqual(complaints, []);
});

/** The long waits of a page take no time until `usualPace`: for an answer, and for the first event of the feed. */
const hurry = `(() => {
  const { setTimeout } = window;
  window.usualPace = () => { window.setTimeout = setTimeout; };
  window.setTimeout = (work, ms, ...more) => setTimeout(work, ms === 20_000 || ms === 10_000 ? 50 : ms, ...more);
})()`;

const tryAgain = `[...document.querySelectorAll('button')].find((one) => one.textContent === 'Try again')?.click()`;

browserTest('a page that cannot be loaded says what failed and why, and tries again', async (t) => {
  for (const [hash, what, then] of [
    ['/', 'the requests', 'in flight'],
    ['/sessions', 'the sessions', /No sessions in this time|Last used/],
    ['/usage', 'the usage', /No requests in this time|Duration, p95/],
    ['/logs', 'the list of log files', 'live'],
    ['/providers', 'the configuration', 'Add a provider'],
    ['/routing', 'the configuration', 'Try a request'],
    ['/routing?preset=new', 'the preset', 'Not created yet'],
    ['/settings?tab=service', 'the configuration', 'Running since'],
  ] as const) {
    const { page } = await open('/playground');
    await page.evaluate(hurry);
    await page.route('**/api/**', () => undefined);
    await page.goto(`${gateway.baseUrl}/ui#${hash}`);
    const notice = page.getByRole('alert').filter({ hasText: `Could not load ${what}` });
    await notice.getByText('The gateway has not answered within 20 s.').waitFor();
    await page.route('**/api/**', (route) =>
      route.fulfill({ status: 500, json: { error: { message: 'The disk is full.' } } }),
    );
    await page.evaluate('usualPace()');
    await notice.getByRole('button', { name: 'Try again' }).click();
    await notice.getByText('The disk is full.').waitFor();
    t.is(await page.getByText(/of the last 0|None at the moment/).count(), 0, 'nothing is made up');
    await page.unrouteAll();
    // A page that asks again by itself may be quicker than the click: then there is no button any more.
    await page.evaluate(tryAgain);
    await notice.waitFor({ state: 'detached' });
    await page.getByText(then).first().waitFor();
  }
  const { page } = await open('/requests/none');
  await page.getByText('There is no request of that id').waitFor();
  await page.route('**/api/**', (route) => route.fulfill({ contentType: 'text/html', body: '<p>Sign in</p>' }));
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('The answer is not the gateway’s').waitFor();
  await page.unrouteAll();
  await page.getByRole('link', { name: 'All requests' }).click();
  await page.getByText('Could not load this request').waitFor({ state: 'detached' });

  // What hangs is said within 5 s, with a way on.
  const { page: hanging } = await open('/playground');
  await hanging.route('**/api/**', () => undefined);
  // What the page has heard of requests so far is gone with it.
  await hanging.goto('about:blank');
  await hanging.goto(`${gateway.baseUrl}/ui#/requests`);
  await hanging.getByText('Still loading requests').waitFor();
  await hanging.getByRole('button', { name: 'Reload the page' }).waitFor();
  await hanging.unrouteAll();
  await hanging.reload();
  await hanging.getByText('in flight').waitFor();
});
