import test from 'ava';
import type { Activity } from '../../../engine/features/record/schema.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { hasBrowser, startBrowser, type TestBrowser, violations } from '../../support/processes/browser.ts';
import { until } from '../../support/until.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../../support/upstreams/upstream.ts';

let browser: TestBrowser;
let gateway: TestGateway;
let upstream: ScriptedUpstream;

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

const models = ['busy', 'quiet', 'broken', ...Array.from({ length: 12 }, (_, index) => `other-${index}`)];

test.before(async () => {
  if (!hasBrowser) return;
  upstream = await startUpstream(({ text }) => {
    if (text.includes('"held"')) return 'never';
    return text.includes('"broken"')
      ? jsonAnswer({ error: { message: 'no' } }, 400)
      : jsonAnswer({
          id: 'c1',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
        });
  });
  gateway = await startGateway({
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: '', models }],
    Router: { default: 'p,busy' },
  });
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.close();
});

const ask = async (model: string): Promise<void> => {
  const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }] }),
  });
  await answer.text();
};

browserTest('the drawing shows volume, health and where time goes, and plays back the last hour', async (t) => {
  await Promise.all(['p,quiet', 'p,broken', ...Array<string>(60).fill('p,busy')].map(ask));
  const tab = await browser.open(`${gateway.baseUrl}/ui`);
  const { page } = tab;
  const drawing = page.getByRole('figure', { name: /Drawing of all lines/ });
  await drawing.getByRole('link', { name: /broken/ }).waitFor();
  const widthOf = (model: string): Promise<number> =>
    page.evaluate(
      `parseFloat(getComputedStyle(document.querySelector('.react-flow__edge[data-id="to:p,${model}"] .track')).strokeWidth)`,
    );
  // A line is as wide as the rate of the last seconds, which end before a slow page has drawn it.
  await until(async () => {
    if ((await widthOf('busy')) > (await widthOf('quiet')) + 1) return true;
    await Promise.all(Array<string>(10).fill('p,busy').map(ask));
    return false;
  });
  t.is(await drawing.locator('.track-bad').count(), 1);
  const times = drawing.getByRole('link', { name: /busy/ }).getByRole('img');
  t.regex((await times.getAttribute('aria-label')) ?? '', /in the gateway, .* until the first byte, .* for the rest/);
  t.deepEqual(await violations(page), []);

  await page.getByText('Last hour', { exact: true }).click();
  const slider = page.getByRole('slider', { name: 'Minute of the last hour' });
  await slider.waitFor();
  await slider.press('Home');
  await drawing.getByText('0/s').first().waitFor();
  t.is(await drawing.locator('.track-live').count(), 0, 'an hour ago, the gateway did not run');
  const activity = (await (await fetch(`${gateway.baseUrl}/api/activity?minutes=60`)).json()) as Activity;
  const { began = [] } = activity.traffic?.lines.find(({ model }) => model === 'busy') ?? {};
  const minute = began.findIndex((count) => count > 0);
  await slider.press('End');
  for (let at = began.length - 1; at > minute; at -= 1) await slider.press('ArrowLeft');
  await drawing
    .getByText(`${((began[minute] ?? 0) / 60).toFixed(1)}/s`)
    .first()
    .waitFor();
  t.true((await drawing.locator('.track-live').count()) > 0);
  t.deepEqual(await violations(page), []);
  await page.reload();
  await slider.waitFor();
  await page.getByText('Live', { exact: true }).click();
  await slider.waitFor({ state: 'detached' });
  t.deepEqual(tab.complaints, []);
});

browserTest('client protocols with requests in flight show their whole names', async (t) => {
  const held = new AbortController();
  t.teardown(() => held.abort());
  const send = (path: string, body: object): Promise<unknown> =>
    fetch(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'p,held', ...body }),
      signal: held.signal,
    }).catch(() => undefined);
  void send('/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] });
  void send('/v1/responses', { input: 'hi' });
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
  const drawing = page.getByRole('figure', { name: /Drawing of all lines/ });
  for (const [width, name] of [
    [1280, 'Chat Completions'],
    [390, 'Responses'],
  ] as const) {
    await page.setViewportSize({ width, height: 844 });
    await drawing.getByRole('link', { name }).getByText('1 in flight').waitFor();
    const cut = `[...document.querySelectorAll('.station-client .cut')]
      .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)`;
    t.deepEqual(await page.evaluate(cut), [], String(width));
  }
  t.deepEqual(complaints, []);
});

browserTest('a drawing with many lines has a window, in which it is moved and zoomed', async (t) => {
  for (const model of models) await ask(`p,${model}`);
  const tab = await browser.open(`${gateway.baseUrl}/ui`);
  const { page } = tab;
  const drawing = page.getByRole('figure', { name: /Drawing of all lines/ });
  await drawing.getByRole('button', { name: 'Zoom in' }).waitFor();
  const { height = 0 } = (await drawing.boundingBox()) ?? {};
  t.true(height <= 640, `${height}`);
  const width = async (): Promise<number> =>
    (await drawing.getByRole('link', { name: /busy/ }).boundingBox())?.width ?? 0;
  const before = await width();
  await drawing.getByRole('button', { name: 'Zoom out' }).click();
  t.true((await width()) < before);
  await drawing.getByRole('button', { name: 'Fit' }).click();
  const frame = (await drawing.boundingBox()) ?? { y: 0, height: 0 };
  for (const model of models) {
    const box = (await drawing
      .getByRole('link', { name: new RegExp(`${model}\\b`) })
      .first()
      .boundingBox()) ?? {
      y: -1,
      height: 0,
    };
    t.true(box.y >= frame.y && box.y + box.height <= frame.y + frame.height, model);
  }
  t.deepEqual(await violations(page), []);
  t.deepEqual(tab.complaints, []);
});
