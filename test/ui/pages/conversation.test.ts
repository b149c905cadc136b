import test from 'ava';
import type { Page } from 'playwright-core';
import { type Protocol, protocols } from '../../../ui/src/api/protocols.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { hasBrowser, startBrowser, type TestBrowser, violations } from '../../support/processes/browser.ts';
import { jsonAnswer, type ScriptedUpstream, sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const call = {
  index: 0,
  id: 'call_2',
  type: 'function',
  function: { name: 'read_signal', arguments: '{"signal":"B"}' },
};

/** The upstream's response: reasoning, Markdown and a tool call. */
const message = {
  role: 'assistant',
  reasoning_content: 'The other signal matters too.',
  content:
    '**Signal A** is red.<script>window.hacked = 1</script>\n\n|Signal|Aspect|\n|-|-|\n|A|red|\n\n[Rules](https://example.org/rules) [Trap](javascript:alert(1))',
  tool_calls: [call],
};

const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'small', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

const streamed = [chunk(message), chunk({}, 'tool_calls'), 'data: [DONE]\n\n'];

const whole = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'small',
  choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
  usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;
let browser: TestBrowser;

test.before(async () => {
  if (!hasBrowser) return;
  upstream = await startUpstream(({ text }) => {
    if (text.includes('"broken"')) return jsonAnswer({ error: { message: 'no capacity left' } }, 400);
    return text.includes('"stream":true') ? sseAnswer(streamed) : jsonAnswer(whole);
  });
  gateway = await startGateway({
    Providers: [{ name: 'box', baseUrl: `${upstream.url}/v1`, apiKey: 'k', models: ['small', 'broken', 'large'] }],
    Router: { default: 'box,small' },
  });
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await gateway?.stop();
  await upstream?.close();
});

const browserTest = hasBrowser ? test.serial : test.serial.skip;
if (!hasBrowser) test('in a browser: skipped, for want of Chromium (CHROMIUM names another one)', (t) => t.pass());

const schema = { type: 'object', properties: { signal: { type: 'string' } } };
const system = `You work a signal box. ${'Be careful. '.repeat(2_000)}The last rule.`;
const parameters = { signal: 'A' };

/** The same conversation in each protocol: system, a picture, thinking, a tool call and its result. */
const bodies: Readonly<Record<Protocol, (stream: boolean) => object>> = {
  messages: (stream) => ({
    model: 'any',
    max_tokens: 4_000,
    stream,
    system: [{ type: 'text', text: system }],
    tools: [{ name: 'read_signal', description: 'Reads a signal.', input_schema: schema }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: pixel } },
          { type: 'text', text: 'Which aspect does it show?' },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'read_signal', input: parameters }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'red, since noon' }] },
    ],
  }),
  chat: (stream) => ({
    model: 'any',
    stream,
    tools: [
      { type: 'function', function: { name: 'read_signal', description: 'Reads a signal.', parameters: schema } },
    ],
    messages: [
      { role: 'system', content: system },
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel}` } },
          { type: 'text', text: 'Which aspect does it show?' },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'read_signal', arguments: JSON.stringify(parameters) } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'red, since noon' },
    ],
  }),
  responses: (stream) => ({
    model: 'any',
    stream,
    store: false,
    instructions: system,
    tools: [{ type: 'function', name: 'read_signal', description: 'Reads a signal.', parameters: schema }],
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_image', image_url: `data:image/png;base64,${pixel}` },
          { type: 'input_text', text: 'Which aspect does it show?' },
        ],
      },
      { type: 'function_call', call_id: 'call_1', name: 'read_signal', arguments: JSON.stringify(parameters) },
      { type: 'function_call_output', call_id: 'call_1', output: 'red, since noon' },
    ],
  }),
};

const paths: Readonly<Record<Protocol, string>> = {
  messages: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
};

const send = async (protocol: Protocol, body: object, recorded = true): Promise<string> => {
  const answer = await fetch(gateway.baseUrl + paths[protocol], {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(recorded && { 'x-junctor-capture': '1' }) },
    body: JSON.stringify(body),
  });
  await answer.text();
  return answer.headers.get('x-request-id') ?? '';
};

const openRequest = async (page: Page, id: string): Promise<void> => {
  await page.evaluate(`window.location.hash = '#/requests/${id}'`);
  await page.getByRole('tab', { name: 'Path' }).or(page.getByText('was not captured')).waitFor();
  await page.waitForURL((url) => url.hash.includes(id));
};

for (const protocol of protocols) {
  browserTest(`a recorded conversation in ${protocol} can be read, streamed or not`, async (t) => {
    const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
    for (const stream of [true, false]) {
      await openRequest(page, await send(protocol, bodies[protocol](stream)));
      t.is(await page.getByRole('tab', { selected: true }).textContent(), 'Conversation');

      const turns = page.getByRole('list', { name: 'Turns' });
      t.deepEqual(await turns.getByRole('heading', { level: 3 }).allTextContents(), ['System', 'User', 'Assistant']);
      await turns.getByText('of instructions').click();
      await turns.getByText('You work a signal box.').waitFor();
      t.is(await turns.getByText('The last rule.').count(), 0, 'a long text is cut');
      await turns.getByRole('button', { name: 'Show more of this text' }).click();
      await turns.getByText('The last rule.').waitFor();
      await turns.getByText('Which aspect does it show?').waitFor();
      const picture = turns.getByRole('img');
      await picture.waitFor();
      t.is(await page.evaluate('document.querySelector(".turn-picture").naturalWidth'), 1);

      const first = turns.getByRole('region', { name: 'Call to read_signal' });
      t.deepEqual(JSON.parse((await first.locator('pre').textContent()) ?? ''), parameters);
      await first.getByText('red, since noon').click();
      await first.getByRole('region', { name: 'Result of read_signal' }).getByText('red, since noon').waitFor();

      const response = page.getByRole('region', { name: 'Response' });
      t.is(await response.locator('strong').textContent(), 'Signal A');
      t.true(await response.getByText('<script>window.hacked = 1</script>').isVisible(), 'text alone');
      t.is(await page.evaluate('window.hacked'), undefined);
      await response.getByRole('columnheader', { name: 'Aspect' }).waitFor();
      await response.getByRole('cell', { name: 'red' }).waitFor();
      const rules = response.getByRole('link', { name: 'Rules' });
      t.is(await rules.getAttribute('href'), 'https://example.org/rules');
      t.is(await rules.getAttribute('rel'), 'noreferrer noopener');
      t.is(await response.getByRole('link').count(), 1);
      t.true(await response.getByText('[Trap](javascript:alert(1))').isVisible());
      await response.getByText('Thinking').click();
      await response.getByText('The other signal matters too.').waitFor();
      const next = response.getByRole('region', { name: 'Call to read_signal' });
      t.deepEqual(JSON.parse((await next.locator('pre').textContent()) ?? ''), { signal: 'B' });

      await page.getByText('1 tool', { exact: true }).click();
      await page.getByRole('region', { name: 'Tools' }).getByText('Reads a signal.').waitFor();
      await page.getByText('Parameters', { exact: true }).click();
      await page.getByRole('region', { name: 'Parameters' }).getByText('"model": "any"').waitFor();
    }
    t.deepEqual(await violations(page), []);
    await page.setViewportSize({ width: 390, height: 844 });
    t.is(await page.evaluate('document.documentElement.scrollWidth > window.innerWidth'), false);
    t.deepEqual(complaints, []);
  });
}

browserTest('what a recording lacks is said: a failed, a cut, an unrecorded and a very long request', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
  const question = (text: string, model = 'any') => ({ model, messages: [{ role: 'user', content: text }] });
  await openRequest(page, await send('chat', question('Will it fail?', 'box,broken')));
  const pane = page.getByRole('region', { name: 'Request', exact: true });
  await pane.getByRole('alert').getByText('no capacity left').waitFor();

  const half = Array.from({ length: 8 }, (_, n) => ({ role: 'user', content: `${n} ${'x'.repeat(200_000)}` }));
  await openRequest(page, await send('chat', { model: 'any', messages: half }));
  await page.getByText('Only the beginning of the request was recorded: its later turns are missing.').waitFor();
  await page.getByText('of 200,002 characters').first().waitFor();

  for (let again = 0; again < 2; again += 1) {
    await openRequest(page, await send('chat', question('It failed unasked', 'box,broken'), false));
    await pane.getByRole('alert').getByText('no capacity left').waitFor();
    await pane.getByRole('listitem').getByText('It failed unasked').waitFor();
    await page.getByRole('tab', { name: 'Path' }).click();
    await pane.getByText('Captured because the request failed').waitFor();
    await page.getByRole('tab', { name: 'Stream' }).click();
    await page.getByRole('textbox', { name: 'Body from the provider' }).getByText('no capacity left').waitFor();
  }

  const reads: string[] = [];
  page.on('request', (request) => reads.push(request.url()));
  const plain = await send('chat', question('Not for keeping'), false);
  await openRequest(page, plain);
  await page.getByText('This request was not captured').waitFor();
  await page.getByRole('button', { name: 'Capture', exact: true }).first().waitFor();
  t.is(reads.filter((url) => url.includes(`/api/requests/${plain}`)).length, 1);

  const long = Array.from({ length: 75 }, (_, n) => ({ role: n % 2 ? 'assistant' : 'user', content: `turn ${n}.` }));
  await openRequest(page, await send('chat', { model: 'any', messages: long }));
  const turns = page.getByRole('list', { name: 'Turns' }).locator('> li');
  await turns.getByText('turn 74.').waitFor();
  t.is(await turns.count(), 30);
  await page.getByRole('button', { name: 'Show earlier turns' }).click();
  await page.getByText('15 of 75 turns above').waitFor();
  await page.getByRole('button', { name: 'Show earlier turns' }).click();
  await turns.getByText('turn 0.').waitFor();
  t.deepEqual(complaints, []);
});

browserTest('a recorded request is edited and sent again, to another model and in other protocols', async (t) => {
  const { page, complaints } = await browser.open(`${gateway.baseUrl}/ui`);
  await openRequest(page, await send('messages', bodies.messages(true)));
  await page.getByRole('link', { name: 'Open in playground' }).click();
  await page.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
  const recorded = page.getByRole('region', { name: 'Captured: box,small' });
  await recorded.getByText('Signal A').waitFor();
  t.is(await page.evaluate('window.location.hash'), '#/playground', 'a reload keeps edits');

  const before = upstream.requests.length;
  const sentBodies = () => upstream.requests.slice(before).map(({ text }) => JSON.parse(text));
  await page.getByLabel('Model', { exact: true }).fill('box,large');
  await page.getByLabel('Compare with').fill('box,small');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  for (const title of ['Messages: box,large', 'Messages: box,small']) {
    await page.getByRole('region', { name: title }).getByText('done', { exact: true }).waitFor();
    await page.getByRole('region', { name: title }).getByText('Signal A').waitFor();
  }
  t.true(await recorded.isVisible(), 'beside the new ones');
  t.deepEqual(
    sentBodies()
      .map(({ model }) => model)
      .toSorted(),
    ['large', 'small'],
  );
  for (const { messages } of sentBodies()) t.regex(JSON.stringify(messages), /red, since noon/);
  t.deepEqual(await violations(page), []);

  await page.getByRole('group', { name: 'Protocol' }).getByText('All three').click();
  await page.getByText('Edited: Messages, Chat Completions, Responses').waitFor();
  await page.getByRole('button', { name: 'Send all three' }).click();
  for (const title of ['Messages', 'Chat Completions', 'Responses']) {
    await page.getByRole('region', { name: title, exact: true }).getByText('done', { exact: true }).waitFor();
  }
  const conversations = sentBodies()
    .slice(2)
    .map(({ messages }) => JSON.stringify(messages));
  t.is(conversations.length, 3);
  for (const text of conversations) {
    for (const part of ['You work a signal box.', pixel, 'Which aspect', 'read_signal', 'red, since noon']) {
      t.true(text.includes(part), part);
    }
  }
  await page.getByRole('button', { name: 'Use the form instead' }).click();
  await page.getByLabel('User message').waitFor();
  await recorded.getByRole('button', { name: 'Remove' }).click();
  await recorded.waitFor({ state: 'detached' });

  await page.evaluate(`window.location.hash = '#/playground?from=${await send('chat', bodies.chat(false), false)}'`);
  await page.getByText('The capture does not hold the whole request, so it cannot be sent again.').waitFor();
  t.deepEqual(complaints, []);
});
