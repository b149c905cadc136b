import test from 'ava';
import { startGateway } from '../../support/gateway.ts';
import { hasBrowser, startBrowser, violations } from '../../support/processes/browser.ts';
import { until } from '../../support/until.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

browserTest('the sessions are listed, and one shows its way through the models and its requests', async (t) => {
  const usage = { prompt_tokens: 1_000, completion_tokens: 20 };
  const upstream = await startUpstream(() => jsonAnswer({ ...chatReply('Hello.'), usage }));
  t.teardown(upstream.close);
  const gateway = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['small', 'large'] }],
    Router: { default: 'p,small' },
  });
  t.teardown(gateway.stop);
  const browser = await startBrowser();
  t.teardown(browser.close);
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/sessions`);
  await page.getByText('No sessions in this time').waitFor();
  const send = async (session: string, id: string, model: string): Promise<void> => {
    const headers = { 'x-request-id': id, 'x-claude-code-session-id': session };
    const body = JSON.stringify({ model, max_tokens: 9, messages: [{ role: 'user', content: 'Hello' }] });
    await (await fetch(`${gateway.baseUrl}/v1/messages`, { method: 'POST', headers, body })).text();
  };
  for (const [id, model] of [
    ['r1', 'any'],
    ['r2', 'any'],
    ['r3', 'p,large'],
    ['r4', 'any'],
  ] as const)
    await send('session-one', id, model);
  await send('session-two', 'other', 'any');
  await page.reload();
  const list = page.getByRole('region', { name: 'Session list' });
  await list.getByRole('row', { name: /session-two/ }).waitFor();
  const row = list.getByRole('row', { name: /session-one/ });
  const cells = (await row.getByRole('cell').allInnerTexts()).slice(1, 8).join(' | ');
  t.is(cells, 'session-one | small, large | – | 1 | 4 | 4K → 80 | –');
  t.deepEqual(await violations(page), []);
  await row.getByRole('link').click();
  await page.getByRole('heading', { level: 1, name: 'session-one' }).waitFor();
  const steps = page.getByRole('list', { name: 'Models in order' }).getByRole('listitem');
  await steps.nth(2).waitFor();
  const way = (await steps.allInnerTexts()).map((text) => text.replace(/^\S+ /, ''));
  t.deepEqual(way, ['p, small default, 2 requests', 'p, large explicit, 1 request', 'p, small default, 1 request']);
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await until(() => page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth'));
    t.deepEqual(await violations(page), [], String(width));
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('region', { name: 'Requests of the session' }).getByRole('link').nth(2).click();
  await page.getByRole('heading', { level: 1, name: 'r3' }).waitFor();
  await page.keyboard.press('j');
  await page.getByRole('heading', { level: 1, name: 'r2' }).waitFor();
  await page.getByRole('link', { name: 'session-one' }).click();
  await page.getByRole('heading', { level: 1, name: 'session-one' }).waitFor();
  await page.getByRole('link', { name: '← Sessions' }).click();
  await list.getByRole('row', { name: /session-two/ }).waitFor();
  t.deepEqual(complaints, []);
});
