import test from 'ava';
import { until } from '../../../support/until.ts';
import { chatReply, chatStream } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, sseAnswer } from '../../../support/upstreams/upstream.ts';
import { adminKey, client, clientRig, keyOf, sdkAsks } from './rig.ts';

const startMs = Date.UTC(2026, 0, 1, 12);

/** A clock that stands still until a test moves it. */
const still = () => {
  const clock = { nowMs: startMs };
  return { clock, healthNowMs: () => clock.nowMs };
};

/** An answer of a provider with this usage. */
const used = (prompt_tokens: number, completion_tokens: number) => () =>
  jsonAnswer({ ...chatReply('Hello'), usage: { prompt_tokens, completion_tokens } });

/** The names of a protocol's headers for a limit. */
const headerNames = {
  messages: (of: string, what: string) => `anthropic-ratelimit-${of}-${what}`,
  chat: (of: string, what: string) => `x-ratelimit-${what}-${of}`,
  responses: (of: string, what: string) => `x-ratelimit-${what}-${of}`,
} as const;

for (const protocol of ['messages', 'chat', 'responses'] as const) {
  const ask = sdkAsks[protocol];
  const name = headerNames[protocol];

  test(`${protocol}: requests per minute, in the SDK's own terms`, async (t) => {
    const { clock, healthNowMs } = still();
    const { gateway, upstream } = await clientRig(t, [client('a', { limits: { requestsPerMinute: 2 } }), client('b')], {
      healthNowMs,
    });
    const { baseUrl } = gateway;
    const first = await ask(baseUrl, keyOf('a'), 'any');
    t.is(first.status, 200);
    t.is(first.headers.get(name('requests', 'limit')), '2');
    t.is(first.headers.get(name('requests', 'remaining')), '1');
    t.is(first.headers.get(name('requests', 'reset')), protocol === 'messages' ? '2026-01-01T12:01:02Z' : '1m2s');
    t.is(first.headers.get(name('tokens', 'limit')), null, 'no limit, no header');
    clock.nowMs += 10_000;
    t.is((await ask(baseUrl, keyOf('a'), 'any')).status, 200);
    const refused = await ask(baseUrl, keyOf('a'), 'any');
    t.is(refused.status, 429);
    t.is(refused.type, 'RateLimitError');
    t.is(refused.code, 'requests_per_minute');
    t.regex(refused.error ?? '', /The client a has reached its limit of 2 requests per minute\. Try again in 52 s\./);
    t.is(refused.headers.get('retry-after'), '52');
    t.is(refused.headers.get(name('requests', 'remaining')), '0');
    t.is(upstream.requests.length, 2);
    t.is((await ask(baseUrl, keyOf('b'), 'any')).status, 200);
    t.is((await ask(baseUrl, adminKey, 'any')).headers.get(name('requests', 'limit')), null);
    clock.nowMs += 52_000;
    t.is((await ask(baseUrl, keyOf('a'), 'any')).status, 200);
  });

  test(`${protocol}: tokens per minute are settled with what the provider counted`, async (t) => {
    const { healthNowMs } = still();
    const { gateway } = await clientRig(t, [client('a', { limits: { tokensPerMinute: 1000 } })], {
      healthNowMs,
      script: used(500, 100),
    });
    const first = await ask(gateway.baseUrl, keyOf('a'), 'any');
    t.is(first.status, 200);
    t.is(first.headers.get(name('tokens', 'limit')), '1000');
    const second = await ask(gateway.baseUrl, keyOf('a'), 'any');
    t.is(second.status, 200, 'what is reserved is less than what is left');
    const refused = await ask(gateway.baseUrl, keyOf('a'), 'any');
    t.is(refused.status, 429);
    t.is(refused.code, 'tokens_per_minute');
    t.is(refused.headers.get('retry-after'), '62');
    t.is(refused.headers.get(name('tokens', 'remaining')), '0');
  });
}

