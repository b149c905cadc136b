import test from 'ava';
import { hashedKey } from '../../../engine/config/sections/clients.ts';
import { startGateway } from '../../support/gateway.ts';
import { hasBrowser, startBrowser } from '../../support/processes/browser.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

browserTest(
  'U1 with clients and no APIKEY, pages ask for no key; a model request asks for that of a client',
  async (t) => {
    const upstream = await startUpstream(() => jsonAnswer(chatReply('Hello')));
    t.teardown(upstream.close);
    const key = 'a-key-of-ci-bot-0123456789abcdef';
    const gateway = await startGateway({
      LOG: false,
      Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['small'] }],
      Router: { default: 'p,small' },
      CLIENTS: [{ name: 'ci-bot', key: hashedKey(key) }],
    });
    t.teardown(gateway.stop);
    const browser = await startBrowser();
    t.teardown(() => browser.close());
    const { page } = await browser.open(`${gateway.baseUrl}/ui#/requests`);
    const apiKeys: (string | undefined)[] = [];
    const refused: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/api/')) apiKeys.push(request.headers().authorization);
    });
    page.on('response', (response) => {
      if ([401, 403].includes(response.status())) refused.push(new URL(response.url()).pathname);
    });
    // The page takes keys once it is drawn.
    await page.getByRole('heading').first().waitFor();
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByText('p,small').first().waitFor();
    await page.keyboard.press('Escape');
    await page.goto(`${gateway.baseUrl}/ui#/playground`);
    const prompt = page.getByLabel('Message', { exact: true }).or(page.getByRole('textbox').first()).first();
    await prompt.fill('Hello');
    t.deepEqual(refused, [], 'no page was refused');

    await page.getByRole('button', { name: /^Send/ }).click();
    const dialog = page.getByRole('dialog', { name: 'This request needs the key of a client' });
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^Send/ }).click();
    await dialog.getByLabel('Key', { exact: true }).fill(key);
    await dialog.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: /^Send/ }).click();
    await page.getByText('Hello', { exact: true }).last().waitFor();
    await page.goto(`${gateway.baseUrl}/ui#/providers`);
    await page.getByRole('heading', { name: 'Providers' }).first().waitFor();
    t.true(apiKeys.length > 0);
    t.true(
      apiKeys.every((sent) => sent === undefined),
      'the key of a client never goes to /api',
    );
    t.true(refused.every((path) => path.startsWith('/v1/')));
  },
);

browserTest('the interface, which asks before it has the key, is not among the refused tools', async (t) => {
  const key = 'the-key-of-the-gateway-0123456789';
  const gateway = await startGateway({ LOG: false, Providers: [], APIKEY: key });
  t.teardown(gateway.stop);
  const browser = await startBrowser();
  t.teardown(() => browser.close());
  const { page } = await browser.open(`${gateway.baseUrl}/ui#/clients`);
  const dialog = page.getByRole('dialog', { name: 'This gateway requires a key' });
  await dialog.waitFor();
  await page.reload();
  await dialog.getByLabel('Key', { exact: true }).fill(key);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('No clients yet').waitFor();
  t.is(await page.getByText('without a valid key').count(), 0);
  await (await fetch(`${gateway.baseUrl}/v1/models`)).text();
  await page.getByText('1 request without a valid key refused').waitFor();
});
