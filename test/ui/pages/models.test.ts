import test from 'ava';
import { startGateway } from '../../support/gateway.ts';
import { hasBrowser, startBrowser, violations } from '../../support/processes/browser.ts';
import { chatReply } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

browserTest('a provider shows what is known of its models, and more once it was asked for its list', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer({ data: [{ id: 'large', context_length: 65_536 }] }));
  t.teardown(upstream.close);
  const models = [{ name: 'small', context: 4_096, price: { input: 1, output: 2 }, lacks: ['sampling'] }, 'large'];
  const gateway = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models }],
    Router: { default: 'p,small' },
  });
  t.teardown(gateway.stop);
  const browser = await startBrowser();
  t.teardown(browser.close);
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/providers`);
  await page.getByRole('button', { name: /^p\b/ }).first().click();
  await page.getByText('What is known of the models').click();
  const facts = page.getByRole('region', { name: 'Known of the models' });
  await facts.getByText('4,096').waitFor();
  await facts.getByText('$1 / $2').waitFor();
  await facts.getByText('Sampling fields').waitFor();
  await facts.getByText('The provider has not been asked for its list.').waitFor();
  await facts.getByRole('button', { name: 'Refresh' }).click();
  await facts.getByText('The provider lists 1 model.').waitFor();
  await facts.getByText('65,536').waitFor();
  t.deepEqual(await violations(page), []);
  t.deepEqual(complaints, []);
});

browserTest(
  'each provider is a line with its figures of the chosen time, and one that always fails shows it',
  async (t) => {
    const upstream = await startUpstream(({ text }) =>
      text.includes('"m2"') ? jsonAnswer({ error: { message: 'wrong' } }, 400) : jsonAnswer(chatReply('fine')),
    );
    t.teardown(upstream.close);
    const price = { input: 1_000, output: 1_000 };
    const provider = (name: string, model: object | string) => ({
      ...{ name, baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: [model] },
    });
    const gateway = await startGateway({
      LOG: false,
      Providers: [provider('good', { name: 'm1', price }), provider('bad', 'm2'), provider('idle', 'm3')],
      Router: { default: 'good,m1' },
    });
    t.teardown(gateway.stop);
    const send = async (model: string): Promise<void> => {
      const body = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }] });
      await (await fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', body })).text();
    };
    for (const model of ['good,m1', 'good,m1', 'good,m1', 'bad,m2', 'bad,m2']) await send(model);
    const browser = await startBrowser();
    t.teardown(browser.close);
    const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/providers`);
    const list = page.getByRole('list', { name: 'Providers' });
    const row = (name: string) => list.getByRole('button', { name: new RegExp(`^${name}\\b`) });
    await row('good')
      .getByText(/^3 requests$/)
      .waitFor();
    t.regex((await row('good').innerText()).replaceAll(/\s+/g, ' '), /3 requests 0 failed p95 [\d.]+ m?s \$0\.006$/);
    await row('bad').locator('.badge-bad', { hasText: 'all failed' }).waitFor();
    await row('idle').getByText('no requests').waitFor();
    const highest = "Math.max(...[...document.querySelectorAll('.sortable > li')].map((one) => one.clientHeight))";
    t.is(await page.evaluate(highest), 32, 'one line each');
    t.deepEqual(await violations(page), []);
    await page.getByRole('group', { name: 'Time' }).getByText('7 days').click();
    await page.waitForURL(/range=7d/);
    await row('bad').click();
    await list.getByRole('link', { name: 'Show its requests' }).click();
    await page.getByRole('region', { name: 'Request list' }).getByRole('row', { name: /m2/ }).nth(1).waitFor();
    t.regex(page.url(), /from=7d&provider=bad/);
    t.deepEqual(complaints, []);
  },
);

browserTest('once a provider was added, or is not to be, a reload opens the dialog no more', async (t) => {
  const gateway = await startGateway();
  t.teardown(gateway.stop);
  const browser = await startBrowser();
  t.teardown(browser.close);
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/providers?add=yes`);
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  t.is(await page.evaluate('window.location.hash'), '#/providers');
  await page.reload();
  await page.getByRole('button', { name: 'Add a provider' }).waitFor();
  t.is(await page.getByRole('dialog').count(), 0);
  t.deepEqual(complaints, []);
});

browserTest('a breaker is open until its time is over; then the next request probes it', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer({ error: { message: 'busy' } }, 500));
  t.teardown(upstream.close);
  const clock = { nowMs: 1_000_000 };
  const gateway = await startGateway(
    {
      ...{ LOG: false, RETRY: { attempts: 0 }, BREAKER: { faults: 1, openMs: 600_000 } },
      Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] }],
      Router: { default: 'p,m' },
    },
    {},
    { healthNowMs: () => clock.nowMs },
  );
  t.teardown(gateway.stop);
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
  await (await fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', body })).text();
  const browser = await startBrowser();
  t.teardown(browser.close);
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/providers`);
  const told = page.getByText('1 breaker open');
  await told.waitFor();
  clock.nowMs += 600_000;
  await page.reload();
  await page.getByRole('button', { name: /^p\b/ }).first().click();
  await page.getByText('breaker open after 1 consecutive failure; the next request probes it').waitFor();
  t.is(await told.count(), 0);
  t.deepEqual(complaints, []);
});

browserTest('a provider shows what its refusals have taught, until it is forgotten there', async (t) => {
  const upstream = await startUpstream(({ body }) =>
    Object.hasOwn(Object(body), 'temperature')
      ? jsonAnswer({ error: { message: "Unsupported parameter: 'temperature'" } }, 400)
      : jsonAnswer(chatReply('fine')),
  );
  t.teardown(upstream.close);
  const gateway = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['m'] }],
    Router: { default: 'p,m' },
  });
  t.teardown(gateway.stop);
  const body = JSON.stringify({ model: 'm', temperature: 0.3, messages: [{ role: 'user', content: 'Hi' }] });
  await (await fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', body })).text();
  const browser = await startBrowser();
  t.teardown(browser.close);
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/providers`);
  await page.getByRole('button', { name: /^p\b/ }).first().click();
  const taught = page.getByRole('list', { name: 'Learned from refusals' });
  await taught.getByText(/temperature is left out, until .* “Unsupported parameter: 'temperature'”/).waitFor();
  await taught.getByText('{"body":{"temperature":null}}').waitFor();
  await taught.getByRole('button', { name: 'Copy' }).waitFor();
  const found = await violations(page);
  await taught.getByRole('button', { name: 'Forget' }).click();
  await page.getByText('Forgotten: temperature.').waitFor();
  await taught.waitFor({ state: 'detached' });
  t.deepEqual(found, []);
  t.deepEqual(complaints, []);
  await (await fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', body })).text();
  t.is(upstream.requests.filter((one) => one.text.includes('"temperature"')).length, 2);
});
