import test from 'ava';
import fc from 'fast-check';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { Losses } from '../../../engine/model/loss.ts';
import { CallIds, shortCallIds } from '../../../engine/model/wire/call-ids.ts';
import { ToolNames } from '../../../engine/model/wire/tool-names.ts';
import { chatClient } from '../../../protocols/chat/index.ts';
import { replyContext } from '../../support/context.ts';
import { type ClientName, chat, formatOf, isRelayed, messages, type Place, pathOf, sent, upstreamOf } from './rig.ts';

const places: readonly (readonly [title: string, place: Place, path: string, wire: string])[] = [
  ['by default', {}, '/v1/chat/completions', 'chat'],
  ['as configured', { options: { api: 'responses' } }, '/v1/responses', 'responses'],
  ['as the base URL says', { baseUrl: 'https://h/v1/responses' }, '/v1/responses', 'responses'],
  [
    'the configuration first',
    { baseUrl: 'https://h/responses', options: { api: 'chat' } },
    '/v1/chat/completions',
    'chat',
  ],
];

for (const [title, place, path, wire] of places) {
  test(`which protocol: ${title}`, (t) => {
    t.is(pathOf('openai', chat('m'), place), path);
    t.is(upstreamOf('openai', 'm', 'chat', place).wire as string, wire);
  });
}

test('options that are none of its own are faults', (t) => {
  const { optionsReader } = formatOf('openai');
  t.deepEqual(optionsReader.faults({ api: 'chat' }), []);
  t.deepEqual(
    optionsReader.faults({ api: 'completions' }, 'options').map(({ path }) => path),
    ['options.api'],
  );
  t.deepEqual(optionsReader.faults({ apis: 'chat' }, 'options'), [{ path: 'options.apis', message: 'is unknown' }]);
  t.is(formatOf('deepseek').optionsReader.faults({ anything: 1 }).length, 1);
});

const own: Place = { baseUrl: 'https://api.openai.com/v1' };

const ownChat: Place = { ...own, options: { api: 'chat' } };
const elsewhere: Place = { baseUrl: 'https://models.example/openai/v1' };

for (const model of [
  'gpt-5.1',
  'gpt-5-mini',
  'o3',
  'gpt-6.1-terra',
  'gpt-9',
  'gpt-12-mini',
  'openai/gpt-5.1',
  'ft:gpt-6-luna:me',
]) {
  for (const [host, place] of [
    ['its own host', ownChat],
    ['another', elsewhere],
  ] as const) {
    test(`on ${host}, the reasoning model ${model} has its name for the limit and takes no sampling`, (t) => {
      const { body, losses } = sent('openai', 'messages', messages(model, { temperature: 0.5, top_p: 0.9 }), place);
      t.deepEqual(losses, ['-temperature', '-top_p']);
      t.deepEqual([body.max_completion_tokens, body.max_tokens, body.temperature], [4_000, undefined, undefined]);
    });
  }
}

test('other models at other hosts get the requested fields', (t) => {
  for (const model of ['qwen3-coder', 'openai/gpt-oss-120b', 'gpt-4.1', 'my-deployment', 'llama']) {
    const { body, losses } = sent('openai', 'messages', messages(model, { temperature: 0.5 }), elsewhere);
    t.deepEqual([losses, body.max_tokens, body.temperature], [[], 4_000, 0.5], model);
  }
});

test('OpenAI gets Responses for models that reason, but from chat clients, whose requests pass as they came', (t) => {
  const wireOf = (client: ClientName, model: string, place: Place) => upstreamOf('openai', model, client, place).wire;
  for (const model of ['gpt-6.1-sol', 'gpt-9', 'gpt-5.1', 'o3', 'my-deployment', 'my-research', 'audio-notes']) {
    t.is(wireOf('messages', model, own), 'responses', model);
    t.is(wireOf('responses', model, own), 'responses', model);
    t.is(wireOf('chat', model, own), 'chat', model);
    t.is(wireOf('messages', model, ownChat), 'chat', model);
    t.is(wireOf('messages', model, elsewhere), 'chat', model);
    t.is(wireOf('messages', model, { baseUrl: 'https://x.openai.azure.com/openai/v1' }), 'responses', model);
    t.is(wireOf('messages', model, { baseUrl: 'https://x.openai.azure.com/openai/deployments/d' }), 'chat', model);
    t.is(wireOf('messages', model, { baseUrl: 'https://api.openai.com/v1/chat/completions' }), 'chat', model);
  }
  t.is(wireOf('messages', 'gpt-4.1', own), 'chat');
  t.is(wireOf('responses', 'gpt-4.1', own), 'responses');
  t.is(wireOf('messages', 'gpt-5-search-api', own), 'chat');
  t.is(wireOf('messages', 'openai/gpt-audio-2', own), 'chat');
});