test('a prompt above the limit of tokens is refused for good', async (t) => {
  const { gateway } = await clientRig(t, [client('a', { limits: { tokensPerMinute: 10 } })]);
  const messages = [{ role: 'user', content: 'many words '.repeat(100) }];
  const refused = await sdkAsks.chat(gateway.baseUrl, keyOf('a'), 'any', { messages });
  t.is(refused.status, 429);
  t.is(refused.headers.get('x-should-retry'), 'false');
  t.is(refused.headers.get('retry-after'), null);
  t.regex(refused.error ?? '', /has about \d+ tokens; the client a may use 10 tokens per minute/);
});

test('answers at a time: further ones are refused until one ends, also by its client', async (t) => {
  const { gateway, upstream } = await clientRig(t, [client('a', { limits: { streams: 1 } })], {
    script: () => 'never',
  });
  const leaving = new AbortController();
  const asked = fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': keyOf('a') },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hello' }] }),
    signal: leaving.signal,
  }).catch(() => undefined);
  await until(() => upstream.requests.length === 1);
  const refused = await sdkAsks.chat(gateway.baseUrl, keyOf('a'), 'any');
  t.is(refused.code, 'streams');
  t.is(refused.headers.get('retry-after'), '1');
  const count = await fetch(`${gateway.baseUrl}/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { 'x-api-key': keyOf('a') },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  t.is(count.status, 200, 'a count is no answer');
  leaving.abort();
  await asked;
  void sdkAsks.chat(gateway.baseUrl, keyOf('a'), 'any').catch(() => undefined);
  await until(async () => {
    if (upstream.requests.length > 1) return true;
    void sdkAsks.chat(gateway.baseUrl, keyOf('a'), 'any').catch(() => undefined);
    return false;
  });
  t.true(upstream.requests.length > 1);
});

test('what failed at the provider used no tokens; the request counts', async (t) => {
  const { healthNowMs } = still();
  const limits = { tokensPerMinute: 1000, requestsPerMinute: 10 };
  const { gateway } = await clientRig(t, [client('a', { limits })], {
    healthNowMs,
    more: { RETRY: { attempts: 0 } },
    script: () => ({
      ...jsonAnswer({ error: { message: 'no' } }, 400),
      headers: { 'x-ratelimit-limit-tokens': '77', 'x-ratelimit-limit-files': '7' },
    }),
  });
  await sdkAsks.chat(gateway.baseUrl, keyOf('a'), 'any');
  const failed = await sdkAsks.chat(gateway.baseUrl, keyOf('a'), 'any');
  t.is(failed.status, 400);
  t.is(failed.headers.get('x-ratelimit-remaining-requests'), '8');
  t.is(failed.headers.get('x-ratelimit-limit-tokens'), '1000', "not the provider's");
  t.is(failed.headers.get('x-ratelimit-limit-files'), null);
  const count = await fetch(`${gateway.baseUrl}/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { 'x-api-key': keyOf('a') },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  t.is(count.headers.get('anthropic-ratelimit-requests-remaining'), '7');
  t.is(count.headers.get('anthropic-ratelimit-tokens-remaining'), '1000', 'a count takes no tokens');
});

