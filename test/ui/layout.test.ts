import test from 'ava';
import type { Page } from 'playwright-core';
import { hasBrowser, startBrowser, type Tab, type TestBrowser } from '../support/browser.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { until } from '../support/until.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../support/upstream.ts';

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

/** The tops of the last line number and of the last line of an editor. */
const lastLine = (page: Page): Promise<readonly [number, number]> =>
  page.evaluate(`(() => {
    const tree = document.querySelector('.json-editor').shadowRoot;
    return ['.cm-lineNumbers .cm-gutterElement', '.cm-line'].map((one) =>
      Math.round([...tree.querySelectorAll(one)].at(-1).getBoundingClientRect().top));
  })()`);

browserTest('line numbers stand beside their lines', async (t) => {
  const { page, complaints } = await open('/routing');
  await page.getByRole('textbox', { name: 'Request body' }).scrollIntoViewIfNeeded();
  await until(() => page.evaluate<boolean>(`(${sameHeight})()`));
  const [number, line] = await lastLine(page);
  t.is(number, line);
  t.deepEqual(complaints, []);
});

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

const sameHeight = `() => {
  const tree = document.querySelector('.json-editor').shadowRoot;
  const [number, line] = ['.cm-lineNumbers .cm-gutterElement', '.cm-line'].map((one) =>
    [...tree.querySelectorAll(one)].at(-1).getBoundingClientRect().height);
  return number === line;
}`;

/** Whether the cursor is above the bar. */
const isClear = `() => {
  const cursor = document.querySelector('.json-editor').shadowRoot.querySelector('.cm-cursor-primary');
  const bar = document.querySelector('.save-bar');
  return cursor && bar && cursor.getBoundingClientRect().bottom <= bar.getBoundingClientRect().top;
}`;

browserTest('a long list of suggestions shows whole rows, and how many more there are', async (t) => {
  const { page, complaints } = await open('/routing');
  await page.getByRole('combobox', { name: 'Image: destination' }).click();
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

browserTest('on a phone, no tile is alone in its row and no placeholder is cut', async (t) => {
  const { page, complaints } = await open('/');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('heading', { level: 2, name: 'Recent requests' }).waitFor();
  const tops: readonly number[] = await page.evaluate(
    `[...document.querySelectorAll('.summary-tile')].map((tile) => Math.round(tile.getBoundingClientRect().top))`,
  );
  const rows = [...new Set(tops)].map((top) => tops.filter((one) => one === top).length);
  t.deepEqual(rows, [2, 3]);
  const cut: readonly string[] = await page.evaluate(`[...document.querySelectorAll('input[placeholder]')]
    .filter((input) => {
      const text = document.createElement('canvas').getContext('2d');
      const style = getComputedStyle(input);
      text.font = style.font;
      const room = input.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
      return text.measureText(input.placeholder).width > room;
    })
    .map((input) => input.placeholder)`);
  t.deepEqual(cut, []);
  t.false(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'));
  await page.setViewportSize({ width: 1280, height: 800 });
  t.deepEqual(complaints, []);
});

browserTest('a message lies on no heading, no button of a row and not on the bar that saves', async (t) => {
  const { page, complaints } = await open('/routing');
  const field = page.getByRole('combobox', { name: 'Default: destination' });
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
    return [...document.querySelectorAll('h1, h2, .page-header button, .save-bar')].filter(meets).map((one) => one.textContent);
  })()`);
  t.deepEqual(touched, []);
  await bar.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  t.deepEqual(complaints, []);
});

browserTest('the request that was opened last has a link, and the theme is switched in one place', async (t) => {
  const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-switchyard-capture': '1' },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
  });
  const id = answer.headers.get('x-request-id') ?? '';
  await answer.text();
  const { page, complaints } = await open('/');
  t.is(await page.getByRole('link', { name: 'Last request' }).count(), 0);
  await page.goto(`${gateway.baseUrl}/ui#/requests/${id}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.goto(`${gateway.baseUrl}/ui#/settings?tab=service`);
  await page.getByText('Running since').waitFor();
  t.is(await page.getByRole('group', { name: 'Theme' }).count(), 1);
  await page.getByRole('link', { name: 'Last request' }).click();
  await page.waitForURL(`**/ui#/requests/${id}`);
  t.deepEqual(complaints, []);
});

browserTest('names of any length cut no figure and widen no page', async (t) => {
  const provider = 'a-very-long-name-of-a-provider-'.repeat(3);
  const model = 'x'.repeat(90);
  const long = await startGateway({
    Providers: [{ name: provider, baseUrl: upstream.url, apiKey: '', models: [model] }],
    Router: { default: `${provider},${model}` },
  });
  t.teardown(long.stop);
  const answer = await fetch(`${long.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'hi' }] }),
  });
  await answer.text();
  const { page, complaints } = await browser.open(`${long.baseUrl}/ui`);
  for (const [hash, text] of [
    ['/', 'Recent requests'],
    ['/usage', 'Requests'],
    ['/connect', 'Each request goes where the rules say'],
    ['/providers', 'Add a provider'],
    ['/routing', 'Scenarios'],
  ] as const) {
    await page.goto(`${long.baseUrl}/ui#${hash}`);
    await page.getByText(text).first().waitFor();
    if (hash !== '/connect') await page.getByText(provider.slice(0, 30)).first().waitFor({ state: 'attached' });
    for (const width of [1920, 1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      const wide: readonly string[] =
        await page.evaluate(`[document.documentElement, ...document.querySelectorAll('.data-frame')]
        .filter((one) => one.scrollWidth > one.clientWidth + 1)
        .map((one) => one.className + ' ' + one.scrollWidth)`);
      t.deepEqual(wide, [], `${hash} at ${width}`);
    }
  }
  t.deepEqual(complaints, []);
});
