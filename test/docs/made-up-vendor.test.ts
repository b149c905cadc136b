import { readFile } from 'node:fs/promises';
import test from 'ava';
import { request } from 'undici';
import { hillside } from '../../docs/examples/made-up-vendor.ts';
import { startGateway } from '../support/gateway.ts';
import { chatReply } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../support/upstreams/upstream.ts';

const source = await readFile(new URL('../../docs/examples/made-up-vendor.ts', import.meta.url), 'utf8');

test('the row has at most 40 lines', (t) => {
  t.true(source.split('\n').length <= 41);
});

test('with the row in the tables, all three client protocols reach the vendor', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer(chatReply('hello from the hill')));
  const gateway = await startGateway(
    {
      LOG: false,
      Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'secret', models: ['hill-1-think'] }],
      transformers: [{ name: 'hillside', provider: 'p' }],
    },
    {},
    { vendors: [hillside] },
  );
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const bodies = {
    '/v1/messages': { max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], output_config: { effort: 'medium' } },
    '/v1/chat/completions': {
      max_completion_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
      reasoning_effort: 'medium',
      seed: 4,
    },
    '/v1/responses': { max_output_tokens: 16, input: 'hi', reasoning: { effort: 'medium' } },
  };
  for (const [path, body] of Object.entries(bodies)) {
    const answer = await request(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      body: JSON.stringify({ model: 'p,hill-1-think', stop: 'x', ...body }),
    });
    t.is(answer.statusCode, 200, path);
    t.regex(await answer.body.text(), /hello from the hill/);
    const sent = upstream.requests.at(-1);
    t.is(sent?.url, '/v1/chat/completions');
    t.is(sent?.headers['x-hillside-key'], 'secret');
    t.like(sent?.body, { model: 'hill-1-think', reasoning_effort: 'low' });
    t.true('max_tokens' in Object(sent?.body), path);
    t.false('seed' in Object(sent?.body), path);
  }
});

test("a provider at the vendor's host gets its format automatically, and is listed", async (t) => {
  const gateway = await startGateway(
    {
      LOG: false,
      Providers: [{ name: 'p', baseUrl: 'https://api.hillside.example/v1', apiKey: 'k', models: ['hill-1'] }],
    },
    {},
    { vendors: [hillside] },
  );
  t.teardown(gateway.stop);
  const get = async (path: string): Promise<unknown> => (await request(`${gateway.baseUrl}${path}`)).body.json();
  const { transformers } = Object(await get('/api/transformers'));
  t.like(
    transformers.find(({ name }: { name: string }) => name === 'hillside'),
    { name: 'hillside', endpoint: '/v1/chat/completions' },
  );
  const { graphs } = Object(await get('/api/graph?provider=p&model=hill-1&client=chat'));
  t.like(graphs[0], { format: { name: 'hillside', because: 'host' } });
});