test('only models that are known to search by themselves get a search as a member', (t) => {
  const search = [{ type: 'web_search_20250305', name: 'web_search' }];
  for (const place of [ownChat, elsewhere]) {
    const bodyFor = (model: string) => sent('openai', 'messages', messages(model, { tools: search }), place).body;
    t.deepEqual(bodyFor('vendor/gpt-5-search-api').web_search_options, {});
    t.is(bodyFor('my-research').web_search_options, undefined);
  }
});

const tools = [{ name: 'f', input_schema: { type: 'object' } }];
const efforts: readonly (readonly [model: string, asked: JsonObject, effort: unknown, losses: readonly string[]])[] = [
  ['gpt-6.1-terra', { tools }, 'none', ['~tools']],
  ['gpt-9', { tools, output_config: { effort: 'high' } }, 'none', ['~reasoning']],
  ['gpt-5.6', { tools, thinking: { type: 'adaptive' } }, 'none', ['~reasoning']],
  ['gpt-5.6', { tools, thinking: { type: 'disabled' } }, 'none', []],
  ['gpt-5.4', { tools }, undefined, []],
  ['gpt-5.4', { tools, output_config: { effort: 'high' } }, 'none', ['~reasoning']],
  ['gpt-5.1', { tools, output_config: { effort: 'high' } }, 'high', []],
  ['gpt-6.1-terra', { output_config: { effort: 'high' } }, 'high', []],
  ['my-deployment', { tools, output_config: { effort: 'high' } }, 'high', []],
];
for (const [model, asked, effort, losses] of efforts) {
  test(`over chat, ${model} with ${JSON.stringify(asked)} gets the effort ${effort}`, (t) => {
    for (const place of [ownChat, elsewhere]) {
      const given = sent('openai', 'messages', messages(model, asked), place);
      t.is(given.body.reasoning_effort, effort as string | undefined);
      t.deepEqual(given.losses, losses);
    }
  });
}

test('cache marks go to the same models over both protocols', (t) => {
  const asked = (model: string) =>
    messages(model, {
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral' } }] }],
    });
  for (const [model, marked] of [
    ['gpt-5.6', true],
    ['gpt-5.10', true],
    ['gpt-6-luna', true],
    ['openai/gpt-9', true],
    ['my-deployment', true],
    ['gpt-5.5-pro', false],
    ['gpt-5', false],
    ['o3', false],
    ['gpt-4.1', false],
  ] as const) {
    for (const api of ['chat', 'responses']) {
      const { body } = sent('openai', 'messages', asked(model), { ...own, options: { api } });
      t.is(JSON.stringify(body).includes('prompt_cache_breakpoint'), marked, `${model} over ${api}`);
    }
  }
});

test('another protocol’s word for a tier becomes its own', (t) => {
  t.is(
    sent('openai', 'messages', messages('m', { service_tier: 'standard_only' }), ownChat).body.service_tier,
    'default',
  );
});

test('a chat client’s body is relayed', (t) => {
  t.true(isRelayed('openai', chat('m', { tools: [{ type: 'web_search' }] })));
});

const loopWith = (model: string, ...ids: readonly string[]): JsonObject => ({
  model,
  messages: [
    { role: 'user', content: 'hi' },
    {
      role: 'assistant',
      tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
    },
    ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: 'done' })),
  ],
});

