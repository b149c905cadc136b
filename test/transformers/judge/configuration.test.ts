import { readFile } from 'node:fs/promises';
import test from 'ava';
import { request } from 'undici';
import { loadStages } from '../../../engine/config/custom/load-stages.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { compileGateway } from '../../../engine/routing/gateway.ts';
import { clientProtocols } from '../../../protocols/index.ts';
import { shipped } from '../../../transformers/index.ts';
import { startGateway } from '../../support/gateway.ts';
import { configOf, gatewayOf } from '../../support/gateway-of.ts';
import { chatReply, chatStream } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const safeguards = [{ type: 'dangerous_tool_use', classifier_context: { home_dir: '/home/ann' } }];
const body = { max_tokens: 9, messages: [{ role: 'user', content: 'x' }] };

test('a client that wants verdicts and gets none is told of where people look', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer(chatReply('ok')));
  const gateway = await startGateway({
    Providers: [
      { name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m', 'judged'] },
      { name: 'vendor', baseUrl: 'https://api.anthropic.com', apiKey: 'k', models: ['claude-opus-5-5'] },
    ],
    transformers: [{ name: 'judge', models: ['judged'], ask: ['p,m'], when: { not: { headers: { 'x-off': true } } } }],
  });
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const post = async (path: string, asked: object) => {
    const answer = await request(gateway.baseUrl + path, { method: 'POST', body: JSON.stringify(asked) });
    return { text: await answer.body.text(), losses: answer.headers['x-junctor-loss'] };
  };
  const warningsFor = async (model: string, more: object = { safeguards }, headers: object = {}) => {
    const asked = { client: 'messages', headers, body: { model, ...body, ...more } };
    return Object(JSON.parse((await post('/api/explain', asked)).text)).warnings.join();
  };
  const answers = [];
  for (let n = 0; n < 3; n += 1) answers.push(await post('/v1/messages', { model: 'p,m', ...body, safeguards }));
  const warnings = [
    await warningsFor('p,m'),
    await warningsFor('p,judged', { safeguards }, { 'x-off': '1' }),
    await warningsFor('p,m', {}),
    await warningsFor('p,judged'),
    await warningsFor('vendor,claude-opus-5-5'),
  ];
  const log = await request(`${gateway.baseUrl}/api/logs?file=app.log`);
  const lines = (await log.body.text()).split('\n').filter((line) => line.includes('nothing does'));
  for (const { text, losses } of answers) {
    t.false(text.includes('safeguard_results'));
    t.regex(String(losses), /dropped: safeguards/);
  }
  t.regex(warnings[0], /^The client wants the tool calls of p,m judged/);
  t.regex(warnings[1], /^The client wants the tool calls of p,judged judged/);
  for (const other of warnings.slice(2)) t.notRegex(other, /nothing does/);
  t.is(lines.length, 1, 'once');
});

test('a judge that may ask nobody is a fault of the configuration', async (t) => {
  const gateway = await startGateway({
    Providers: [{ name: 'p', baseUrl: 'http://127.0.0.1:9', apiKey: 'k', models: ['m'] }],
  });
  t.teardown(gateway.stop);
  const saved = await request(`${gateway.baseUrl}/api/config`, {
    method: 'POST',
    body: JSON.stringify({
      Providers: [{ name: 'p', baseUrl: 'http://127.0.0.1:9', apiKey: 'k', models: ['m'] }],
      transformers: ['judge'],
    }),
  });
  t.is(saved.statusCode, 400);
  t.regex(await saved.body.text(), /transformers\[0\]\.ask.*is required: \\"judge\\" asks a model/);
});

test('the configuration on the page runs as it is', async (t) => {
  const page = await readFile(new URL('../../../docs/judge.md', import.meta.url), 'utf8');
  const [, text = ''] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  const upstream = await startUpstream(({ body: asked }) => {
    const { model } = Object(asked);
    if (model !== 'qwen3.8-27b') return sseAnswer(chatStream([`{"answer":"flagged","explanation":"By ${model}."}`], 0));
    const tool_calls = [{ id: 'a', type: 'function', function: { name: 'Bash', arguments: '{"command":"ls"}' } }];
    const message = { role: 'assistant', content: null, tool_calls };
    return jsonAnswer({ ...chatReply(''), choices: [{ index: 0, message, finish_reason: 'tool_calls' }] });
  });
  const gateway = await startGateway(JSON.parse(text.replaceAll(/https?:\/\/[^"/]+/g, upstream.url)), {
    OPENAI_API_KEY: 'k',
  });
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const answer = await request(`${gateway.baseUrl}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({
      model: 'any',
      ...body,
      tools: [{ name: 'Bash', input_schema: { type: 'object' } }],
      safeguards,
    }),
  });
  t.deepEqual(Object(await answer.body.json()).safeguard_results, [
    {
      type: 'dangerous_tool_use',
      status: {
        type: 'available',
        tool_uses: { a: { type: 'evaluated', outcome: 'flagged', explanation: 'By gpt-6-luna' } },
      },
    },
  ]);
});

test('the interface has what its form needs', async (t) => {
  const gateway = await startGateway({ Providers: [] });
  t.teardown(gateway.stop);
  const { body: listed } = await request(`${gateway.baseUrl}/api/transformers`);
  const { transformers } = Object(await listed.json());
  t.like(
    transformers.find(({ name }: { readonly name: string }) => name === 'judge'),
    { kind: 'stage', asks: true, halves: { around: true }, options: { properties: { rules: { title: 'Rules' } } } },
  );
});

test('large bodies of requests that no judge is for are decoded by their outline, as without it', async (t) => {
  const provider = { name: 'p', baseUrl: 'http://127.0.0.1:9', apiKey: 'k', models: ['m'] };
  for (const { protocol } of clientProtocols) {
    if (protocol.wire === 'responses') continue;
    const likely = async (entry: JsonObject): Promise<boolean> => {
      const format = protocol.wire === 'messages' ? 'anthropic' : 'openai';
      const config = configOf({ Providers: [provider], Router: { default: 'p,m' }, transformers: [format, entry] });
      const custom = await loadStages(config.transformers, { home: '/', allowed: [] }, shipped);
      const plain = gatewayOf(t, config);
      return compileGateway(config, { ...plain.registry, custom }, plain).likelyRelays(protocol);
    };
    t.true(await likely({ name: 'judge', ask: ['p,m'] }), protocol.wire);
    t.true(await likely({ name: 'judge', ask: ['p,m'], when: { model: 'x' } }), protocol.wire);
    t.false(await likely({ name: 'maxtoken', when: { model: 'x' }, options: { max_tokens: 9 } }), protocol.wire);
  }
});
