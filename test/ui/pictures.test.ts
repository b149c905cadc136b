import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'ava';
import type { Page } from 'playwright-core';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { hasBrowser, startBrowser, type TestBrowser, takePicture } from '../support/processes/browser.ts';
import { type ScriptedUpstream, sseAnswer, startUpstream } from '../support/upstreams/upstream.ts';

// The pictures of the docs, of a gateway as users have it: `SCREENSHOTS=docs/screenshots npx ava test/ui/pictures.test.ts`.

const root = resolve(import.meta.dirname, '../..');
/** What the pictures show is under test elsewhere. */
const canTake = hasBrowser && process.env.SCREENSHOTS !== undefined;

/** With the vendors' addresses where no request is sent, since the pages show them. */
const configOf = (url?: string) => ({
  Providers: [
    {
      name: 'anthropic',
      baseUrl: url ?? 'https://api.anthropic.com',
      apiKey: '$ANTHROPIC_API_KEY',
      models: ['claude-opus-5-5', 'claude-haiku-5-5'],
    },
    { name: 'openai', baseUrl: url ?? 'https://api.openai.com/v1', apiKey: '$OPENAI_API_KEY', models: ['gpt-6.2-sol'] },
    { name: 'local', baseUrl: url ?? 'http://127.0.0.1:11434/v1', apiKey: '', models: ['qwen3.8-27b'] },
  ],
  Router: {
    default: 'anthropic,claude-opus-5-5',
    routes: { background: 'local,qwen3.8-27b', think: 'openai,gpt-6.2-sol' },
    fallback: { default: ['openai,gpt-6.2-sol', 'local,qwen3.8-27b'] },
  },
  transformers: [
    { name: 'maxtoken', provider: 'local', options: { max_tokens: 8192 } },
    { name: 'reasoning', provider: 'local', options: { tag: 'think' } },
    { name: 'enhancetool', provider: 'local' },
  ],
});
const env = { ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'b' };

const record = (more: object): string =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', ...more })}\n\n`;

const words = 'A junctor joins circuits:\n\n- each rule picks **one** way\n- each stage changes what passes'.split(
  /(?<= )/,
);

/** A stream of these words, in the time that a model takes for them. */
const stream = function* (): Iterable<string | number> {
  for (const content of words) {
    yield 60;
    yield record({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });
  }
  yield record({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] });
  yield record({ choices: [], usage: { prompt_tokens: 1840, completion_tokens: words.length, total_tokens: 1858 } });
  yield 'data: [DONE]\n\n';
};

let upstream: ScriptedUpstream;
let busy: TestGateway;
let still: TestGateway;
let browser: TestBrowser;

test.before(async () => {
  if (!canTake) return;
  upstream = await startUpstream(() => sseAnswer(stream()));
  busy = await startGateway(configOf(upstream.url), env);
  still = await startGateway(configOf(), env);
  browser = await startBrowser();
});

test.after.always(async () => {
  await browser?.close();
  await still?.stop();
  await busy?.stop();
  await upstream?.close();
});

const ask = async (path: string, body: object, headers: Record<string, string> = {}): Promise<void> => {
  const answer = await fetch(`${busy.baseUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({
      stream: true,
      max_tokens: 9_000,
      messages: [{ role: 'user', content: 'Why rules?' }],
      ...body,
    }),
  });
  await answer.text();
};

/** What agents ask for: long answers, small tasks, thinking, in three protocols. */
const traffic = (): Promise<unknown> =>
  Promise.all([
    ask('/v1/messages', { model: 'claude-opus-5-5' }),
    ask('/v1/messages', { model: 'claude-opus-5-5', thinking: { type: 'enabled', budget_tokens: 4_096 } }),
    ask('/v1/messages', { model: 'claude-haiku-5-5', top_k: 40 }),
    ask('/v1/chat/completions', { model: 'any' }),
    ask('/v1/responses', { model: 'any', max_tokens: undefined, messages: undefined, input: 'Why rules?' }),
  ]);

const switchCapture = async (on: boolean): Promise<void> => {
  const headers = { 'content-type': 'application/json' };
  await fetch(`${busy.baseUrl}/api/capture`, { method: 'POST', headers, body: JSON.stringify({ on }) });
};

const complaints: string[][] = [];

const open = async (gateway: TestGateway, hash: string): Promise<Page> => {
  const tab = await browser.open(`${gateway.baseUrl}/ui#${hash}`);
  complaints.push(tab.complaints);
  return tab.page;
};

const pictures: readonly (readonly [name: string, theme: 'light' | 'dark', show: () => Promise<Page>])[] = [
  [
    'requests',
    'light',
    async () => {
      const page = await open(busy, '');
      await switchCapture(true);
      for (let round = 0; round < 8; round += 1) await traffic();
      await switchCapture(false);
      await page.getByRole('region', { name: 'Request list' }).getByText('gpt-6.2-sol').first().waitFor();
      return page;
    },
  ],
  [
    'request',
    'dark',
    async () => {
      // The first ones are slow.
      for (let last = 9; last >= 0; last -= 1) {
        const headers = { 'x-request-id': `req_8c41f6${last}`, 'x-junctor-capture': '1' };
        await ask('/v1/messages', { model: 'claude-haiku-5-5', top_k: 40 }, headers);
      }
      const page = await open(busy, '/requests/req_8c41f60?tab=path');
      await page.getByRole('button', { name: /encode/ }).click();
      await page.getByText('was dropped').first().waitFor();
      return page;
    },
  ],
  [
    'providers',
    'light',
    async () => {
      const page = await open(still, '/providers');
      await page.getByText('openai', { exact: true }).first().click();
      await page.getByRole('button', { name: 'Test connection' }).first().waitFor();
      return page;
    },
  ],
  [
    'routing',
    'dark',
    async () => {
      const page = await open(still, '/routing');
      await page.getByRole('button', { name: /^Default/ }).click();
      await page.getByLabel('Sample').selectOption({ label: 'Background task' });
      await page.locator('.routing-lit').first().waitFor();
      return page;
    },
  ],
  [
    'transformers',
    'light',
    async () => {
      const page = await open(still, '/routing?at=stages');
      await page.getByRole('list', { name: 'Transformers' }).getByText('maxtoken').first().click();
      await page.getByText('max_tokens').first().waitFor();
      return page;
    },
  ],
  [
    'settings',
    'dark',
    async () => {
      const page = await open(still, '/settings');
      await page.getByRole('heading', { name: 'Listening' }).waitFor();
      return page;
    },
  ],
  [
    'connect',
    'light',
    async () => {
      const page = await open(busy, '/connect');
      await page.getByRole('button', { name: 'Run check' }).click();
      await page.getByText(/replied: A junctor/).waitFor();
      return page;
    },
  ],
  [
    'playground',
    'dark',
    async () => {
      const page = await open(busy, '/playground');
      await page.getByText('All three').click();
      await page.getByLabel('User message').fill('What does a junctor do?');
      await page.getByRole('button', { name: 'Send all three' }).click();
      await page.getByText('done', { exact: true }).nth(2).waitFor();
      return page;
    },
  ],
];

for (const [name, theme, show] of canTake ? pictures : []) {
  test.serial(`${name} looks as the docs show it`, async (t) => {
    const page = await show();
    await takePicture(page, name, theme);
    t.deepEqual(complaints.at(-1), []);
  });
}

test('docs/screenshots has these pictures', (t) => {
  t.deepEqual(readdirSync(join(root, 'docs/screenshots')).sort(), pictures.map(([name]) => `${name}.png`).sort());
});
