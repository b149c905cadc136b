import Anthropic from '@anthropic-ai/sdk';
import test from 'ava';
import OpenAI from 'openai';
import { request } from 'undici';
import { openSummary, packSummary, usualPrompt } from '../../engine/model/compaction.ts';
import { ownMark } from '../../protocols/messages/decode-request/open-summaries.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { jsonAnswer, type ScriptedUpstream, startUpstream } from '../support/upstreams/upstream.ts';
import { chatVendor } from '../support/vendors/chat.ts';
import { deepseekVendor } from '../support/vendors/deepseek.ts';
import { geminiVendor } from '../support/vendors/gemini.ts';
import { groqVendor } from '../support/vendors/groq.ts';
import { messagesVendor } from '../support/vendors/messages.ts';
import { openrouterVendor } from '../support/vendors/openrouter.ts';
import { compacted, responsesVendor } from '../support/vendors/responses.ts';
import { counts, hello } from '../support/vendors/script.ts';
import { serveVendor } from '../support/vendors/serve-vendor.ts';

/** A provider of each upstream format, none of which has a compaction of its own. */
interface Row {
  readonly serve: () => Promise<ScriptedUpstream>;
  readonly format: string;
  readonly options?: object;
  readonly base?: string;
  readonly model: string;
}

/** The vendor's look-alikes know neither the item nor the path. */
const withoutCompaction = (vendor: typeof responsesVendor): typeof responsesVendor => ({
  ...vendor,
  complaint: (body, url) =>
    JSON.stringify(body).includes('"compaction')
      ? "Invalid value: 'compaction_trigger'. Supported values are: 'message'."
      : vendor.complaint(body, url),
});

const rows: Readonly<Record<string, Row>> = {
  anthropic: { serve: () => serveVendor(messagesVendor, 'key'), format: 'anthropic', model: 'claude-sonnet-4-5' },
  responses: {
    serve: () => serveVendor(withoutCompaction(responsesVendor), 'key'),
    format: 'openai',
    options: { api: 'responses' },
    model: 'gpt-5.1',
  },
  openrouter: {
    serve: () => serveVendor(openrouterVendor, 'key'),
    format: 'openrouter',
    base: '/api/v1',
    model: 'anthropic/claude-sonnet-4.5',
  },
  gemini: { serve: () => serveVendor(geminiVendor, 'key'), format: 'gemini', model: 'gemini-3-flash-preview' },
  deepseek: { serve: () => serveVendor(deepseekVendor, 'key'), format: 'deepseek', model: 'deepseek-v4-flash' },
  groq: {
    serve: () => serveVendor(groqVendor, 'key'),
    format: 'groq',
    base: '/openai/v1',
    model: 'openai/gpt-oss-120b',
  },
  openai: { serve: () => serveVendor(chatVendor, 'key'), format: 'openai', model: 'model-x' },
  native: {
    serve: () => serveVendor(responsesVendor, 'key'),
    format: 'openai',
    options: { api: 'responses' },
    model: 'gpt-6.2-sol',
  },
};

let gateway: TestGateway;
let vendors: Readonly<Record<string, ScriptedUpstream>> = {};

test.before(async () => {
  const served = Object.entries(rows).map(async ([name, { serve }]) => [name, await serve()] as const);
  vendors = Object.fromEntries(await Promise.all(served));
  const Providers = Object.entries(rows).map(([name, { base = '', model }]) => ({
    name,
    baseUrl: `${vendors[name]?.url}${base}`,
    apiKey: 'key',
    models: [model],
  }));
  const transformers = Object.entries(rows).map(([name, { format, options }]) => ({
    name: format,
    provider: name,
    ...(options && { options }),
  }));
  gateway = await startGateway(
    { LOG: false, Providers, transformers, LIMITS: { bodyBytes: 100_000 } },
    {},
    {
      files: {
        'presets/native/manifest.json': JSON.stringify({ Router: { default: 'native,gpt-6.2-sol' } }),
        'presets/short/manifest.json': JSON.stringify({
          Router: { default: 'openai,model-x', compact: 'groq,openai/gpt-oss-120b', compactPrompt: 'Be short.' },
        }),
      },
    },
  );
});

