import test from 'ava';
import { keptRequest, linesOf } from '../../engine/store/requests.ts';
import { startGateway } from '../../support/gateway.ts';
import { hasBrowser, startBrowser, violations } from '../../support/processes/browser.ts';
import { until } from '../../support/until.ts';

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

/** 40 requests of an agent: each waits 1 s and streams 2 s, its tools take 3 s; before the last ten, the user is away for ten minutes. */
const beginMs = Date.now() - 3_600_000;
const agent = Array.from({ length: 40 }, (_, n) => {
  const startedAt = beginMs + n * 6_000 + (n < 30 ? 0 : 597_000);
  const tools = n === 0 || n === 30 ? {} : { tools: ['read'] };
  return keptRequest(`step-${n}`, startedAt + 3_000, {
    ...{ n: n + 1, startedAt, durationMs: 3_000, firstByteMs: 1_000, session: 'agent', ...tools },
  });
});

browserTest('a session has its span, and a timeline of waits, streams and tools without its pauses', async (t) => {
  const files = { [`history/${agent[0]?.endedAt}.1-${agent.at(-1)?.endedAt}.jsonl`]: linesOf(agent) };
  const gateway = await startGateway({ LOG: false, Providers: [] }, {}, { files });
  t.teardown(gateway.stop);
  const browser = await startBrowser();
  t.teardown(browser.close);
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/requests?group=session`);
  const row = page.getByRole('region', { name: 'Sessions' }).getByRole('row').nth(1);
  // 30 steps of 6 s, the pause, and 10 more: the last one has no tools after it.
  t.regex(await row.innerText(), /\s13 min 54 s$/);
  t.is(await row.getByTitle('2 min 00 s in requests').count(), 1);
  await row.getByRole('link').click();
  const pane = page.getByRole('region', { name: 'Session', exact: true });
  const timeline = pane.getByRole('region', { name: 'Timeline' });
  await timeline.waitFor();
  t.regex((await pane.innerText()).replaceAll(/\s+/g, ' '), /Span 13 min 54 s 10 min 00 s of pauses/);
  t.regex(
    (await timeline.innerText()).replaceAll(/\s+/g, ' '),
    /^Wait for the first byte 40.0 s Stream 1 min 20 s Tools 1 min 54 s Showing 12 of 40/,
  );
  // Each request is where its time is, and words have what is drawn.
  const tracks = timeline.getByRole('img', { name: /^Wait/ });
  t.is(await tracks.count(), 12);
  t.is(await tracks.first().getAttribute('aria-label'), 'Wait for the first byte 1.00 s, Stream 2.00 s, Tools 3.00 s');
  t.is(await tracks.last().getAttribute('aria-label'), 'Wait for the first byte 1.00 s, Stream 2.00 s, Tools 0 ms');
  const bars = await page.evaluate<readonly (readonly number[])[]>(
    `[...document.querySelectorAll('.session-requests .timing-track')].map((track) => {
      const { left, width } = track.getBoundingClientRect();
      return [...track.querySelectorAll('.timing-bar')].flatMap((bar) => {
        const box = bar.getBoundingClientRect();
        return [Math.round(((box.left - left) / width) * 66), Math.round((box.width / width) * 66)];
      });
    })`,
  );
  // From the 29th to the 40th, 66 s without the pause.
  t.deepEqual(bars[0], [0, 1, 1, 2, 3, 3]);
  t.deepEqual(bars[1], [6, 1, 7, 2]);
  t.deepEqual(bars[2]?.slice(0, 4), [9, 1, 10, 2]);
  await timeline.getByRole('button', { name: 'Show more' }).click();
  await until(async () => (await tracks.count()) === 40);
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    await until(() => page.evaluate<boolean>('document.documentElement.scrollWidth <= window.innerWidth'));
    t.deepEqual(await violations(page), [], String(width));
  }
  await timeline.getByRole('link').last().click();
  await page.getByRole('region', { name: 'Request', exact: true }).waitFor();
  t.deepEqual(complaints, []);
});
