import test from 'ava';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { hasBrowser, startBrowser, type TestBrowser, violations } from '../support/processes/browser.ts';
import { until } from '../support/until.ts';
import { chatReply } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../support/upstreams/upstream.ts';

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let browser: TestBrowser;
/** The ids of all requests, oldest first. */
const ids: string[] = [];

test.before(async () => {
  if (!hasBrowser) return;
  upstream = await startUpstream(() => jsonAnswer(chatReply('Hello.')));
  gateway = await startGateway({
    Providers: [{ name: 'box', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['small', 'large'] }],
    Router: { default: 'box,small' },
  });
  for (let n = 0; n < 120; n += 1) {
    const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-junctor-capture': n > 110 ? '1' : '0' },
      body: JSON.stringify({ model: n % 2 ? 'box,large' : 'any', messages: [{ role: 'user', content: 'Hello!' }] }),
    });
    await answer.text();
    ids.push(answer.headers.get('x-request-id') ?? '');
  }
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.close();
});

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

browserTest('back leads to where one was: filters, rows, view, pause and scroll', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
  const list = page.getByRole('region', { name: 'Request list' });
  await list.getByRole('row').first().waitFor();
  await page.getByRole('group', { name: 'View' }).getByText('Table').click();
  await page.getByLabel('Search').fill('box,large');
  await page.getByLabel('Search').fill('large');
  await page.getByRole('button', { name: 'Show more' }).click();
  await page.getByText('60 of 120 requests').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  t.is(await page.evaluate('window.location.hash'), '#/?view=table&search=large&rows=100');
  await list.getByRole('link').nth(40).scrollIntoViewIfNeeded();
  const top = await page.evaluate<number>('window.scrollY');
  t.true(top > 500, `${top}`);
  await list.getByRole('link').nth(40).click();
  await page.getByRole('heading', { level: 1, name: /^req_/ }).waitFor();
  t.is(await page.evaluate('window.scrollY'), 0);
  await page.goBack();
  await page.getByText('60 of 120 requests').waitFor();
  t.is(await page.getByLabel('Search').inputValue(), 'large');
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await page.getByRole('region', { name: 'Table of lines' }).waitFor();
  const reached = `new Promise((resolve) => {
    const look = (left) => {
      if (Math.abs(window.scrollY - ${top}) < 80 || left === 0) resolve(window.scrollY);
      else requestAnimationFrame(() => look(left - 1));
    };
    look(120);
  })`;
  const after = await page.evaluate<number>(reached);
  t.true(Math.abs(after - top) < 80, `${after}, not ${top}`);

  await page.goto(`${gateway.baseUrl}/ui#/?search=no-such-text&outcome=lossy`);
  await page.reload();
  await page.getByText('No requests match the filters').waitFor();
  t.is(await page.getByLabel('Outcome').inputValue(), 'lossy');

  await page.goto(`${gateway.baseUrl}/ui#/logs?text=routed&level=40`);
  await page.getByRole('searchbox', { name: 'Find' }).fill('nothing like it');
  t.is(await page.evaluate('window.location.hash'), '#/logs?text=nothing+like+it&level=40');
  t.deepEqual(complaints, []);
});

browserTest('a long list renders only the rows in sight, at any width', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/?rows=1000`);
  const list = page.getByRole('region', { name: 'Request list' });
  await page.getByText('120 requests').waitFor();
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    const oldest = list.locator(`a[href="#/requests/${ids[0]}"]`);
    // Rows that weren't in sight yet may be taller than thought.
    for (let tries = 0; tries < 50 && (await oldest.count()) === 0; tries += 1) {
      await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
      await page.evaluate('new Promise(requestAnimationFrame)');
    }
    await oldest.waitFor();
    t.true((await list.getByRole('link').count()) < 80, `${await list.getByRole('link').count()} rows`);
    t.is(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'), false);
    await page.evaluate('window.scrollTo(0, 0)');
    await list.locator(`a[href="#/requests/${ids[119]}"]`).waitFor();
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await list.getByRole('link').first().focus();
  for (let n = 118; n >= 59; n -= 1) {
    await page.keyboard.press('ArrowDown');
    // A row that comes into sight is drawn first.
    await until(async () => {
      const focused = await page.evaluate('document.activeElement.getAttribute("href")');
      return focused === `#/requests/${ids[n]}`;
    });
  }
  t.deepEqual(await violations(page), []);
  t.deepEqual(complaints, []);
});

browserTest('a tab stays in the address, and j and k go through the list as it was filtered', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/?search=large`);
  const list = page.getByRole('region', { name: 'Request list' });
  await list.getByRole('link').first().click();
  await page.getByRole('heading', { level: 1, name: ids[119] ?? '' }).waitFor();
  await page.getByRole('tab', { name: 'Steps' }).click();
  await page.keyboard.press('j');
  await page.getByRole('heading', { level: 1, name: ids[117] ?? '' }).waitFor();
  t.is(await page.getByRole('tab', { selected: true }).textContent(), 'Steps');
  await page.getByRole('link', { name: 'Next' }).click();
  await page.getByRole('heading', { level: 1, name: ids[115] ?? '' }).waitFor();
  await page.keyboard.press('k');
  await page.getByRole('heading', { level: 1, name: ids[117] ?? '' }).waitFor();
  await page.getByRole('link', { name: '← Overview' }).click();
  await page.getByText('60 of 120 requests').waitFor();

  await page.goto(`${gateway.baseUrl}/ui#/requests/${ids[118]}?tab=events`);
  await page.reload();
  await page.getByRole('textbox', { name: 'Body to the client' }).waitFor();
  await page.keyboard.press('j');
  await page.getByRole('heading', { level: 1, name: ids[117] ?? '' }).waitFor();
  t.deepEqual(complaints, []);
});

browserTest('Ctrl+K finds pages, requests, models and actions; Ctrl+S saves', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  const palette = page.getByRole('dialog', { name: 'Go to' });
  const find = async (text: string): Promise<void> => {
    await page.keyboard.press('Control+k');
    await palette.waitFor();
    await page.keyboard.type(text);
    t.is(await palette.getByRole('combobox').inputValue(), text, 'the field has the focus');
  };
  /** Models, and whether requests are recorded, are asked for when the palette opens. */
  const choose = async (text: string, option: RegExp): Promise<void> => {
    await find(text);
    await palette.getByRole('option', { name: option, selected: true }).waitFor();
    await page.keyboard.press('Enter');
  };
  await find('rout');
  t.deepEqual(await violations(page), []);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Routing' }).waitFor();

  const threshold = page.getByLabel('Threshold (tokens)');
  await threshold.fill('71000');
  await page.keyboard.press('Control+s');
  await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
  const saved = await (await fetch(`${gateway.baseUrl}/api/config`)).text();
  t.regex(saved, /71000/);

  await find(ids[3] ?? '');
  await palette.getByRole('option', { name: ids[3] ?? '' }).click();
  await page.getByRole('heading', { level: 1, name: ids[3] ?? '' }).waitFor();
  await choose('model large', /large/);
  await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
  t.regex(await page.getByLabel('Model', { exact: true }).inputValue(), /large/);
  await choose('theme dark', /Theme: dark/);
  t.is(await page.evaluate('document.documentElement.dataset.theme'), 'dark');
  await choose('start recording', /Start recording/);
  await page.getByText('Recording started.').waitFor();
  await find('no such thing');
  await palette.getByText('Nothing found').waitFor();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  t.deepEqual(complaints, []);
});
