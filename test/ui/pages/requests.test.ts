import { readFile } from 'node:fs/promises';
import { get } from 'node:http';
import test from 'ava';
import type { Locator, Page } from 'playwright-core';
import type { KeptRequest } from '../../../engine/features/record/schema.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import {
  hasBrowser,
  pressPair,
  startBrowser,
  type Tab,
  type TestBrowser,
  violations,
} from '../../support/processes/browser.ts';
import { until } from '../../support/until.ts';
import { chatReply, chatStream } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const secret = 'the-secret-of-the-provider';

const configOf = (url: string) => ({
  Providers: [
    { name: 'fast', baseUrl: `${url}/v1`, apiKey: secret, models: ['small', 'broken'] },
    { name: 'deep', baseUrl: `${url}/v1`, apiKey: secret, models: ['large'] },
  ],
  Router: { default: 'fast,small', routes: { think: 'deep,large' } },
  transformers: [{ name: 'maxtoken', provider: 'fast', options: { max_tokens: 100 } }],
});

/** As it is at first glance: what a tab shows, and that nothing went wrong in it. */
const look = async ({ page }: Tab, hash = ''): Promise<Page> => {
  await page.evaluate(`window.location.hash = ${JSON.stringify(hash)}`);
  return page;
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let browser: TestBrowser;

test.before(async () => {
  if (!hasBrowser) return;
  upstream = await startUpstream(({ text }) => {
    if (text.includes('"broken"')) return jsonAnswer({ error: { message: 'no capacity left' } }, 529);
    const isStream = text.includes('"stream":true');
    return isStream ? sseAnswer(chatStream(['One lever ', 'throws ', 'the points.'])) : jsonAnswer(chatReply('Hello.'));
  });
  gateway = await startGateway(configOf(upstream.url));
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.close();
});

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

const send = async (baseUrl: string, body: object, headers: Record<string, string> = {}): Promise<string> => {
  const answer = await fetch(`${baseUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ max_tokens: 500, messages: [{ role: 'user', content: 'Why two levers?' }], ...body }),
  });
  await answer.text();
  return answer.headers.get('x-request-id') ?? '';
};

browserTest(
  'the first page is small, makes no external requests, and keyboard shortcuts open the others',
  async (t) => {
    const tab = await browser.open(`${gateway.baseUrl}/ui`);
    await tab.page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
    await tab.page.getByText('in flight').waitFor();
    const files = await tab.page.evaluate<readonly string[]>(
      `[...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
        .map(({ name }) => name)
        .filter((name) => !name.includes('/api/'))`,
    );
    const sizes = await Promise.all(files.map(compressedSize));
    const size = sizes.reduce((sum, one) => sum + one, 0);
    t.log(`${Math.round(size / 1_000)} kB, compressed`);
    t.true(size > 0 && size <= 120_000, `${size} bytes`);
    t.true(files.length <= 30, `${files.length} files`);

    await tab.page.keyboard.press('Tab');
    t.is(await tab.page.evaluate('document.activeElement.textContent'), 'Skip to main content');
    await tab.page.keyboard.press('Enter');
    t.is(await tab.page.evaluate('document.activeElement.id'), 'main');
    await tab.page.keyboard.press('?');
    const dialog = tab.page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    await dialog.getByText('Go to Providers').waitFor();
    await tab.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    for (const [key, title] of pageKeys) {
      await pressPair(tab.page, 'g', key);
      await until(async () => (await tab.page.title()) === `${title} · Junctor`);
      t.is(await tab.page.evaluate('document.activeElement.id'), 'main', title);
    }
    await look(tab, '#/no/such/page');
    await tab.page.getByText('There is no page at /no/such/page.').waitFor();
    t.deepEqual(tab.complaints, []);
  },
);

/** The size of a file as browsers get it. */
const compressedSize = (url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    get(url, { headers: { 'accept-encoding': 'br' } }, (answer) => {
      let size = 0;
      answer.on('data', (bytes) => {
        size += bytes.length;
      });
      answer.on('end', () => resolve(size));
    }).on('error', reject);
  });

const pageKeys = [
  ['u', 'Usage'],
  ['p', 'Providers'],
  ['r', 'Routing'],
  ['c', 'Clients'],
  ['a', 'Playground'],
  ['s', 'Settings'],
  ['q', 'Requests'],
] as const;

const listOf = (page: Page): Locator => page.getByRole('region', { name: 'Request list' });
const paneOf = (page: Page): Locator => page.getByRole('region', { name: 'Request', exact: true });
const chip = (page: Page, name: RegExp): Locator =>
  page.getByRole('group', { name: 'Filters' }).getByRole('button', { name });

browserTest(
  'why a request failed is in its row, it is filtered by chips, and another provider answers it',
  async (t) => {
    await send(gateway.baseUrl, { model: 'any', stream: true });
    await send(gateway.baseUrl, {
      model: 'any',
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      max_tokens: 4_000,
    });
    await send(gateway.baseUrl, { model: 'fast,broken', top_k: 3 });
    const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
    const list = listOf(page);
    await list.getByRole('row', { name: /large/ }).waitFor();
    t.is(await page.evaluate('window.location.hash'), '#/requests');
    t.is(await list.getByRole('row').count(), 4);
    const first = await list.getByRole('link').first().boundingBox();
    t.true((first?.y ?? 999) < 200, `${first?.y}`);
    // Job 2: the reason stands in the row.
    const failed = list.getByRole('row', { name: /no capacity left.*broken/ });
    await failed.getByRole('img', { name: '529' }).waitFor();
    await chip(page, /^Failed 1$/).click();
    await list.getByRole('row', { name: /large/ }).waitFor({ state: 'detached' });
    t.is(await page.evaluate('window.location.hash'), '#/requests?status=failed');
    await page.reload();
    await failed.waitFor();
    t.is(await chip(page, /^Failed/).getAttribute('aria-pressed'), 'true');
    t.is(await list.getByRole('row').count(), 2);
    await failed.getByRole('link').click();
    const pane = paneOf(page);
    await pane.getByRole('alert').getByText('no capacity left').waitFor();
    t.is(
      (await pane.getByRole('list', { name: 'Path' }).innerText()).replaceAll(/\s+/g, ' '),
      'Messages explicit fast ✗ 529 ×4',
    );
    await pane.getByText('Why two levers?').waitFor();
    t.regex(await page.evaluate<string>('window.location.hash'), /^#\/requests\/req_\w+\?status=failed/);
    // Job 6: one more click sends it to another provider.
    await pane.getByRole('button', { name: 'Retry on deep,large' }).click();
    await pane.getByRole('heading', { name: /large/ }).waitFor();
    await pane.getByText('Hello.').waitFor();
    t.like(upstream.requests.at(-1)?.body, { model: 'large' });
    // It stands beside the one that failed, and leads back there.
    const both = pane.getByRole('region', { name: 'Retry and original' });
    await both.getByRole('row', { name: /^fast,broken 529 / }).waitFor();
    await both.getByRole('row', { name: /^deep,large 200 / }).waitFor();
    await pane.getByText('Changes of the body').click();
    const changed = pane.getByRole('region', { name: 'Changes of the body' });
    t.is(await changed.locator('ins').textContent(), '+"model": "deep,large"');
    t.deepEqual(await violations(page), []);
    await both.getByRole('link').click();
    await pane.getByRole('heading', { name: /broken/ }).waitFor();
    await both.waitFor({ state: 'detached' });
    // To any other model: one more click, in a list that letters narrow.
    await pane.getByRole('button', { name: 'Retry on…' }).click();
    const models = page.getByRole('dialog', { name: 'Retry on another model' });
    await page.keyboard.type('small');
    await models.getByRole('option', { name: 'fast,large' }).waitFor({ state: 'detached' });
    await models.getByRole('option', { name: 'fast,small' }).click();
    await pane.getByRole('heading', { name: /small/ }).waitFor();
    t.like(upstream.requests.at(-1)?.body, { model: 'small' });
    await page.keyboard.press('Escape');
    await pane.waitFor({ state: 'detached' });
    await page.getByRole('searchbox', { name: 'Filter' }).fill('no such text');
    await page.getByText('No requests match the filters').waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await list.getByRole('row', { name: /small/ }).first().waitFor();
    t.is(await page.evaluate('window.location.hash'), '#/requests');
    await chip(page, /^Lossy/).click();
    t.is(await page.evaluate('window.location.hash'), '#/requests?lossy=true');
    await page.goto(`${gateway.baseUrl}/ui#/requests?scenario=think&provider=deep`);
    await until(async () => (await list.getByRole('row').count()) === 2);
    await chip(page, /^rule think$/).click();
    t.is(await page.evaluate('window.location.hash'), '#/requests?provider=deep');
    t.deepEqual(
      complaints.filter((line) => !line.includes('529')),
      [],
    );
  },
);

browserTest('the list and what is open look right in both themes at all widths', async (t) => {
  await send(gateway.baseUrl, { model: 'fast,broken' }, { 'x-request-id': 'req_looked_at', 'x-junctor-capture': '1' });
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
  for (const [hash, text] of [
    ['#/requests', 'Duration'],
    ['#/requests/req_looked_at', 'Open in playground'],
    ['#/requests/req_looked_at?tab=path', 'Gateway overhead'],
    ['#/requests?group=session', 'Last used'],
  ] as const) {
    await look({ page, complaints }, hash);
    await page.getByText(text).first().waitFor({ state: 'attached' });
    for (const theme of ['light', 'dark']) {
      await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
      for (const width of [1920, 1280, 390]) {
        await page.setViewportSize({ width, height: 800 });
        t.deepEqual(await violations(page), [], `${hash} ${theme} ${width}`);
        t.false(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'), `${hash} ${width}`);
      }
    }
  }
  t.deepEqual(complaints, []);
});

browserTest('a captured request opens by keyboard: path, stream, raw, replay in another protocol', async (t) => {
  const tab = await browser.open(`${gateway.baseUrl}/ui`);
  const { page } = tab;
  await send(gateway.baseUrl, { model: 'any' });
  await page.getByRole('button', { name: 'Capture', exact: true }).click();
  await page.getByText('At most 470 captures are kept, up to 1.0 MiB each').waitFor();
  await page.getByRole('button', { name: 'Start capturing' }).click();
  await page.getByRole('button', { name: 'Capturing', exact: true }).waitFor();
  const body = { model: 'any', stream: true, top_k: 5, messages: [{ role: 'user', content: 'Which lever first?' }] };
  const id = await send(gateway.baseUrl, body, { 'x-api-key': 'the-clients-own-key' });
  const row = listOf(page).getByRole('link', { name: 'Which lever first?' });
  await row.focus();
  await page.keyboard.press('Enter');
  const pane = paneOf(page);
  await pane.getByText('throws the points.').waitFor();
  await pane.getByRole('tab', { name: 'Conversation' }).press('ArrowRight');
  await pane.getByText('Wait for the provider').waitFor();
  t.regex((await pane.textContent()) ?? '', /top_k.*dropped/s);
  await pane.getByRole('button', { name: /maxtoken/ }).click();
  const changes = pane.getByRole('region', { name: 'Changes by maxtoken' });
  t.is(await changes.locator('del').textContent(), '−"maxTokens": 500');
  t.is(await changes.locator('ins').textContent(), '+"maxTokens": 100');
  await pane.getByRole('button', { name: /encode/ }).click();
  await pane
    .getByRole('textbox', { name: /encode.*after/ })
    .getByText(/"max_(completion_)?tokens"/)
    .first()
    .waitFor();
  t.deepEqual(await violations(page), []);

  await pane.getByRole('tab', { name: 'Stream' }).click();
  const events = pane.getByRole('region', { name: 'Events' }).getByRole('table');
  const told = (await events.getByRole('row', { name: /throws/ }).textContent()) ?? '';
  t.regex(told, /chat\.completion\.chunk.*content_block_delta/s);
  await pane.getByLabel('Show gateway events').check();
  await events.getByText('text-delta').first().waitFor();
  await pane.getByRole('searchbox', { name: 'Find' }).fill('message_stop');
  t.is(await events.getByRole('row').count(), 2);
  const calls = upstream.requests.length;
  await pane.getByLabel('Client protocol').selectOption('Responses');
  await pane.getByText('Instant').click();
  await pane.getByRole('button', { name: 'Replay', exact: true }).click();
  await pane.getByRole('region', { name: 'Replayed response' }).getByText('response.completed').waitFor();
  t.is(upstream.requests.length, calls, 'no upstream was called');
  t.deepEqual(await violations(page), []);

  await pane.getByRole('tab', { name: 'Raw' }).click();
  await pane.getByText('curl -sS').first().waitFor();
  const shown = (await pane.textContent()) ?? '';
  t.regex(shown, /\$FAST_API_KEY/);
  t.false(shown.includes(secret) || shown.includes('the-clients-own-key'));
  t.deepEqual(await violations(page), []);
  // The tab stays, whatever is open.
  await page.keyboard.press('j');
  await page.waitForURL((url) => !url.hash.includes(id));
  t.regex(await page.evaluate<string>('window.location.hash'), /tab=raw/);
  await page.keyboard.press('k');
  await page.waitForURL((url) => url.hash.includes(id));
  // Keys that come before the page has followed the address count from where the one before led.
  await page.evaluate("['j', 'k', 'j'].forEach((key) => window.dispatchEvent(new KeyboardEvent('keydown', { key })))");
  t.false((await page.evaluate<string>('window.location.hash')).includes(id));

  await look(tab, '#/settings?tab=history');
  await page.getByText(/^\d+ requests? from .* to .*, in /).waitFor();
  await page.getByRole('button', { name: 'Delete the history' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Type “delete” to confirm').fill('delete');
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No requests are kept.').waitFor();
  await look(tab, `#/requests/${id}`);
  await page.getByText(/There is no request of that id/).waitFor();
  await fetch(`${gateway.baseUrl}/api/capture`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"on":false}',
  });
  t.deepEqual(
    tab.complaints.filter((line) => !line.includes('404')),
    [],
  );
});

browserTest(
  'requests of an earlier process follow those in memory, and are exported as they are filtered',
  async (t) => {
    const kept = await startGateway(configOf(upstream.url), {}, { files: keptFile(450, Date.now() - 60_000) });
    t.teardown(kept.stop);
    await send(kept.baseUrl, { model: 'any' }, { 'x-request-id': 'live' });
    const { page, complaints } = await browser.open(`${kept.baseUrl}/ui`);
    const row = (id: string): Locator =>
      listOf(page).locator(`a[href^="#/requests/${id}?"], a[href="#/requests/${id}"]`);
    await row('live').waitFor();
    await row('kept-449').waitFor();
    // Older pages are read as the end comes into sight.
    for (let tries = 0; tries < 60 && (await row('kept-0').count()) === 0; tries += 1) {
      await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight)');
      await page.evaluate('new Promise((done) => setTimeout(done, 100))');
    }
    await row('kept-0').waitFor();
    t.true((await listOf(page).getByRole('row').count()) < 90, 'only rows in sight are drawn');
    await page.getByRole('combobox', { name: 'Time' }).selectOption('Last hour');
    await page.getByRole('searchbox', { name: 'Filter' }).fill('KEPT-44');
    await until(async () => (await listOf(page).getByRole('row').count()) === 12);
    t.is(await page.evaluate('window.location.hash'), '#/requests?from=1h&text=KEPT-44');
    await page.getByRole('button', { name: 'Export' }).click();
    const downloading = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export JSONL' }).click();
    const lines = (await readFile(await (await downloading).path(), 'utf8')).trim().split('\n');
    t.is(lines.length, 11);
    await row('kept-44').click();
    await page.getByText('This request was not captured').waitFor();
    t.regex(await page.evaluate<string>('window.location.hash'), /ended=\d/);
    await page.keyboard.press('k');
    await page.waitForURL((url) => url.hash.includes('kept-440'));
    await look({ page, complaints }, '#/requests/kept-5');
    await page.getByText('The capture of this request is no longer kept').waitFor();
    await look({ page, complaints }, '#/requests?status=teapot');
    await page.getByText('status must be ok, failed, or a status such as 429 or 5xx.').waitFor();
    t.deepEqual(
      complaints.filter((line) => !/400.*\/api\/history/.test(line)),
      [],
    );
  },
);

/** A file of requests that an earlier process kept, one a second, the last one at this time: `kept-0` is the oldest. */
const keptFile = (count: number, lastMs: number): Readonly<Record<string, string>> => {
  const lines = Array.from({ length: count }, (_, n): KeptRequest => {
    const endedAt = lastMs - (count - 1 - n) * 1_000;
    return {
      endedAt,
      n: n + 1,
      id: `kept-${n}`,
      startedAt: endedAt - 20,
      path: '/v1/chat/completions',
      protocol: 'chat',
      asked: 'any',
      stream: false,
      provider: 'fast',
      model: 'small',
      status: 200,
      durationMs: 20,
      losses: [],
      relayed: { request: true, reply: true },
      captured: n === 5,
    };
  });
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  return { [`history/${lines[0]?.endedAt}.1-${lastMs - 3_600_000}.jsonl`]: text };
};

browserTest('the list answers what was slow, what failed alike and when, and counts follow the filter', async (t) => {
  const now = Date.now();
  const lines = Array.from({ length: 90 }, (_, n) => {
    const startedAt = now - (90 - n) * 60_000;
    const [provider, failed] = n % 3 === 0 ? ['deep', n % 2 === 0] : ['fast', false];
    const durationMs = n === 40 ? 64_000 : 500 + n;
    return {
      ...{ n: n + 1, id: `kept-${n}`, startedAt, endedAt: startedAt + durationMs, durationMs, firstByteMs: 190 - n },
      ...{ path: '/v1/messages', protocol: 'messages', asked: 'any', stream: true, provider, model: 'small' },
      session: n % 5 === 0 ? 'agent-one' : 'agent-two',
      ...{
        status: failed ? 502 : 200,
        title: `<b>Task</b> \u202e${n}`,
        cost: (n + 1) * 1_000_000,
        losses: [],
        captured: false,
      },
      ...(failed && {
        fault: { kind: 'upstream', message: n % 4 === 0 ? 'deep closed the connection' : '<i>no</i> answer' },
      }),
      relayed: { request: true, reply: true },
    };
  });
  const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  const files = { [`history/${lines[0]?.endedAt}.1-${lines.at(-1)?.endedAt}.jsonl`]: text };
  const own = await startGateway(configOf(upstream.url), {}, { files });
  t.teardown(own.stop);
  const { page, complaints } = await browser.open(`${own.baseUrl}/ui`);
  const list = listOf(page);
  const hash = (): Promise<string> => page.evaluate<string>('decodeURIComponent(window.location.hash)');
  const first = (): Promise<string | null> => list.getByRole('row').nth(1).textContent();
  // Counts follow the filter.
  await chip(page, /^Failed 15$/).waitFor();
  await page.getByLabel('Provider').selectOption({ label: 'fast (60)' });
  await chip(page, /^Failed 0$/).waitFor();
  await page.getByLabel('Provider').selectOption({ label: 'deep (30)' });
  await page.getByLabel('Session', { exact: true }).selectOption({ label: 'agent-one (6)' });
  await chip(page, /^Failed 3$/).waitFor();
  t.is(await hash(), '#/requests?provider=deep&session=agent-one');
  await page.getByLabel('Session', { exact: true }).selectOption({ label: 'Session' });
  await chip(page, /^Failed 15$/).click();
  // Failures of one message are one row, which leads to them; the cause and the title stand in each.
  const groups = page.getByRole('list', { name: 'Failures by message' });
  await groups.getByRole('listitem').nth(1).waitFor();
  t.regex(
    (await groups.innerText()).replaceAll(/\s+/g, ' '),
    /×8 upstream: deep closed the connection .*×7 upstream: <i>no/,
  );
  await list.getByText('<b>Task</b>').first().waitFor();
  t.deepEqual(await violations(page), []);
  await groups.getByRole('button', { name: /deep closed/ }).click();
  await until(async () => (await list.getByRole('row').count()) === 9);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  t.is(await hash(), '#/requests');
  // What was slow: by the heading, by the facet, and by a drag over the time.
  await list.getByRole('button', { name: 'Duration' }).click();
  await until(async () => ((await first()) ?? '').includes('1 min 04 s'));
  t.is(await hash(), '#/requests?sort=duration');
  await list.getByRole('button', { name: 'Duration' }).click();
  await until(async () => ((await first()) ?? '').includes('\u202e89'));
  await list.getByRole('button', { name: 'First byte' }).click();
  await until(async () => /\u202e0.*190 ms/.test((await first()) ?? ''));
  // What the list can be sorted by is what the API documents.
  const { paths } = JSON.parse(await (await fetch(`${own.baseUrl}/openapi.json`)).text());
  const parameters: readonly { name: string; schema: { enum: readonly string[] } }[] =
    paths['/api/history'].get.parameters;
  const offered = new Set(['time']);
  for (const heading of await list.getByRole('columnheader').getByRole('button').all()) {
    await heading.click();
    offered.add((await hash()).split('sort=')[1] ?? 'time');
  }
  t.deepEqual([...offered].toSorted(), parameters.find(({ name }) => name === 'sort')?.schema.enum.toSorted());
  await page.evaluate('window.location.hash = "#/requests"');
  await page.getByLabel('Duration', { exact: true }).selectOption({ label: '≥ 1 min 00 s (1)' });
  await until(async () => (await list.getByRole('row').count()) === 2);
  await page.getByLabel('Duration', { exact: true }).selectOption('');
  const chart = page.getByRole('img', { name: /^90 requests over time, 15 failed/ });
  await chart.waitFor();
  const { x = 0, y = 0, width = 0 } = (await chart.boundingBox()) ?? {};
  await page.mouse.move(x + width * 0.25, y + 10);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.5, y + 10, { steps: 3 });
  await page.mouse.up();
  await page.getByRole('img', { name: /^2\d requests over time/ }).waitFor();
  t.regex(await hash(), /from=.*Z&to=.*Z$/);
  await page.mouse.move(0, 0);
  // A filter that finds nothing says so, and leads on.
  await page.getByRole('searchbox', { name: 'Filter' }).fill('no such text');
  await page.getByRole('button', { name: 'Show all' }).click();
  await chart.waitFor();
  t.deepEqual(complaints, []);
});

browserTest('a request that was tried again has its steps by attempt, and the list the times of ends', async (t) => {
  let calls = 0;
  const flaky = await startUpstream(() => {
    calls += 1;
    return calls === 1 ? jsonAnswer({ error: { message: 'busy' } }, 503) : jsonAnswer(chatReply('Hello.'));
  });
  t.teardown(flaky.close);
  const startedAt = Date.now() - 3_000_000;
  const kept = {
    ...{ n: 1, id: 'slow', startedAt, endedAt: startedAt + 64_000, durationMs: 64_000, firstByteMs: 100 },
    ...{ path: '/v1/messages', protocol: 'messages', asked: 'any', stream: true, provider: 'deep', model: 'large' },
    ...{ status: 200, title: 'A slow one', losses: [], captured: false, relayed: { request: true, reply: true } },
  };
  const files = { [`history/${kept.endedAt}.1-${kept.endedAt}.jsonl`]: `${JSON.stringify(kept)}\n` };
  const own = await startGateway({ ...configOf(flaky.url), RETRY: { baseMs: 0, attempts: 1 } }, {}, { files });
  t.teardown(own.stop);
  const id = await send(own.baseUrl, { model: 'any' }, { 'x-junctor-capture': '1' });
  const { page, complaints } = await browser.open(`${own.baseUrl}/ui`);
  const row = listOf(page).getByRole('row', { name: /A slow one/ });
  const shown = (await row.getByRole('cell').first().textContent()) ?? '';
  // Of another day, it has no seconds.
  t.regex(shown, new RegExp(`${new Date(kept.endedAt).toTimeString().slice(0, 5)}(:\\d\\d)?$`));

  await look({ page, complaints }, `#/requests/${id}?tab=path`);
  const pane = paneOf(page);
  const steps = ['decode', 'route', 'maxtoken', 'encode (openai)'];
  const again = pane.getByRole('button', { name: /waits after the attempt before/ });
  await again.waitFor();
  t.deepEqual(await pane.locator('.step-title').allInnerTexts(), steps);
  await pane.getByText('Attempt 1', { exact: true }).click();
  await again.waitFor({ state: 'detached' });
  t.deepEqual(await pane.locator('.step-title').allInnerTexts(), steps);
  t.deepEqual(await violations(page), []);
  t.deepEqual(complaints, []);
});

browserTest('sessions group the list: the conversation is shown once, with model and cost of each turn', async (t) => {
  const own = await startGateway(configOf(upstream.url));
  t.teardown(own.stop);
  const tab = await browser.open(`${own.baseUrl}/ui#/sessions`);
  const { page, complaints } = tab;
  await page.getByText('No sessions in this time').waitFor();
  t.is(await page.evaluate('window.location.hash'), '#/requests?group=session');
  const messages: object[] = [{ role: 'user', content: 'Fix the failing test' }];
  for (const [id, model] of [
    ['r1', 'any'],
    ['r2', 'deep,large'],
    ['r3', 'any'],
  ] as const) {
    const headers = { 'x-request-id': id, 'x-claude-code-session-id': 'session-one', 'x-junctor-capture': '1' };
    await send(own.baseUrl, { model, messages }, headers);
    messages.push({ role: 'assistant', content: `Step of ${id}.` }, { role: 'user', content: `Go on after ${id}` });
  }
  await send(own.baseUrl, { model: 'fast,broken' }, { 'x-request-id': 'alone' });
  await page.reload();
  const list = page.getByRole('region', { name: 'Sessions' });
  const row = list.getByRole('row', { name: /Fix the failing test/ });
  await row.waitFor();
  t.is(await list.getByRole('row').count(), 2, 'a single request buries no session');
  t.regex((await row.textContent()) ?? '', /small, large.*3 turns ·\s*3/);
  await page.getByRole('button', { name: /^With single requests 1$/ }).click();
  await until(async () => (await list.getByRole('row').count()) === 3);
  await row.getByRole('link').click();
  const pane = page.getByRole('region', { name: 'Session', exact: true });
  const turns = pane.getByRole('list', { name: 'Turns' }).getByRole('listitem');
  await pane.getByText('Go on after r2').waitFor();
  const said = (await turns.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));
  t.deepEqual(said, [
    'User Fix the failing test',
    'Assistant small · 0 % cached Step of r1.',
    'User Go on after r1',
    'Assistant large · 0 % cached Step of r2.',
    'User Go on after r2',
  ]);
  const timeline = pane.getByRole('region', { name: 'Timeline' });
  await timeline.getByRole('list', { name: 'Requests of the session' }).getByRole('link').nth(1).click();
  await paneOf(page).getByRole('heading', { name: /large/ }).waitFor();
  await page.goBack();
  await pane.getByRole('link', { name: 'Show its requests in the list' }).click();
  await until(async () => (await listOf(page).getByRole('row').count()) === 4);
  await page.getByLabel('Session', { exact: true }).selectOption({ label: 'Session' });
  await until(async () => (await listOf(page).getByRole('row').count()) === 5);
  t.deepEqual(
    complaints.filter((line) => !line.includes('529')),
    [],
  );
});

