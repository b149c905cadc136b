import { appendFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import type { Page } from 'playwright-core';
import { clientTools } from '../../engine/client-tools/tools.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { hasBrowser, startBrowser, type TestBrowser, violations } from '../support/processes/browser.ts';
import { chatReply, chatStream } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, sseAnswer, startUpstream } from '../support/upstreams/upstream.ts';

const answer = 'Each lever moves **one** point:\n\n- home\n- distant\n\n```js\nlever.pull();\n```\n<b>not bold</b>';

/** Pieces of a stream that goes on until the client leaves. */
const endless = function* (): Iterable<string | number> {
  for (let n = 0; n < 600; n += 1) yield* [...chatStream([`word ${n} `], 50)].slice(0, 2);
};

const logged = (n: number): string =>
  JSON.stringify({
    level: n % 100 === 0 ? 40 : 30,
    time: 1_790_000_000_000 + n,
    pid: 1,
    hostname: 'h',
    requestId: `req_${n}`,
    asked: 'any',
    msg: `routed as number ${n}`,
  });

const lineCount = 100_000;

/** A reply that calls the playground's sample tool. */
const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Paris"}' } };
const calling = {
  ...chatReply(''),
  choices: [
    { index: 0, message: { role: 'assistant', content: null, tool_calls: [call] }, finish_reason: 'tool_calls' },
  ],
};

const linesOf = (count: number): string => `${Array.from({ length: count }, (_, n) => logged(n)).join('\n')}\n`;

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let browser: TestBrowser;

test.before(async () => {
  if (!hasBrowser) return;
  upstream = await startUpstream(({ text }) => {
    if (text.includes('"broken"')) return jsonAnswer({ error: { message: 'no capacity left' } }, 529);
    if (text.includes('"cut"')) return sseAnswer([...chatStream(['One ', 'two'])].slice(0, 2), 'reset');
    if (text.includes('Weather?') && !text.includes('Never mind'))
      return jsonAnswer(text.includes('rain') ? chatReply('Wet.') : calling);
    if (text.includes('"endless"')) return sseAnswer(endless());
    return text.includes('"stream":true')
      ? sseAnswer(chatStream(answer.split(/(?<= )/)))
      : jsonAnswer(chatReply(answer));
  });
  gateway = await startGateway(
    {
      Providers: [
        { name: 'box', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['small', 'broken', 'cut', 'endless'] },
      ],
      Router: { default: 'box,small' },
    },
    {},
    { files: { 'app.log': linesOf(lineCount) } },
  );
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.close();
});

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

/** Nothing serious, in either theme and width, and no page wider than the window. */
const faultsOf = async (page: Page): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 844 });
    found.push(...(await violations(page)).map((one) => `${width}: ${one}`));
    if (await page.evaluate<boolean>('document.documentElement.scrollWidth > window.innerWidth')) {
      found.push(`${width}: wider than the window`);
    }
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  return found;
};