test.after.always('stop', async () => {
  await gateway?.stop();
  await Promise.all(Object.values(vendors).map((vendor) => vendor.close()));
});

const clientOf = (path = '/v1') =>
  new OpenAI({ baseURL: `${gateway.baseUrl}${path}`, apiKey: 'client-key', maxRetries: 0 });

type Item = OpenAI.Responses.ResponseInputItem;

const conversation: readonly Item[] = [
  { role: 'developer', content: 'You fix bugs.' },
  { role: 'user', content: 'Fix bug 4711.' },
  { type: 'function_call', call_id: 'call_1', name: 'look_up', arguments: '{"city":"Lodz"}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'It is a race.' },
  { role: 'assistant', content: 'It is a race in the cache.' },
  { role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] },
];
const tools: OpenAI.Responses.FunctionTool[] = [
  { type: 'function', name: 'look_up', parameters: { type: 'object', properties: {} }, strict: false },
];

const names = Object.keys(rows).filter((name) => name !== 'native');
const modelAt = (name: string): string => `${name},${rows[name]?.model}`;
const lastText = (name: string): string => vendors[name]?.requests.at(-1)?.text ?? '';

for (const [index, name] of names.entries()) {
  const other = names[(index + 1) % names.length] ?? name;

  test.serial(`${name} writes a summary that ${other} reads`, async (t) => {
    const compacted = await clientOf().responses.compact({ model: modelAt(name), input: [...conversation] });
    t.is(compacted.object, 'response.compaction');
    t.regex(compacted.id, /^resp_./);
    t.deepEqual(
      compacted.output.map((item) => [item.type, 'role' in item && item.role, 'content' in item && item.content]),
      [
        ['message', 'user', [{ type: 'input_text', text: 'Fix bug 4711.' }]],
        ['message', 'user', [{ type: 'input_text', text: 'Go on.' }]],
        ['compaction', false, false],
      ],
    );
    const item = compacted.output.at(-1);
    t.is(item?.type === 'compaction' && openSummary(item.encrypted_content), hello.trim());
    t.is(compacted.usage.input_tokens, counts.prompt);
    t.is(compacted.usage.output_tokens, counts.output);
    const asked = lastText(name);
    for (const said of ['You fix bugs.', 'It is a race in the cache.', JSON.stringify(usualPrompt).slice(1, -1)]) {
      t.true(asked.includes(said), said);
    }

    const response = await clientOf().responses.create({
      model: modelAt(other),
      input: [...compacted.output.map((one) => one as Item), { role: 'user', content: 'say hello' }],
    });
    t.is(response.output_text, hello);
    const read = lastText(other);
    t.true(read.includes('Summary of the conversation so far:') && read.includes('żółw'), read);
    t.false(read.includes('sy1.') || read.includes('compaction'), read);
  });

  test.serial(`${name}: an item that asks for a summary is answered by one item, streamed`, async (t) => {
    const stream = await clientOf().responses.create({
      model: modelAt(name),
      input: [...conversation.slice(0, 3), { type: 'compaction_trigger' }],
      tools,
      store: false,
      stream: true,
    });
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event);
    t.deepEqual(
      events.map(({ type }) => type),
      [
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.output_item.done',
        'response.completed',
      ],
    );
    const [added, done, end] = events.slice(2);
    const item = done?.type === 'response.output_item.done' && done.item;
    if (!item || !('encrypted_content' in item) || item.type !== 'compaction') throw new Error(JSON.stringify(done));
    t.deepEqual(added?.type === 'response.output_item.added' && added.item, { ...item, encrypted_content: '' });
    t.regex(item.id, /^cmp_./);
    t.truthy(openSummary(item.encrypted_content));
    t.deepEqual(end?.type === 'response.completed' && end.response.output, [item]);
    t.is(end?.type === 'response.completed' && end.response.usage?.output_tokens, counts.output);
    // The call that has no result yet has got one.
    t.true(lastText(name).includes('No result so far.'));
  });
}

