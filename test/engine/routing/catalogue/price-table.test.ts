import test from 'ava';
import { openPriceTable } from '../../../../engine/routing/catalogue/price-table.ts';

const now = Date.parse('2026-11-23T02:00:00Z');
const openAi = new URL('https://api.openai.com/v1');

test('a public address loads the table, a private one never does', async (t) => {
  let loads = 0;
  const table = openPriceTable(() => {
    loads += 1;
  });
  for (const address of ['http://127.0.0.1:1/v1', 'http://localhost:1', 'http://[::1]:1', 'http://box.local/v1'])
    table.loadFor(new URL(address));
  t.is(table.find(openAi, 'gpt-5.4', now), undefined);
  table.loadFor(openAi);
  table.loadFor(openAi);
  await table.load();
  t.is(loads, 1);
  t.is(table.find(openAi, 'gpt-5.4', now)?.input, 2.5);
});

test("the table's traps: names that begin alike, tiers one token early, hourly prices", async (t) => {
  const table = openPriceTable(() => undefined);
  await table.load();
  const anthropic = new URL('https://api.anthropic.com');
  t.is(table.find(anthropic, 'claude-sonnet-5-5', now), undefined);
  t.is(table.find(anthropic, 'claude-sonnet-5', now)?.cacheWrite1h, 4);
  t.is(table.find(openAi, 'gpt-5.4', now)?.tiers?.[0]?.aboveInputTokens, 272_000);
  t.deepEqual(table.find(new URL('https://openrouter.ai/api/v1'), 'z-ai/glm-4.6', now), {
    input: 0.43,
    output: 1.74,
    cacheRead: 0.08,
  });
  t.is(table.find(new URL('https://api.deepseek.com'), 'deepseek-v4-pro', now), undefined);
  t.is(table.find(openAi, 'constructor', now), undefined);
});