browserTest('an unreachable gateway is reported, and the page reconnects', async (t) => {
  const { page } = await browser.open(`${gateway.baseUrl}/ui`);
  await page.getByText('in flight').waitFor();
  await page.route('**/{api,health}/**', (asked) => asked.abort());
  await page.getByText('The gateway is not responding', { exact: true }).waitFor();
  t.deepEqual(await violations(page), []);
  await page.unrouteAll();
  await page.getByText('The gateway is not responding', { exact: true }).waitFor({ state: 'detached' });
  await send(gateway.baseUrl, { model: 'any' });
  await listOf(page).getByText('small').first().waitFor();
});

browserTest('a page that was never opened opens without the network’s help', async (t) => {
  const { page } = await browser.open(`${gateway.baseUrl}/ui`);
  await page.getByText('in flight').waitFor();
  const isLoaded = (name: string) =>
    page.evaluate<boolean>(`performance.getEntriesByType('resource').some((one) => one.name.includes('/${name}-'))`);
  await until(() => isLoaded('palette'));
  await page.route('**/{api,health,ui}/**', (asked) => asked.abort());
  for (const name of ['Providers', 'Playground', 'Usage']) {
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  }
  t.is(await page.getByText('This page failed to load').count(), 0);
  t.false(await isLoaded('editor'), 'what is larger than all pages waits until it is opened');
});

