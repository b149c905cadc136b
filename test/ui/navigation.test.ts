import test from 'ava';
import { hashedKey } from '../../engine/config/sections/clients.ts';
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
    CLIENTS: [{ name: 'ci-bot', key: hashedKey('k') }],
  });
  for (let n = 0; n < 120; n += 1) {
    const answer = await fetch(`${gateway.baseUrl}/v1/${n < 2 ? 'messages' : 'chat/completions'}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': 'k',
        'x-junctor-capture': n > 110 ? '1' : '0',
        ...(n < 2 && { 'x-claude-code-session-id': 'agents-own-session' }),
      },
      body: JSON.stringify({
        model: n % 2 ? 'box,large' : 'any',
        max_tokens: 99,
        messages: [{ role: 'user', content: 'Hello!' }],
      }),
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

browserTest('back leads to where one was: filters, what is open, and scroll', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
  const list = page.getByRole('region', { name: 'Request list' });
  await list.getByRole('row').first().waitFor();
  await page.getByRole('searchbox', { name: 'Filter' }).fill('large');
  await until(async () => (await page.evaluate('window.location.hash')) === '#/requests?text=large');
  await list.locator(`a[href^="#/requests/${ids[119]}"]`).waitFor();
  await page.evaluate('window.scrollTo(0, 900)');
  const link = list.locator(`a[href^="#/requests/${ids[51]}"]`);
  await link.click();
  const pane = page.getByRole('region', { name: 'Request', exact: true });
  await pane.getByText(ids[51] ?? '').waitFor();
  t.true((await page.evaluate<number>('window.scrollY')) > 700, 'the list stays where it is');
  await page.getByRole('link', { name: 'Usage', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
  await page.goBack();
  await pane.getByText(ids[51] ?? '').waitFor();
  await until(async () => (await page.evaluate<number>('window.scrollY')) > 700);
  t.is(await page.getByRole('searchbox', { name: 'Filter' }).inputValue(), 'large');
  await page.goBack();
  await pane.waitFor({ state: 'detached' });

  // On a narrow page the request has a page of its own, and the list comes back where it was.
  await page.setViewportSize({ width: 800, height: 800 });
  await page.evaluate('window.scrollTo(0, 900)');
  await link.click();
  await pane.getByText(ids[51] ?? '').waitFor();
  t.false(await list.isVisible());
  await page.goBack();
  await link.waitFor();
  await until(async () => (await page.evaluate<number>('window.scrollY')) > 700);
  await page.setViewportSize({ width: 1280, height: 800 });

  for (const [old, now] of [
    ['/', '#/requests'],
    ['/history?status=failed', '#/requests?status=failed'],
    ['/sessions/one', '#/requests?group=session&session=one'],
    ['/backups', '#/settings?tab=backups'],
  ] as const) {
    await page.goto(`${gateway.baseUrl}/ui#${old}`);
    await until(async () => (await page.evaluate('window.location.hash')) === now);
  }
  t.deepEqual(
    complaints.filter((line) => !line.includes('404')),
    [],
  );
});

browserTest('the border of the panes is moved by keyboard, and stays where it was left', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/requests/${ids[119]}`);
  const border = page.getByRole('separator', { name: 'Width of Request' });
  await border.focus();
  for (const key of ['ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowRight']) await page.keyboard.press(key);
  t.is(await border.getAttribute('aria-valuenow'), '44');
  await page.reload();
  await border.waitFor();
  t.is(await border.getAttribute('aria-valuenow'), '44');
  await page.evaluate('localStorage.clear()');
  t.deepEqual(complaints, []);
});

browserTest('Ctrl+K finds pages, settings, requests, models and actions; Ctrl+S saves', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
  await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
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

  await page.getByRole('button', { name: /^Long context/ }).click();
  const threshold = page.getByLabel('Threshold (tokens)');
  await threshold.fill('71000');
  await page.keyboard.press('Control+s');
  await page.getByText('Unsaved changes').waitFor({ state: 'detached' });
  const saved = await (await fetch(`${gateway.baseUrl}/api/config`)).text();
  t.regex(saved, /71000/);

  await find(ids[3] ?? '');
  await palette.getByRole('option', { name: ids[3] ?? '' }).click();
  await page
    .getByRole('region', { name: 'Request', exact: true })
    .getByText(ids[3] ?? '')
    .waitFor();
  await choose('model large', /large/);
  await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
  t.regex(await page.getByLabel('Model', { exact: true }).inputValue(), /large/);
  await choose('theme dark', /Theme: dark/);
  t.is(await page.evaluate('document.documentElement.dataset.theme'), 'dark');
  await choose('timeouts first byte', /TIMEOUTS: First byte/);
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  await page.locator('[data-path="TIMEOUTS.firstByteMs"]:focus').waitFor();
  await choose('backups', /Backups/);
  await page.getByRole('tab', { name: 'Backups', selected: true }).waitFor();
  await choose('failed', /Failed requests/);
  await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
  t.regex(page.url(), /status=failed/);
  await choose('logs', /^Page Logs/);
  await page.getByRole('tab', { name: 'Logs', selected: true }).waitFor();
  await choose('ci-bot', /^Client ci-bot/);
  await page.waitForURL(/client=ci-bot/);
  await choose('agents-own', /^Session agents-own-session/);
  await page.waitForURL(/session=agents-own-session/);
  await find('timeout');
  await palette
    .getByRole('option', { name: /^Setting TIMEOUTS/ })
    .first()
    .waitFor();
  await page.keyboard.press('Escape');
  const gone = 'req_0123456789abcdef01234567';
  await choose(gone, /from the history/);
  t.true(page.url().endsWith(gone));
  await page.keyboard.press('Escape');
  await choose('start capturing', /Start capturing/);
  await page.getByText('Capturing started.').waitFor();
  await find('no such thing');
  await palette.getByText('Nothing found').waitFor();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  t.deepEqual(
    complaints.filter((complaint) => !complaint.includes(gone)),
    [],
    'only of the request that is gone',
  );
});