browserTest('the playground sends in each protocol, streamed or not, and shows the response', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/playground`);
  await page.getByLabel('User message').fill('Why?');
  for (const [label, title] of [
    ['Messages', 'Messages'],
    ['Chat', 'Chat Completions'],
    ['Responses', 'Responses'],
  ] as const) {
    await page.getByRole('group', { name: 'Protocol' }).getByText(label, { exact: true }).click();
    for (const streamed of [true, false]) {
      await page.getByLabel('Stream').setChecked(streamed);
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      const run = runOf(page, title);
      await run.getByText('done', { exact: true }).waitFor();
      await run.getByRole('listitem').getByText('distant').waitFor();
      t.is(await run.locator('strong').textContent(), 'one');
      t.true(await run.getByText('<b>not bold</b>').isVisible(), 'text alone');
      await run.getByRole('tab', { name: streamed ? /^Events/ : 'Body' }).click();
      if (streamed) {
        const rows = run.getByRole('region', { name: 'Events' }).getByRole('listitem');
        t.true((await rows.count()) > 4);
        t.regex((await rows.first().textContent()) ?? '', /^\d+\.\d ms/);
      } else {
        await run.getByRole('textbox', { name: 'Body' }).getByText('"usage"').waitFor();
      }
      await run.getByRole('tab', { name: 'Details' }).click();
      await run.getByText('box,small;default').waitFor();
      await run.getByRole('tab', { name: 'Response', exact: true }).click();
    }
  }
  t.is(upstream.requests.length, 6);
  await page.getByRole('link', { name: 'View request' }).click();
  await page.getByRole('region', { name: 'Request', exact: true }).getByRole('tab', { name: 'Path' }).waitFor();
  await page.goBack();
  t.is(await page.getByLabel('User message').inputValue(), 'Why?', 'the draft is still there');
  await page.getByText('Sent before (6)').click();
  t.deepEqual(complaints, []);
});

browserTest('a conversation in the playground goes on, with its parameters', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/playground`);
  await page.getByLabel('User message').fill('First?');
  await page.getByLabel('Temperature').fill('0.3');
  await page.getByLabel('Reasoning effort').fill('low');
  const send = page.getByRole('button', { name: 'Send', exact: true });
  await send.click();
  await page.getByRole('button', { name: 'Continue this conversation' }).click();
  await page.getByText('Continues a conversation of 2 messages').waitFor();
  t.true(await send.isDisabled(), 'without a next message');
  t.deepEqual(await faultsOf(page), []);
  await page.getByLabel('User message').fill('Second?');
  const before = upstream.requests.length;
  await send.click();
  await page.getByRole('button', { name: 'Continue this conversation' }).waitFor();
  const body = upstream.requests[before]?.body;
  const said: readonly unknown[] = Object(body).messages;
  t.deepEqual(
    said.map((message) => [Object(message).role, Object(message).content]),
    [
      ['user', 'First?'],
      ['assistant', answer],
      ['user', 'Second?'],
    ],
  );
  t.like(body, { temperature: 0.3, reasoning_effort: 'low' });
  await page.getByRole('button', { name: 'Start over' }).click();
  await page.getByText(/^Continues a conversation/).waitFor({ state: 'detached' });
  t.deepEqual(complaints, []);
});

browserTest('a conversation in the playground goes on after a picture and a tool call, in each protocol', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/playground`);
  const send = page.getByRole('button', { name: 'Send', exact: true });
  const result = page.getByLabel('Result of get_weather');
  const goOn = async (): Promise<readonly (readonly [role: string, content: unknown])[]> => {
    const before = upstream.requests.length;
    await send.click();
    await page.getByRole('button', { name: 'Continue this conversation' }).click();
    const said: readonly unknown[] = Object(upstream.requests[before]?.body).messages;
    return said.map((message) => [Object(message).role, Object(message).content]);
  };
  const buffer = Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  );
  await page.getByLabel('Stream').uncheck();
  await page.getByLabel('Add a sample tool').check();
  for (const title of ['Messages', 'Chat', 'Responses']) {
    await page.getByRole('group', { name: 'Protocol' }).getByText(title, { exact: true }).click();
    await page.getByLabel('User message').fill('Weather?');
    await page.getByLabel('Image').setInputFiles({ name: 'sky.png', mimeType: 'image/png', buffer });
    await goOn();
    t.true(await send.isDisabled(), 'without a result or a message');
    await result.fill('rain');
    if (title === 'Messages') t.deepEqual(await faultsOf(page), []);
    // Nothing is lost while another page is shown.
    await page.getByRole('link', { name: 'Settings' }).click();
    await page.goBack();
    const [first, called, told] = await goOn();
    t.true(JSON.stringify(first).includes(buffer.toString('base64')), `${title}: the picture is sent again`);
    t.deepEqual([called?.[0], told], ['assistant', ['tool', 'rain']], title);
    await page.getByText('Continues a conversation of 3 messages').waitFor();
    await page.getByRole('button', { name: 'Start over' }).click();
  }
  await page.getByLabel('User message').fill('Weather?');
  await goOn();
  await page.getByLabel('User message').fill('Never mind.');
  // Hosts without a row of their own get one message of the user.
  t.deepEqual(await goOn(), [['user', 'Weather?\n\nNever mind.']]);
  t.deepEqual(complaints, []);
});

browserTest('the same prompt goes out in three protocols side by side', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/playground`);
  await page.getByText('All three').click();
  await page.getByLabel('Add a sample tool').check();
  await page.getByLabel('User message').press('Control+Enter');
  for (const title of ['Messages', 'Chat Completions', 'Responses']) {
    await runOf(page, title).getByText('done', { exact: true }).waitFor();
  }
  t.deepEqual(await faultsOf(page), []);
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole('tab', { name: 'Chat Completions' }).click();
  await runOf(page, 'Chat Completions').getByText('distant').waitFor();
  t.is(await runOf(page, 'Messages').count(), 0);
  await page.evaluate('window.scrollTo(0, 0)');
  await page.getByRole('button', { name: 'Send all three' }).click();
  await runOf(page, 'Chat Completions').getByText('done', { exact: true }).waitFor();
  const box = await runOf(page, 'Chat Completions').boundingBox();
  t.true(box !== null && box.y < 600, 'the answer comes into sight');
  t.deepEqual(complaints, []);
});