browserTest('the key is requested once per load, stored nowhere, and a wrong one is rejected', async (t) => {
  const key = 'a-key-of-some-length';
  const guarded = await startGateway({ ...configOf(upstream.url), APIKEY: key });
  t.teardown(guarded.stop);
  const { page } = await browser.open(`${guarded.baseUrl}/ui#/settings`);
  const dialog = page.getByRole('dialog', { name: 'This gateway requires a key' });
  await dialog.getByLabel('Key', { exact: true }).fill('not the key');
  t.deepEqual(await violations(page), []);
  await dialog.getByRole('button', { name: 'Continue' }).click();
  await dialog.getByText('The gateway rejected this key.').waitFor();
  await dialog.getByLabel('Key', { exact: true }).fill(key);
  await page.keyboard.press('Enter');
  await dialog.waitFor({ state: 'detached' });
  await look({ page, complaints: [] }, '#/');
  await page.getByText('in flight').waitFor();
  t.false((await page.content()).includes(key));
  t.false(String(await page.evaluate('JSON.stringify([localStorage, sessionStorage])')).includes(key));
  await page.reload();
  await dialog.waitFor();
});

browserTest('unsaved changes stay as a draft when their page is left, and the navigation leads back', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
  await page.getByRole('link', { name: 'Routing' }).click();
  await page.getByRole('button', { name: /^Long context/ }).click();
  const threshold = page.getByLabel('Threshold (tokens)');
  await threshold.fill('70000');
  t.is(await page.getByRole('link', { name: /Unsaved changes/ }).count(), 0, 'the page itself says so');
  // To the address without a fragment, with which the tab began.
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
  t.deepEqual(await violations(page), []);
  await page.getByRole('link', { name: 'Unsaved changes to the configuration' }).click();
  await page.getByRole('heading', { level: 1, name: 'Routing' }).waitFor();
  t.is(await threshold.inputValue(), '70000');
  await page.getByRole('button', { name: 'Discard', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('link', { name: 'Requests', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor();
  t.is(await page.getByRole('link', { name: /Unsaved changes/ }).count(), 0);
  t.deepEqual(complaints, []);
});

browserTest('the selected theme is kept, and narrow pages navigate through the menu', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
  await page.getByRole('group', { name: 'Theme' }).getByText('Dark').check({ force: true });
  t.is(await page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'dark');
  await page.reload();
  t.is(await page.evaluate('getComputedStyle(document.documentElement).colorScheme'), 'dark');
  await page.evaluate('localStorage.clear()');
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('button', { name: 'Menu' }).click();
  const drawer = page.getByRole('dialog', { name: 'Pages' });
  t.deepEqual(await violations(page), []);
  await page.setViewportSize({ width: 390, height: 844 });
  await drawer.getByRole('link', { name: 'Settings' }).click();
  await drawer.waitFor({ state: 'detached' });
  await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  t.deepEqual(complaints, []);
});
