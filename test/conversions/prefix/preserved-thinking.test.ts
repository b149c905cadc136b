import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import { startGateway, type TestGateway } from '../../support/gateway.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../../support/upstreams/upstream.ts';
import { type BindingVendor, bindingVendor } from './binding-vendor.ts';

const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }];
const model = 'claude-opus-5-5';

/** What a chat client keeps of an answer's message. */
type Keeps = (message: JsonObject, turn: number) => JsonObject;
const all: Keeps = (message) => message;
const nothing: Keeps = ({ reasoning_content: _, reasoning_details: __, ...message }) => message;
const text: Keeps = ({ reasoning_details: _, ...message }) => message;
const some: Keeps = (message, turn) => (turn % 2 === 0 ? message : nothing(message, turn));

class ChatClient {
  readonly messages: JsonObject[] = [{ role: 'system', content: 'Be brief.' }];
  readonly #keeps: Keeps;
  #turns = 0;

  constructor(keeps: Keeps) {
    this.#keeps = keeps;
  }

  /** One turn at this provider; answers a call first. */
  async turn(
    { baseUrl }: Pick<TestGateway, 'baseUrl'>,
    { provider = 'an', ...more }: { provider?: string; reasoning_effort?: string } = {},
  ): Promise<number> {
    this.#turns += 1;
    const calls = this.messages.at(-1)?.tool_calls;
    const results = Array.isArray(calls) ? calls.filter(isJsonObject) : [];
    if (results.length === 0) this.messages.push({ role: 'user', content: `Question ${this.#turns}` });
    for (const { id } of results) this.messages.push({ role: 'tool', tool_call_id: id, content: 'ok' });
    const answer = await request(`${baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model: `${provider},${model}`,
        messages: this.messages,
        tools,
        reasoning_effort: 'high',
        ...more,
      }),
    });
    const body: unknown = await answer.body.json();
    const choices = isJsonObject(body) && Array.isArray(body.choices) ? body.choices : [];
    const [choice] = choices;
    if (isJsonObject(choice) && isJsonObject(choice.message)) {
      this.messages.push(this.#keeps(choice.message, this.#turns));
    }
    return answer.statusCode;
  }
}

const configured = (upstreams: readonly ScriptedUpstream[], more: object = {}) => ({
  LOG: false,
  Providers: upstreams.map(({ url }, index) => ({
    name: index === 0 ? 'an' : 'other',
    baseUrl: url,
    apiKey: 'k',
    models: [model],
  })),
  transformers: [{ name: 'anthropic' }],
  ...more,
});

/** A gateway in front of vendors that bind thinking. */
const starting = async (t: ExecutionContext, vendors: readonly BindingVendor[], more: object = {}) => {
  const upstreams = await Promise.all(vendors.map(({ script }) => startUpstream(script)));
  t.teardown(() => Promise.all(upstreams.map((upstream) => upstream.close())));
  const start = async (): Promise<TestGateway> => {
    const gateway = await startGateway(configured(upstreams, more));
    t.teardown(() => gateway.stop());
    return gateway;
  };
  return { gateway: await start(), start, upstreams };
};

const rounds = 8;
const mixed = (number: number): 'text' | 'call' => (number % 3 === 2 ? 'call' : 'text');

for (const [title, keeps] of [
  ['all', all],
  ['nothing', nothing],
  ['the text only', text],
  ['every other turn', some],
] as const) {
  test(`a chat client that keeps of the reasoning: ${title}. The vendor gets all of it`, async (t) => {
    const vendor = bindingVendor(mixed);
    const { gateway } = await starting(t, [vendor]);
    const client = new ChatClient(keeps);
    for (let turn = 0; turn < rounds; turn += 1) t.is(await client.turn(gateway), 200);
    t.is(vendor.refused(), 0);
    t.deepEqual(
      vendor.seen,
      Array.from({ length: rounds }, (_, turn) => Array.from({ length: turn }, (__, index) => index + 1)),
    );
  });

  test(`a chat client that keeps of the reasoning: ${title}. A gateway without memory in between`, async (t) => {
    const vendor = bindingVendor(mixed);
    const { gateway, start } = await starting(t, [vendor]);
    const client = new ChatClient(keeps);
    for (let turn = 0; turn < 3; turn += 1) t.is(await client.turn(gateway), 200);
    const later = await start();
    for (let turn = 0; turn < 4; turn += 1) t.is(await client.turn(later), 200);
    t.is(vendor.refused(), 0);
    t.deepEqual(vendor.seen.at(-1)?.slice(-3), [4, 5, 6]);
  });

  test(`a chat client that keeps of the reasoning: ${title}. Another account in between, and a turn without thinking`, async (t) => {
    const vendors = [bindingVendor(mixed), bindingVendor(() => 'text')];
    const { gateway } = await starting(t, vendors);
    const client = new ChatClient(keeps);
    t.is(await client.turn(gateway), 200);
    t.is(await client.turn(gateway), 200);
    t.is(await client.turn(gateway), 200);
    t.is(await client.turn(gateway, { provider: 'other' }), 200);
    t.is(await client.turn(gateway), 200);
    t.is(await client.turn(gateway, { reasoning_effort: 'none' }), 200);
    t.is(await client.turn(gateway), 200);
    t.is(vendors[0]?.refused(), 0);
    t.is(vendors[1]?.refused(), 0);
    t.deepEqual(vendors[1]?.seen, [[]]);
    t.deepEqual(vendors[0]?.seen[3], [1, 2, 3]);
  });
}

const binding = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } };
const beta = 'thinking-binding-controls-2026-08-01';

test('thinking that a vendor refuses is left out, once, and what follows is whole again', async (t) => {
  const vendor = bindingVendor(mixed);
  const { gateway, upstreams } = await starting(t, [vendor]);
  const client = new ChatClient(nothing);
  for (let turn = 0; turn < 4; turn += 1) t.is(await client.turn(gateway), 200);
  client.messages[0] = { role: 'system', content: 'Be verbose.' };
  for (let turn = 0; turn < 3; turn += 1) t.is(await client.turn(gateway), 200);
  t.is(vendor.refused(), 1);
  t.deepEqual(vendor.seen.slice(4), [[1, 2, 3, 4], [], [5], [5, 6]]);
  // Sent in conversions with thinking in the history, and with nothing else.
  for (const [index, { body, headers }] of (upstreams[0]?.requests ?? []).entries()) {
    const holds = (vendor.seen[index]?.length ?? 0) > 0;
    t.deepEqual(isJsonObject(body) && body.thinking, holds ? binding : { type: 'adaptive' });
    t.is(headers['anthropic-beta'], holds ? beta : undefined);
  }
});

const messagesBody = (name: string, more: object = {}) => ({
  model: `an,${name}`,
  max_tokens: 2_000,
  thinking: { type: 'adaptive' },
  messages: [
    { role: 'user', content: 'go' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'sig-1-of-another-conversation' },
        { type: 'text', text: 'Hello.' },
      ],
    },
    { role: 'user', content: 'on' },
  ],
  ...more,
});

const post = async ({ baseUrl }: Pick<TestGateway, 'baseUrl'>, body: object) => {
  const answer = await request(`${baseUrl}/v1/messages`, { method: 'POST', body: JSON.stringify(body) });
  return { status: answer.statusCode, loss: answer.headers['x-junctor-loss'], text: await answer.body.text() };
};

test('a refusal of what passed through reaches the client as it came', async (t) => {
  const vendor = bindingVendor(mixed);
  const { gateway, upstreams } = await starting(t, [vendor]);
  const { status, text: refusal } = await post(gateway, messagesBody(model));
  t.is(status, 400);
  t.true(refusal.includes('bound to a different conversation'));
  t.is(vendor.seen.length, 1);
  t.deepEqual(upstreams[0]?.requests[0]?.body, messagesBody(model, { model }));
  t.is(upstreams[0]?.requests[0]?.headers['anthropic-beta'], undefined);
});

test('a model that doesn’t bind thinking gets no option for it', async (t) => {
  const vendor = bindingVendor(mixed);
  const { gateway, upstreams } = await starting(t, [vendor], {
    transformers: [{ name: 'anthropic' }, { name: 'maxtoken', options: { max_tokens: 1_000 } }],
  });
  for (const [name, thinking] of [
    [model, binding],
    ['claude-opus-5', { type: 'adaptive' }],
    ['claude-of-tomorrow', { type: 'adaptive' }],
  ] as const) {
    const before = upstreams[0]?.requests.length ?? 0;
    // Refused with its thinking, accepted without.
    t.is((await post(gateway, messagesBody(name))).status, 200);
    const first = upstreams[0]?.requests[before];
    t.deepEqual(isJsonObject(first?.body) && first.body.thinking, thinking, name);
    t.is(first?.headers['anthropic-beta'], name === model ? beta : undefined);
  }
});

for (const [title, transformations, lost] of [
  ['dropped', [{ type: 'thinking_dropped', path: 'messages.1.content.0', reason: 'prefix_binding_mismatch' }], true],
  ['allowed', [{ type: 'thinking_mismatch_allowed', path: 'messages.1.content.0', reason: 'x' }], true],
  ['none', [], false],
  ['unreadable', { a: 1 }, true],
] as const) {
  test(`what the vendor did to the history’s thinking is a loss for a chat client: ${title}`, async (t) => {
    const upstream = await startUpstream(() =>
      jsonAnswer({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model,
        content: [{ type: 'text', text: 'Hi.' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
        input_transformations: transformations,
      }),
    );
    t.teardown(() => upstream.close());
    const gateway = await startGateway(configured([upstream]));
    t.teardown(() => gateway.stop());
    const answer = await request(`${gateway.baseUrl}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ model: `an,${model}`, messages: [{ role: 'user', content: 'go' }] }),
    });
    t.is(answer.statusCode, 200);
    await answer.body.dump();
    t.is(/reply\.input_transformations/.test(String(answer.headers['x-junctor-loss'])), lost);
    const passed = await post(gateway, messagesBody(model));
    t.deepEqual(JSON.parse(passed.text).input_transformations, transformations);
  });
}