browserTest('a stream is stopped; an upstream’s error and an incomplete stream are reported', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/playground`);
  await page.getByRole('group', { name: 'Protocol' }).getByText('Messages', { exact: true }).click();
  await page.getByLabel('Stream').check();
  await page.getByLabel('Model', { exact: true }).fill('box,endless');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const run = runOf(page, 'Messages');
  await run.getByText('word 3').waitFor();
  await page.getByRole('link', { name: 'Routing', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Routing' }).waitFor();
  await page.goBack();
  await run.getByText('word 3').waitFor();
  await run.getByText('receiving', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Stop' }).click();
  await run.getByText('stopped', { exact: true }).waitFor();
  t.regex((await run.textContent()) ?? '', /word 3/, 'what was said stays');
  await upstream.requests.at(-1)?.closed;

  await page.getByLabel('Model', { exact: true }).fill('box,broken');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await run.getByRole('alert').getByText('no capacity left').waitFor();
  await run.getByText('The gateway returned 529').waitFor();

  await page.getByLabel('Model', { exact: true }).fill('box,cut');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await run.getByText('Incomplete response').waitFor();
  t.deepEqual(await faultsOf(page), []);
  t.deepEqual(
    complaints.filter((line) => !line.includes('529')),
    [],
  );
});

browserTest('the body is edited, sent as is, and reset', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/playground`);
  await page.getByRole('group', { name: 'Protocol' }).getByText('Chat', { exact: true }).click();
  await page.getByRole('tab', { name: 'JSON body' }).click();
  const editor = page.getByRole('textbox', { name: 'Body of the chat request' });
  await editor.getByText('"messages"').waitFor();
  await editor.press('Control+a');
  await editor.pressSequentially('{"model":"box,small","messages":[');
  await page.getByText('The body is not valid JSON yet.').waitFor();
  await editor.press('Control+a');
  await page.keyboard.insertText('{"model":"box,small","top_p":0.5,"messages":[{"role":"user","content":"by hand"}]}');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await runOf(page, 'Chat Completions').getByText('done', { exact: true }).waitFor();
  t.like(upstream.requests.at(-1)?.body, { top_p: 0.5, messages: [{ role: 'user', content: 'by hand' }] });
  await page.reload();
  await page.getByText('Edited JSON body').waitFor();
  t.deepEqual(await faultsOf(page), []);
  await page.getByRole('button', { name: 'Use the form instead' }).click();
  t.is(await page.getByRole('tab', { name: 'JSON body (edited)' }).count(), 0);
  t.deepEqual(complaints, []);
});

/** The panel of one protocol's answer. */
const runOf = (page: Page, title: string) =>
  page.locator('.run').filter({ has: page.getByRole('heading', { level: 2, name: title, exact: true }) });

/**
 * The longest task of the page's main thread while `act` runs, and all its tasks together, in milliseconds of processor time: what
 * other programs take of it meanwhile isn't the page's doing.
 */
const tasksDuring = async (page: Page, act: () => Promise<void>): Promise<{ longest: number; total: number }> => {
  const session = await page.context().newCDPSession(page);
  const tasks: { readonly tid: number; readonly ms: number }[] = [];
  const mainThreads = new Set<number>();
  session.on('Tracing.dataCollected', ({ value }) => {
    // The trace's own format, which the protocol's types don't tell: thread names come as events, too.
    const events: readonly TraceEvent[] = JSON.parse(JSON.stringify(value));
    for (const event of events) {
      if (event.args?.name === 'CrRendererMain') mainThreads.add(event.tid);
      if (event.name === 'RunTask' && event.tdur) tasks.push({ tid: event.tid, ms: event.tdur / 1000 });
    }
  });
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['disabled-by-default-devtools.timeline', '__metadata'] },
  });
  await act();
  await session.send('Tracing.end');
  await complete;
  await session.detach();
  const times = tasks.filter(({ tid }) => mainThreads.has(tid)).map(({ ms }) => ms);
  return { longest: Math.max(...times), total: times.reduce((sum, ms) => sum + ms, 0) };
};