for (const [index, name] of names.entries()) {
  const other = names[(index + 1) % names.length] ?? name;

  test.serial(`${name} writes a summary for a Messages client, which ${other} reads`, async (t) => {
    const { messages } = new Anthropic({ baseURL: gateway.baseUrl, apiKey: 'client-key', maxRetries: 0 }).beta;
    const question = {
      model: modelAt(name),
      max_tokens: 500,
      messages: [{ role: 'user' as const, content: 'Fix bug 4711.' }],
      compaction: { type: 'summarize' as const, instructions: 'Be short.' },
      betas: ['compact-2026-09-04'],
    };
    const whole = await messages.create(question);
    const streamed = await messages.stream(question).finalMessage();
    t.deepEqual(whole.content, [{ type: 'compaction', content: hello.trim(), encrypted_content: ownMark }]);
    t.like(streamed, { content: whole.content, stop_reason: 'compaction', usage: { output_tokens: counts.output } });
    t.is(whole.stop_reason, 'compaction');
    const asked = lastText(name);
    t.true(asked.includes('Be short.') && !asked.includes('compact'), asked);

    const answer = await messages.create({
      model: modelAt(other),
      max_tokens: 500,
      messages: [
        { role: 'assistant', content: whole.content },
        { role: 'user', content: 'say hello' },
      ],
    });
    t.like(answer.content, [{ type: 'text', text: hello }]);
    const read = lastText(other);
    t.true(read.includes('Summary of the conversation so far:') && read.includes('żółw'), read);
    t.false(read.includes('sy1.') || read.includes('compaction'), read);
  });
}

test.serial("a vendor's own compaction passes, and goes back to it alone", async (t) => {
  const client = clientOf();
  const model = modelAt('native');
  const input: Item[] = [{ role: 'user', content: 'say hello' }];
  const response = await client.responses.create({ model, input: [...input, { type: 'compaction_trigger' }] });
  const [item] = response.output;
  t.like(item, { type: 'compaction', encrypted_content: compacted + hello });
  t.false(lastText('native').includes(usualPrompt.slice(0, 20)));
  const streamed = client.responses.stream({ model, input: [...input, { type: 'compaction_trigger' }] });
  t.like((await streamed.finalResponse()).output[0], { type: 'compaction', encrypted_content: compacted + hello });
  const next = [item as Item, ...input];
  t.is((await client.responses.create({ model, input: next })).output_text, hello);
  t.true(lastText('native').includes(compacted));
  const error = await t.throwsAsync(client.responses.create({ model: modelAt('openai'), input: next }), {
    instanceOf: OpenAI.BadRequestError,
  });
  t.is(error.param, 'input[0]');
  const sent = vendors.responses?.requests.length;
  const foreign = client.responses.create({ model: modelAt('responses'), input: next });
  t.is((await t.throwsAsync(foreign, { instanceOf: OpenAI.BadRequestError, message: /native/ })).param, 'input[0]');
  t.is(vendors.responses?.requests.length, sent, 'it is known to be of another provider');

  // An earlier summary of another model's is text to it.
  const earlier: Item = { type: 'compaction', encrypted_content: packSummary('Bug 4711.') };
  await client.responses.create({ model, input: [earlier, ...input, { type: 'compaction_trigger' }] });
  const read = lastText('native');
  t.true(read.includes('Bug 4711.') && read.includes('compaction_trigger') && !read.includes('sy1.'), read);
});