test('a stream shows the limits in its head; one that its client leaves is counted by its size', async (t) => {
  const { healthNowMs } = still();
  const record = (content: string): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
  const { gateway, admin } = await clientRig(t, [client('a', { limits: { tokensPerMinute: 100_000 } })], {
    healthNowMs,
    script: () => sseAnswer([record('x'.repeat(32_000))], 'stall'),
  });
  const leaving = new AbortController();
  const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': keyOf('a') },
    body: JSON.stringify({
      model: 'any',
      stream: true,
      max_tokens: 20_000,
      messages: [{ role: 'user', content: 'Hello' }],
    }),
    signal: leaving.signal,
  });
  t.is(answer.status, 200);
  const reserved = 100_000 - Number(answer.headers.get('x-ratelimit-remaining-tokens'));
  t.true(reserved > 20_000 && reserved < 20_100, `${reserved}`);
  const reader = answer.body?.getReader();
  for (let size = 0; size < 32_000; ) size += (await reader?.read())?.value?.length ?? 0;
  leaving.abort();
  await until(async () => /status="499"/.test(await (await admin('/metrics')).text()));
  const after = await fetch(`${gateway.baseUrl}/v1/messages/count_tokens`, {
    method: 'POST',
    headers: { 'x-api-key': keyOf('a') },
    body: JSON.stringify({ model: 'any', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const counted = 100_000 - Number(after.headers.get('anthropic-ratelimit-tokens-remaining'));
  t.true(counted > 1_000 && counted < 1_100, `${counted}`);
});

test('an answer without a count is counted by its size', async (t) => {
  const { healthNowMs } = still();
  const { gateway, admin } = await clientRig(t, [client('a', { limits: { tokensPerMinute: 1_000_000 } })], {
    healthNowMs,
    script: ({ body }) =>
      Object(body).stream
        ? sseAnswer(chatStream(['x'.repeat(32_000)], 0))
        : jsonAnswer({ ...chatReply('x'.repeat(4_000)), usage: undefined }),
  });
  const used = async (stream: boolean, before: number): Promise<number> => {
    const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': keyOf('a') },
      body: JSON.stringify({ model: 'any', stream, max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await answer.text();
    const outputOf = async (): Promise<number> =>
      JSON.parse(await (await admin('/api/clients')).text()).clients[0].usage.today.output;
    await until(async () => (await outputOf()) > before);
    return (await outputOf()) - before;
  };
  const streamed = await used(true, 0);
  t.true(streamed > 1_000 && streamed < 1_050, `${streamed}`);
  const whole = await used(false, streamed);
  t.true(whole > 1_000 && whole < 1_150, `${whole}`);
});

test('a reload keeps what was counted and applies new limits at once', async (t) => {
  const { healthNowMs } = still();
  const { gateway, configure } = await clientRig(t, [client('a', { limits: { requestsPerMinute: 3 } })], {
    healthNowMs,
  });
  const ask = () => sdkAsks.messages(gateway.baseUrl, keyOf('a'), 'any');
  await ask();
  await ask();
  await configure([client('a', { limits: { requestsPerMinute: 2 } })]);
  t.is((await ask()).status, 429);
  await configure([client('a')]);
  t.is((await ask()).status, 200);
});

/** A compaction by the provider, and one that its model writes. */
const compactions = {
  '/v1/responses': {
    id: 'r',
    object: 'response.compaction',
    created_at: 1,
    output: [],
    usage: { input_tokens: 900, output_tokens: 100, total_tokens: 1000 },
  },
  '/v1/chat/completions': {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'A summary.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 900, completion_tokens: 100, total_tokens: 1000 },
  },
} as const;

for (const [path, answer] of Object.entries(compactions)) {
  test(`a compaction at ${path} is counted by what the provider says that it used, and limited`, async (t) => {
    const { healthNowMs } = still();
    const limits = { tokensPerMinute: 50_000, requestsPerMinute: 2 };
    const { gateway } = await clientRig(t, [client('a', { limits })], {
      healthNowMs,
      path,
      more: { transformers: [{ name: 'openai', provider: 'p' }] },
      script: () => jsonAnswer(answer),
    });
    const compact = () =>
      fetch(`${gateway.baseUrl}/v1/responses/compact`, {
        method: 'POST',
        headers: { 'x-api-key': keyOf('a') },
        body: JSON.stringify({ model: 'any', input: 'Hello' }),
      });
    const first = await compact();
    t.is(first.status, 200, await first.text());
    const second = await compact();
    const counted = 50_000 - Number(second.headers.get('x-ratelimit-remaining-tokens'));
    t.true(counted >= 1000 && counted < 6_000, `${counted}`);
    t.is((await compact()).status, 429);
  });
}

test('clients that are added to a running service have their limits from their first request on', async (t) => {
  const { gateway, configure } = await clientRig(t, [], { more: { CLIENTS: undefined } });
  t.is((await sdkAsks.chat(gateway.baseUrl, keyOf('a'), 'any')).status, 401);
  await configure([client('a', { limits: { requestsPerMinute: 1 } })]);
  const statuses = [];
  for (let n = 0; n < 2; n += 1) statuses.push((await sdkAsks.chat(gateway.baseUrl, keyOf('a'), 'any')).status);
  t.deepEqual(statuses, [200, 429]);
});