interface TraceEvent {
  readonly name: string;
  readonly tid: number;
  /** Processor time in microseconds. */
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

browserTest('100,000 log lines are read, filtered and scrolled without blocking the page', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/clients`);
  await page.getByRole('heading', { level: 1, name: 'Clients' }).waitFor();
  const grid = page.getByRole('grid', { name: 'Records of app.log' });
  const find = page.getByRole('searchbox', { name: 'Find' });
  const acts: readonly (readonly [what: string, act: () => Promise<void>])[] = [
    [
      'read',
      async () => {
        await page.evaluate(`window.location.hash = '#/logs'`);
        await page.getByText('live', { exact: true }).waitFor();
        const last = Number(await grid.getByRole('row').last().getAttribute('aria-rowindex'));
        t.true(last >= lineCount, 'the newest is in sight');
        t.true((await grid.getByRole('row').count()) < 100, 'only what is in sight is drawn');
      },
    ],
    [
      'scroll',
      () =>
        page.evaluate(`(async () => {
          const box = document.querySelector('.log-scroll');
          for (let step = 0; step < 60; step += 1) {
            box.scrollTop = (box.scrollHeight / 60) * step;
            await new Promise(requestAnimationFrame);
          }
        })()`),
    ],
    [
      'find',
      async () => {
        await find.fill('number 77777');
        await page.getByText(/^1 of 100,0/).waitFor();
        await find.fill('');
      },
    ],
    [
      'filter',
      async () => {
        await page.getByLabel('Level').selectOption('warn and above');
        await page.getByText(/^1,0\d\d of 100,0/).waitFor();
      },
    ],
  ];
  // A page that reads, draws or filters all lines at once has one task as long as the whole reading. How long that is in
  // milliseconds is the machine's affair.
  let readingMs = 0;
  for (const [what, act] of acts) {
    const { longest, total } = await tasksDuring(page, act);
    readingMs ||= total;
    t.log(`${what}: longest task ${longest.toFixed(1)} ms of ${total.toFixed(0)} ms`);
    t.true(longest < readingMs / 3, what);
  }
  t.deepEqual(complaints, []);
});

browserTest('a log is followed by keyboard and pointer: newest, details, one request, clear', async (t) => {
  const log = join(gateway.home, 'app.log');
  await writeFile(log, linesOf(1_000));
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/logs`);
  const grid = page.getByRole('grid', { name: 'Records of app.log' });
  await page.getByText('live', { exact: true }).waitFor();
  await appendFile(log, `${logged(200_001)}\n`);
  await grid.getByText('routed as number 200001').waitFor();

  await grid.focus();
  await page.keyboard.press('Home');
  await grid.getByText('routed as number 0', { exact: false }).first().waitFor();
  await appendFile(log, `${logged(200_002)}\n`);
  await page.getByRole('button', { name: 'Jump to newest (1 new record)' }).click();
  await grid.getByText('routed as number 200002').waitFor();
  await grid.focus();
  await page.keyboard.press('End');
  await page.keyboard.press('PageUp');
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  const details = page.getByRole('region', { name: 'Record details' });
  await details.getByText('req_200002').waitFor();
  t.deepEqual(await faultsOf(page), []);
  await details.getByRole('button', { name: 'Only this request' }).click();
  await page.getByText(/^1 of 1,0/).waitFor();
  t.is(await details.getByRole('link', { name: 'View request' }).getAttribute('href'), '#/requests/req_200002');
  await page.getByRole('button', { name: 'Show all requests' }).first().click();
  await grid.focus();
  await page.keyboard.press('Escape');
  await details.waitFor({ state: 'detached' });
  await page.keyboard.press('/');
  t.is(await page.evaluate('document.activeElement.placeholder'), 'Find ( / )');

  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download' }).click(),
  ]);
  t.is(download.suggestedFilename(), 'app.log');
  t.true((await stat(await download.path())).size > 100_000);

  await page.getByRole('button', { name: 'Clear' }).click();
  const dialog = page.getByRole('dialog', { name: 'Clear app.log?' });
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  t.true((await stat(log)).size > 100_000);
  await page.getByRole('button', { name: 'Clear' }).click();
  await dialog.getByRole('button', { name: 'Clear' }).click();
  await page.getByText('No log records yet').waitFor();
  t.is((await stat(log)).size, 0);
  await appendFile(log, `${logged(5)}\n`);
  await grid.getByText('routed as number 5').waitFor();

  await (await fetch(`${gateway.baseUrl}/v1/models`)).text();
  const files = page.getByLabel('Log file', { exact: true });
  await files.selectOption((await files.locator('option', { hasText: /^junctor-/ }).getAttribute('value')) ?? '');
  const server = page.getByRole('grid', { name: /^Records of junctor-/ });
  await server.getByText('GET /v1/models').first().waitFor();
  t.is(await server.getByText('/api/logs').count(), 0);
  await page.getByLabel('Hide this page’s calls').uncheck();
  await server.getByText('GET /api/logs').first().waitFor();
  t.true(
    await page.evaluate<boolean>(
      `(({ scrollTop, scrollHeight, clientHeight }) => scrollHeight - scrollTop - clientHeight < 30)(document.querySelector('.log-scroll'))`,
    ),
    'the newest is in sight',
  );
  t.deepEqual(complaints, []);
});