/** Some hosts ignore an item that they don't know, and go on with the conversation. */
const ignoringVendor: typeof responsesVendor = {
  ...responsesVendor,
  complaint: (body, url) => responsesVendor.complaint(withoutTrigger(body), url),
  answer: (body, url) => responsesVendor.answer(withoutTrigger(body), url),
};

const withoutTrigger: <Body>(body: Body) => Body = (body) =>
  JSON.parse(JSON.stringify(body).replace(',{"type":"compaction_trigger"}', ''));

for (const stream of [true, false]) {
  test.serial(`a host that ignores the request is asked for a summary, ${stream ? 'streamed' : 'whole'}`, async (t) => {
    const vendor = await serveVendor(ignoringVendor, 'key');
    t.teardown(vendor.close);
    // With a stage, the answer is converted; without one, it is relayed.
    const stage = { name: 'enhancetool' };
    for (const transformers of [[], [stage]]) {
      const openai = { name: 'openai', options: { api: 'responses' } };
      const one = await startGateway({
        LOG: false,
        Providers: [{ name: 'p', baseUrl: vendor.url, apiKey: 'key', models: ['m'] }],
        transformers: [openai, ...transformers].map((entry) => ({ ...entry, provider: 'p' })),
      });
      t.teardown(one.stop);
      const { responses } = new OpenAI({ baseURL: `${one.baseUrl}/v1`, apiKey: 'k', maxRetries: 0 });
      const long = `${'word '.repeat(8_000)}the end`;
      const input: Item[] = [...conversation, { role: 'user', content: long }, { type: 'compaction_trigger' }];
      const before = vendor.requests.length;
      // The second time, the host isn't asked for what it ignores.
      for (const sent of [2, 3]) {
        const items = stream
          ? (await responses.stream({ model: 'm', input }).finalResponse()).output
          : (await responses.create({ model: 'm', input })).output;
        const [item, ...more] = items;
        t.is(item?.type === 'compaction' && openSummary(item.encrypted_content), hello.trim());
        t.deepEqual(more, []);
        t.is(vendor.requests.length - before, sent);
        const asked = vendor.requests.at(-1)?.text ?? '';
        t.true(asked.includes(usualPrompt.slice(0, 20)) && asked.includes(long));
      }
    }
  });
}

test.serial('a long conversation that was likely to pass through is summarized whole', async (t) => {
  const long = `${'word '.repeat(8_000)}the end`;
  for (const name of ['responses', 'openai']) {
    const client = clientOf('/preset/native/v1');
    const model = modelAt(name);
    const { output } = await client.responses.compact({ model, input: long });
    t.like(output, [{ type: 'message', content: [{ text: long }] }, { type: 'compaction' }]);
    t.true(lastText(name).includes(long), name);
    const input: Item[] = [{ role: 'user', content: long }, { type: 'compaction_trigger' }];
    t.like((await client.responses.create({ model, input })).output, [{ type: 'compaction' }]);
    t.true(lastText(name).includes(long), name);
  }
});

