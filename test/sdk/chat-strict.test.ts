import test from 'ava';
import OpenAI, { BadRequestError } from 'openai';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import type { ScriptedUpstream } from '../support/upstreams/upstream.ts';
import { chatVendor } from '../support/vendors/chat.ts';
import { deepseekVendor } from '../support/vendors/deepseek.ts';
import { geminiVendor } from '../support/vendors/gemini.ts';
import { groqVendor } from '../support/vendors/groq.ts';
import { messagesVendor } from '../support/vendors/messages.ts';
import { openrouterVendor } from '../support/vendors/openrouter.ts';
import { responsesVendor } from '../support/vendors/responses.ts';
import { hello } from '../support/vendors/script.ts';
import { serveVendor } from '../support/vendors/serve-vendor.ts';

/** The chat route with `CHAT_STRICT: false`: the OpenAI SDK's legacy functions and JSON Schemas, to vendors of every format. */
const wires = {
  anthropic: { serve: () => serveVendor(messagesVendor, 'k'), format: 'anthropic', model: 'claude-sonnet-4-5' },
  'openai chat': { serve: () => serveVendor(chatVendor, 'k'), format: 'openai', model: 'model-x' },
  'openai responses': {
    serve: () => serveVendor(responsesVendor, 'k'),
    format: 'openai',
    options: { api: 'responses' },
    model: 'gpt-5.1',
  },
  deepseek: { serve: () => serveVendor(deepseekVendor, 'k'), format: 'deepseek', model: 'deepseek-v4-flash' },
  openrouter: { serve: () => serveVendor(openrouterVendor, 'k'), format: 'openrouter', base: '/api/v1', model: 'a/b' },
  groq: { serve: () => serveVendor(groqVendor, 'k'), format: 'groq', base: '/openai/v1', model: 'openai/gpt-oss-120b' },
  gemini: { serve: () => serveVendor(geminiVendor, 'k'), format: 'gemini', model: 'gemini-3-flash-preview' },
} as const;
type Wire = keyof typeof wires;

const names = Object.keys(wires).filter((name): name is Wire => name in wires);
const vendors = new Map<Wire, ScriptedUpstream>();
const gateways: { lenient?: TestGateway; strict?: TestGateway } = {};

test.before(async () => {
  for (const name of names) vendors.set(name, await wires[name].serve());
  const config = {
    RETRY: { attempts: 0 },
    LOG: false,
    Providers: names.map((name) => {
      const row = wires[name];
      const baseUrl = `${vendors.get(name)?.url}${'base' in row ? row.base : ''}`;
      return { name, baseUrl, apiKey: 'k', models: [row.model] };
    }),
    transformers: names.map((provider) => {
      const { format: name, ...row } = wires[provider];
      return { name, provider, ...('options' in row && { options: row.options }) };
    }),
  };
  gateways.lenient = await startGateway({ ...config, CHAT_STRICT: false });
  gateways.strict = await startGateway(config);
});

test.after.always('stop', async () => {
  await gateways.lenient?.stop();
  await gateways.strict?.stop();
  await Promise.all([...vendors.values()].map((vendor) => vendor.close()));
});

const sdk = (gateway: TestGateway | undefined) =>
  new OpenAI({ baseURL: `${gateway?.baseUrl}/v1`, apiKey: 'client-key', maxRetries: 0 });

const schema = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const functions = [{ name: 'get_weather', description: 'The weather.', parameters: schema }];
const said = { role: 'user' as const, content: 'use the tool' };

for (const name of names) {
  const model = `${name},${wires[name].model}`;

  test(`${name}: legacy functions, whole, and their result`, async (t) => {
    const client = sdk(gateways.lenient);
    const ask = { model, messages: [said], functions, function_call: 'auto' as const };
    const [choice] = (await client.chat.completions.create(ask)).choices;
    t.is(choice?.finish_reason, 'function_call');
    t.is(choice?.message.tool_calls, undefined);
    t.is(choice?.message.function_call?.name, 'get_weather');
    t.deepEqual(JSON.parse(choice?.message.function_call?.arguments ?? ''), { city: 'Łódź' });
    if (!choice) return;
    const result = { role: 'function' as const, name: 'get_weather', content: 'sunny ☀' };
    const told = await client.chat.completions.create({ ...ask, messages: [said, choice.message, result] });
    t.is(told.choices[0]?.message.content, 'The tools said: sunny ☀');
    t.is(told.choices[0]?.finish_reason, 'stop');
  });

  test(`${name}: legacy functions, streamed; one that is forced`, async (t) => {
    const client = sdk(gateways.lenient);
    const stream = await client.chat.completions.create({
      model,
      messages: [said],
      functions,
      function_call: { name: 'get_weather' },
      stream: true,
    });
    const call = { names: [] as string[], json: '', finish: '', tools: 0 };
    for await (const { choices } of stream) {
      const [choice] = choices;
      if (choice?.delta.function_call?.name) call.names.push(choice.delta.function_call.name);
      call.json += choice?.delta.function_call?.arguments ?? '';
      call.tools += choice?.delta.tool_calls?.length ?? 0;
      call.finish = choice?.finish_reason ?? call.finish;
    }
    t.deepEqual(call.names, ['get_weather']);
    t.deepEqual(JSON.parse(call.json), { city: 'Łódź' });
    t.is(call.finish, 'function_call');
    t.is(call.tools, 0);
  });

  test(`${name}: a JSON Schema for the answer`, async (t) => {
    const format = { type: 'json_schema' as const, json_schema: { name: 'place', schema, strict: true } };
    const ask = { model, messages: [{ role: 'user' as const, content: 'say hello' }], response_format: format };
    const reply = await sdk(gateways.lenient).chat.completions.create(ask);
    t.is(reply.choices[0]?.message.content, hello);
    t.true(vendors.get(name)?.requests.some(({ text }) => text.includes('additionalProperties')));
  });

  test(`${name}: both are refused by default, and the message names the setting`, async (t) => {
    const { completions } = sdk(gateways.strict).chat;
    const format = { type: 'json_schema' as const, json_schema: { name: 'place', schema } };
    const asks = [
      ['functions', completions.create({ model, messages: [said], functions })],
      ['response_format.type', completions.create({ model, messages: [said], response_format: format })],
    ] as const;
    for (const [param, asked] of asks) {
      const error = await t.throwsAsync(asked, { instanceOf: BadRequestError });
      t.is(error?.param, param);
      t.is(error?.code, 'unsupported_parameter');
      t.regex(error?.message ?? '', /CHAT_STRICT/);
    }
  });
}