const sentIds = (asked: JsonObject, place?: Place) => {
  const { messages } = sent('openai', 'chat', asked, place).body;
  const [, caller, ...results] = Array.isArray(messages) ? messages.filter(isJsonObject) : [];
  const calls = Array.isArray(caller?.tool_calls) ? caller.tool_calls.filter(isJsonObject) : [];
  return { calls: calls.map(({ id }) => String(id)), results: results.map(({ tool_call_id }) => String(tool_call_id)) };
};

const longId = `chatcmpl-tool-${'0'.repeat(31)}`;

test('call ids that are too long for the vendor are shortened, the same in a call, its result and the next request', (t) => {
  const asked = loopWith('any deployment', `${longId}1`, `${longId}2`, 'call_short');
  t.false(isRelayed('openai', asked, own));
  const { calls, results } = sentIds(asked, own);
  t.true(calls.every((id) => id.length <= 40 && /^[\w-]+$/.test(id)));
  t.is(new Set(calls).size, 3);
  t.is(calls[2], 'call_short');
  t.deepEqual(results, calls);
  t.deepEqual(sentIds(loopWith('any deployment', `${longId}2`), own).calls, calls.slice(1, 2));
});

test('a call without a result keeps its short id in the generated result', (t) => {
  const { messages = [] } = loopWith('m', `${longId}1`);
  const asked = { model: 'm', messages: Array.isArray(messages) ? messages.slice(0, 2) : [] };
  const { calls, results } = sentIds(asked, own);
  t.is(calls[0]?.length, 37);
  t.deepEqual(results, calls);
});

test('the same models behind another host have the same limit; to other models only a converted request has short ids', (t) => {
  for (const model of ['gpt-5.1', 'openai/gpt-4o', 'o3', 'ft:gpt-4.1:a']) {
    t.false(isRelayed('openai', loopWith(model, `${longId}1`)), model);
    t.is(sentIds(loopWith(model, `${longId}1`)).calls[0]?.length, 37, model);
  }
  for (const model of ['gpt-oss-120b', 'qwen3', 'a model of tomorrow']) {
    t.true(isRelayed('openai', loopWith(model, `${longId}1`)), model);
    t.is(sentIds(loopWith(model, `${longId}1`)).calls[0]?.length, 37, model);
  }
});

test('ids are shortened over Responses too, only if too long', (t) => {
  const place = { baseUrl: 'https://api.openai.com/v1', options: { api: 'responses' } };
  t.true(isRelayed('openai', loopWith('gpt-5.1', `${longId}1`), place));
  t.false(isRelayed('openai', loopWith('gpt-5.1', `${longId}${longId}`), place));
  const { input } = sent('openai', 'chat', loopWith('gpt-5.1', `${longId}${longId}`), place).body;
  const ids = Array.isArray(input) ? input.flatMap((item) => (isJsonObject(item) ? [item.call_id] : [])) : [];
  t.is(String(ids[1]).length, 37);
  t.is(ids[1], ids[2]);
});

test('a shortened id in an answer is restored to the client’s id', (t) => {
  const names = new ToolNames();
  const asked = chatClient.decodeRequest(loopWith('m', `${longId}1`));
  const upstream = upstreamOf('openai', 'm', 'chat', own);
  upstream.encodeRequest(asked, { names, losses: new Losses('test'), replyIsRelayed: false });
  const id = names.callIds.wire(`${longId}1`, shortCallIds);
  const message = { tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }] };
  const events = upstream.decodeReply({ choices: [{ message, finish_reason: 'tool_calls' }] }, replyContext({ names }));
  t.deepEqual(
    events.flatMap((event) =>
      event.type === 'block-start' && event.block.type === 'tool-call' ? [event.block.id] : [],
    ),
    [`${longId}1`],
  );
});

test('no two ids of a request share a short one', (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string({ minLength: 41, maxLength: 60 }), { maxLength: 50 }), (ids) => {
      const callIds = new CallIds();
      const wire = ids.map((id) => callIds.wire(id, shortCallIds));
      return (
        new Set(wire).size === ids.length &&
        wire.every(
          (id, at) =>
            id.length <= 40 && callIds.client(id) === ids[at] && callIds.wire(ids[at] ?? '', shortCallIds) === id,
        )
      );
    }),
  );
  t.pass();
});