browserTest('each tool’s settings have this gateway’s address, and its connection is checked', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui#/clients`);
  const tool = page.getByLabel('Tool', { exact: true });
  await tool.waitFor();
  t.is(await tool.locator('option').count(), clientTools.length);
  await page
    .getByRole('region', { name: 'Shell', exact: true })
    .getByText(`ANTHROPIC_BASE_URL='${gateway.baseUrl}'\n`)
    .waitFor();
  const shell = page.getByRole('region', { name: 'Shell', exact: true });
  t.notRegex((await shell.textContent()) ?? '', /ANTHROPIC_MODEL/, 'the rules choose');
  await page.getByLabel('Model', { exact: true }).fill('box,small');
  await shell.getByText("ANTHROPIC_MODEL='box,small'").waitFor();
  await page.getByLabel('Model', { exact: true }).fill('');
  await page.getByRole('combobox', { name: 'Shell', exact: true }).selectOption('PowerShell');
  await page.getByText(`$env:ANTHROPIC_BASE_URL = '${gateway.baseUrl}'`).waitFor();
  await page.getByRole('combobox', { name: 'Shell', exact: true }).selectOption('bash, zsh');
  const calls = upstream.requests.length;
  await page.getByRole('button', { name: 'Run check' }).click();
  await page.getByText(/^box, small replied: Each lever/).waitFor();
  await page.getByText('POST /v1/messages?beta=true').waitFor();
  t.is(upstream.requests.length, calls + 1);
  t.deepEqual(await faultsOf(page), []);

  await tool.selectOption('Codex');
  await page.getByText(`base_url = "${gateway.baseUrl}/v1"`).waitFor();
  t.is(await page.getByText('model = "').count(), 0);
  await page.getByLabel('Model', { exact: true }).fill('box,broken');
  await page.getByText('model = "box,broken"').waitFor();
  await page.getByRole('button', { name: 'Run check' }).click();
  await page.getByText('no capacity left').waitFor();
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy' }).first().click();
  await page.getByText('(copied)').waitFor({ state: 'attached' });
  t.regex(await page.evaluate('navigator.clipboard.readText()'), /model_provider = "junctor"/);
  await page.reload();
  await page.getByText('~/.codex/config.toml').waitFor();
  t.deepEqual(
    complaints.filter((line) => !/\b(?:529|503)\b/.test(line)),
    [],
  );
});

browserTest('with a key: the log is read once the key is given, and tools read it from the environment', async (t) => {
  const key = 'a-key-of-some-length';
  const guarded = await startGateway(
    { APIKEY: key, Providers: [{ name: 'box', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['small'] }] },
    {},
    { files: { 'app.log': `${logged(1)}\n` } },
  );
  t.teardown(guarded.stop);
  const { page } = await browser.open(`${guarded.baseUrl}/ui#/logs`);
  await page.getByRole('dialog').getByLabel('Key', { exact: true }).fill(key);
  await page.keyboard.press('Enter');
  await page.getByRole('grid').getByText('routed as number 1').waitFor();
  await page.evaluate(`window.location.hash = '#/clients'`);
  await page.getByText('export ANTHROPIC_AUTH_TOKEN="$JUNCTOR_API_KEY"').waitFor();
  await page.getByRole('button', { name: 'Run check' }).click();
  await page.getByText(/^box, small replied:/).waitFor();
  t.false((await page.content()).includes(key));
});