test.serial('a missing model is the fault, not a missing path, and the path is asked again', async (t) => {
  const upstream = await startUpstream((_, count) =>
    count === 1
      ? jsonAnswer({ error: { message: 'No such model.', type: 'x', param: null, code: 'model_not_found' } }, 404)
      : jsonAnswer({ detail: 'Not Found' }, 404),
  );
  t.teardown(upstream.close);
  const one = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1/responses`, apiKey: 'k', models: ['m'] }],
  });
  t.teardown(one.stop);
  const { responses } = new OpenAI({ baseURL: `${one.baseUrl}/v1`, apiKey: 'k', maxRetries: 0 });
  for (let i = 0; i < 3; i += 1) await t.throwsAsync(responses.compact({ model: 'm', input: 'Hi' }));
  const path = '/v1/responses';
  t.deepEqual(
    upstream.requests.map(({ url }) => url),
    [`${path}/compact`, `${path}/compact`, path, path],
  );
});

test.serial('a preset has its own destination and prompt for summaries', async (t) => {
  for (const path of ['/preset/short/v1', '/preset/short']) {
    const { response } = await clientOf(path).responses.compact({ model: 'any', input: 'Hi' }).withResponse();
    t.is(response.headers.get('x-junctor-route'), 'groq,openai/gpt-oss-120b;compact');
    t.true(lastText('groq').includes('Be short.'));
  }
});

test.serial('faults of a compaction are those of a request', async (t) => {
  const post = async (path: string, body: unknown) => {
    const answer = await request(`${gateway.baseUrl}${path}`, { method: 'POST', body: JSON.stringify(body) });
    return { status: answer.statusCode, value: Object(await answer.body.json()) };
  };
  const sealed = { type: 'compaction', encrypted_content: 'gAAAAABsomebody-else' };
  const model = modelAt('openai');
  const before = Object.values(vendors).reduce((sum, { requests }) => sum + requests.length, 0);
  for (const [path, body, status, param] of [
    ['/v1/responses/compact', { model: 'nowhere', input: 'Hi' }, 400, 'model'],
    ['/responses/compact', { input: 'Hi' }, 400, 'model'],
    ['/v1/responses/compact', { model }, 400, 'input'],
    ['/v1/responses/compact', { model, input: [sealed] }, 400, 'input[0]'],
    ['/v1/responses/compact', { model, input: [], previous_response_id: 'resp_1' }, 400, 'previous_response_id'],
    ['/v1/responses', { model, input: [{ role: 'user', content: 'Hi' }, sealed] }, 400, 'input[1]'],
    ['/v1/responses', { model, input: [{ type: 'compaction_trigger' }] }, 400, 'input[0]'],
    ['/v1/responses/compact', { model, input: 'x'.repeat(100_001) }, 413, null],
  ] as const) {
    const { status: got, value } = await post(path, body);
    t.is(got, status, JSON.stringify(value));
    t.is(value.error.param, param, JSON.stringify(value));
  }
  t.is(
    Object.values(vendors).reduce((sum, { requests }) => sum + requests.length, 0),
    before,
  );
});

test.serial('what is no whole summary is a fault, before a stream and in it', async (t) => {
  const choices: Readonly<Record<string, object>> = {
    empty: { message: { role: 'assistant', content: ' ' }, finish_reason: 'stop' },
    cut: { message: { role: 'assistant', content: 'First' }, finish_reason: 'length' },
    refused: { message: { role: 'assistant', content: null, refusal: 'No.' }, finish_reason: 'stop' },
  };
  const upstream = await startUpstream(({ body }) => {
    const { model, stream } = Object(body);
    const choice = { index: 0, ...choices[model] };
    const reply = { id: 'c', model, created: 1, choices: [choice] };
    return stream
      ? {
          headers: { 'content-type': 'text/event-stream' },
          pieces: [
            `data: ${JSON.stringify({ ...reply, choices: [{ ...choice, delta: Object(choice).message }] })}\n\n`,
            'data: [DONE]\n\n',
          ],
        }
      : jsonAnswer({ ...reply, object: 'chat.completion' });
  });
  t.teardown(upstream.close);
  const one = await startGateway({
    LOG: false,
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: Object.keys(choices) }],
  });
  t.teardown(one.stop);
  const client = new OpenAI({ baseURL: `${one.baseUrl}/v1`, apiKey: 'k', maxRetries: 0 });
  for (const model of Object.keys(choices)) {
    await t.throwsAsync(client.responses.compact({ model, input: 'Hi' }), { message: /summar/ }, model);
    const stream = await client.responses.create({
      model,
      input: [{ role: 'user', content: 'Hi' }, { type: 'compaction_trigger' }],
      stream: true,
    });
    await t.throwsAsync(
      async () => {
        for await (const { type } of stream) t.not(type, 'response.output_item.done');
      },
      { message: /summar/ },
      model,
    );
  }
});
