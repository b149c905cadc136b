import test from 'ava';
import type { JsonObject } from '../../engine/model/json/json.ts';
import { jsonAnswer } from '../support/upstreams/upstream.ts';
import { overGateway } from './over-gateway.ts';
import { at, type ClientName, clientNames, hear, send } from './rig.ts';
import { candidate } from './vendor-words.ts';

const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A function with these parameters, as each client declares it. */
const declare = (client: ClientName, parameters: JsonObject, name = 'f'): JsonObject =>
  ({
    messages: { tools: [{ name, input_schema: parameters }] },
    chat: { tools: [{ type: 'function', function: { name, parameters } }] },
    responses: { tools: [{ type: 'function', name, parameters, strict: false }] },
  })[client];

/** Keywords that Gemini's own schema language has. Source: Gemini API reference, "Schema". */
const geminiKeywords = new Set([
  ...['type', 'format', 'title', 'description', 'nullable', 'enum', 'maxItems', 'minItems', 'properties', 'required'],
  ...['minProperties', 'maxProperties', 'minLength', 'maxLength', 'pattern', 'example', 'anyOf', 'propertyOrdering'],
  ...['default', 'items', 'minimum', 'maximum'],
]);

const keywordsIn = (schema: unknown): string[] => {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([keyword, value]) => {
    if (keyword === 'properties') return [keyword, ...Object.values(value).flatMap(keywordsIn)];
    if (keyword === 'items') return [keyword, ...keywordsIn(value)];
    return keyword === 'anyOf' ? [keyword, ...list(value).flatMap(keywordsIn)] : [keyword];
  });
};

const wildSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  additionalProperties: false,
  propertyNames: { pattern: '^[a-z]+$' },
  properties: {
    count: { type: 'integer', exclusiveMinimum: 0, multipleOf: 2 },
    kind: { const: 'only' },
    pair: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
    tree: { $ref: '#/$defs/node' },
    when: { type: 'string', format: 'date-time' },
    link: { type: 'string', format: 'uri' },
    either: { oneOf: [{ type: 'string' }, { type: 'null' }] },
    many: { type: ['string', 'number'] },
    none: { not: { type: 'string' }, type: 'number' },
  },
  required: ['count', 'kind'],
  $defs: { node: { type: 'object', properties: { name: { type: 'string' }, next: { $ref: '#/$defs/node' } } } },
};

for (const client of clientNames) {
  for (const model of ['gemini-2.0-flash', 'gemini-1.5-pro']) {
    test(`Q1: Gemini gets none of the schema keywords that it refuses: ${client}, ${model}`, (t) => {
      const { body } = send(client, 'gemini', declare(client, wildSchema), model);
      const schema = at(body, 'tools', 0, 'functionDeclarations', 0, 'parameters');
      t.deepEqual(
        keywordsIn(schema).filter((keyword) => !geminiKeywords.has(keyword)),
        [],
      );
      t.is(at(schema, 'properties', 'count', 'type'), 'INTEGER');
      t.deepEqual(at(schema, 'properties', 'kind', 'enum'), ['only']);
      t.is(at(schema, 'properties', 'tree', 'properties', 'name', 'type'), 'STRING', 'references are written out');
      t.deepEqual(at(schema, 'required'), ['count', 'kind']);
    });
  }

  test(`Q2: a schema that lists a name twice as required does so once: ${client} → anthropic`, (t) => {
    const { body } = send(
      client,
      'anthropic',
      declare(client, { type: 'object', properties: { x: { type: 'string' } }, required: ['x', 'x'] }),
    );
    t.deepEqual(at(body, 'tools', 0, 'input_schema', 'required'), ['x']);
  });

  test(`Q2: a schema without a type becomes an object: ${client} → anthropic`, (t) => {
    const { body } = send(client, 'anthropic', declare(client, {}));
    t.is(at(body, 'tools', 0, 'input_schema', 'type'), 'object');
  });
}

const limits: Readonly<Record<ClientName, readonly JsonObject[]>> = {
  messages: [{ max_tokens: 321 }],
  chat: [{ max_tokens: 321 }, { max_completion_tokens: 321 }],
  responses: [{ max_output_tokens: 321 }],
};
const limitNames: Readonly<Record<string, readonly string[]>> = {
  anthropic: ['max_tokens'],
  responses: ['max_output_tokens'],
  gemini: ['generationConfig', 'maxOutputTokens'],
  deepseek: ['max_tokens'],
  openrouter: ['max_tokens'],
  groq: ['max_completion_tokens'],
  openai: ['max_tokens'],
};

for (const client of clientNames) {
  for (const body of limits[client]) {
    for (const [upstream, path] of Object.entries(limitNames)) {
      test(`Q3, Q4: the limit goes out under the vendor's name: ${client} ${Object.keys(body)} → ${upstream}`, (t) => {
        const { body: sent, text } = send(client, upstream, body);
        t.is(at(sent, ...path), 321);
        t.is(text.match(/max\w*_tokens|maxOutputTokens/gi)?.length, 1, 'one name alone');
      });
    }
    test(`Q3: OpenAI's own servers get max_completion_tokens: ${client} ${Object.keys(body)}`, (t) => {
      const { body: sent } = send(client, 'openai', body, 'gpt-5', 'https://api.openai.com/v1');
      t.deepEqual([sent.max_completion_tokens, sent.max_tokens], [321, undefined]);
    });
  }
}

const wholeReply = {
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
};

test("Q3: a limit above the model's maximum is capped if configured", async (t) => {
  const transformers = [
    { name: 'openai', provider: 'p' },
    { name: 'maxtoken', provider: 'p', options: { max_tokens: 77 } },
  ];
  await overGateway(
    t,
    'openai',
    () => jsonAnswer(wholeReply),
    async ({ post, upstream }) => {
      await post('messages', { max_tokens: 100_000 });
      t.is(at(upstream.requests.at(-1)?.body, 'max_tokens'), 77);
      await post('messages', { max_tokens: 50 });
      t.is(at(upstream.requests.at(-1)?.body, 'max_tokens'), 50);
    },
    { transformers },
  );
});

test('Q4: Anthropic demands a limit: without one it gets a default', (t) => {
  for (const client of ['chat', 'responses'] as const) {
    t.true(Number(send(client, 'anthropic', {}).body.max_tokens) >= 1_024);
  }
});

for (const [upstream, path] of [
  ['anthropic', ['stop_sequences']],
  ['gemini', ['generationConfig', 'stopSequences']],
  ['openai', ['stop']],
  ['deepseek', ['stop']],
] as const) {
  test(`Q5: stop is an array, if the client wrote one text: ${upstream}`, (t) => {
    t.deepEqual(at(send('chat', upstream, { stop: 'END' }).body, ...path), ['END']);
    t.deepEqual(at(send('chat', upstream, { stop: ['A', 'B'] }).body, ...path), ['A', 'B']);
  });
}

for (const client of clientNames) {
  for (const upstream of ['openai', 'deepseek', 'openrouter', 'groq']) {
    test(`Q5: stream_options is sent only with stream: ${client} → ${upstream}`, (t) => {
      t.is(send(client, upstream, {}).body.stream_options, undefined);
      t.deepEqual(send(client, upstream, { stream: true }).body.stream_options, { include_usage: true });
    });
  }
}

const userOf: Readonly<Record<ClientName, JsonObject>> = {
  messages: { metadata: { user_id: 'user_x' } },
  chat: { user: 'user_x', metadata: { a: 'b' }, prompt_cache_key: 'key' },
  responses: { user: 'user_x', metadata: { a: 'b' }, prompt_cache_key: 'key' },
};

for (const client of clientNames) {
  for (const upstream of ['deepseek', 'groq', 'gemini', 'anthropic']) {
    test(`Q6: who doesn't know metadata and cache keys doesn't get them: ${client} → ${upstream}`, (t) => {
      const { body, losses } = send(client, upstream, userOf[client]);
      t.is(body.prompt_cache_key, undefined);
      if (upstream === 'anthropic') t.deepEqual(body.metadata, { user_id: 'user_x' });
      else t.is(body.metadata, undefined);
      if (upstream === 'deepseek') t.is(body.user_id, 'user_x');
      if (client !== 'messages') {
        t.true(losses.includes('metadata') && losses.includes('prompt_cache_key'), losses.join());
      }
    });
  }
}

const pixel = 'iVBORw0KGgo=';
const address = 'https://images.example/x.jpg';
const pictured = (client: ClientName, url: string): JsonObject => {
  const [, mediaType, data] = /^data:([^;]+);base64,(.*)$/.exec(url) ?? [];
  const source = data === undefined ? { type: 'url', url } : { type: 'base64', media_type: mediaType ?? '', data };
  return {
    messages: { messages: [{ role: 'user', content: [{ type: 'image', source }] }] },
    chat: { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
    responses: { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url, detail: 'auto' }] }] },
  }[client];
};
const seen: Readonly<Record<string, (body: JsonObject) => unknown>> = {
  anthropic: (body) => at(body, 'messages', 0, 'content', 0, 'source'),
  openai: (body) => at(body, 'messages', 0, 'content', 0, 'image_url', 'url'),
  responses: (body) => at(body, 'input', 0, 'content', 0, 'image_url'),
  gemini: (body) => at(body, 'contents', 0, 'parts', 0, 'inlineData'),
};

for (const client of clientNames) {
  for (const mediaType of ['image/png', 'image/jpeg', 'image/webp']) {
    test(`Q7: an image keeps its bytes and its media type: ${client}, ${mediaType}`, (t) => {
      const url = `data:${mediaType};base64,${pixel}`;
      const read = (upstream: string) => seen[upstream]?.(send(client, upstream, pictured(client, url)).body);
      t.deepEqual(read('anthropic'), { type: 'base64', media_type: mediaType, data: pixel });
      t.is(read('openai'), url);
      t.is(read('responses'), url);
      t.deepEqual(read('gemini'), { mimeType: mediaType, data: pixel });
    });
  }

  test(`Q7: an image's address stays one: ${client}`, (t) => {
    const read = (upstream: string) => seen[upstream]?.(send(client, upstream, pictured(client, address)).body);
    t.deepEqual(read('anthropic'), { type: 'url', url: address });
    t.is(read('openai'), address);
    t.is(read('responses'), address);
  });

  test(`Q7: images have a route of their own, and do without one: ${client}`, async (t) => {
    const image = pictured(client, `data:image/png;base64,${pixel}`);
    const bare = { ...image, model: 'anything' };
    const script = () => jsonAnswer(wholeReply);
    await overGateway(t, 'openai', script, async ({ post }) => {
      const got = await post(client, bare);
      t.deepEqual([got.status, got.headers['x-junctor-route']], [200, 'p,m;default']);
    });
    const Router = { default: 'p,m', routes: { image: 'p,eyes' } };
    await overGateway(
      t,
      'openai',
      script,
      async ({ post, upstream }) => {
        const got = await post(client, bare);
        t.is(got.headers['x-junctor-route'], 'p,eyes;image');
        t.is(at(upstream.requests.at(-1)?.body, 'model'), 'eyes');
      },
      { Router },
    );
  });
}

const turns = (...written: readonly (readonly [role: string, content: string])[]): JsonObject => ({
  messages: written.map(([role, content]) => ({ role, content })),
});
const rolesOf = (body: JsonObject): unknown[] => list(body.messages ?? body.contents).map((turn) => at(turn, 'role'));

test('Q8: consecutive turns of one role are merged if the vendor requires it', (t) => {
  const body = turns(['user', 'a'], ['user', 'b'], ['assistant', 'c'], ['assistant', 'd'], ['user', 'e']);
  t.deepEqual(rolesOf(send('chat', 'anthropic', body).body), ['user', 'assistant', 'user']);
  t.deepEqual(rolesOf(send('chat', 'gemini', body).body), ['user', 'model', 'user']);
  const compatible = send('chat', 'openai', body);
  t.deepEqual(rolesOf(compatible.body), ['user', 'assistant', 'user']);
  for (const both of ['a\\n\\nb', 'c\\n\\nd']) t.true(compatible.text.includes(`"${both}"`));
  for (const upstream of ['anthropic', 'gemini', 'responses']) {
    const { text } = send('chat', upstream, body);
    for (const word of 'abcde') t.true(text.includes(`"${word}"`), `${word} → ${upstream}`);
  }
});

const beginsWithCall: JsonObject = {
  messages: [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'ok' },
  ],
  ...declare('chat', { type: 'object' }),
};

test('Q8: a conversation that begins with the model gets a user turn first if the vendor requires it', (t) => {
  t.is(rolesOf(send('chat', 'gemini', beginsWithCall).body)[0], 'user');
  for (const upstream of ['anthropic', 'openai']) {
    const { text } = send('chat', upstream, turns(['assistant', 'Hello.'], ['user', 'hi']));
    t.true(text.includes('Hello.'), upstream);
  }
});

test('Q8: a last turn of the model goes out last, without white space at its end', (t) => {
  const body = turns(['user', 'a'], ['assistant', 'It is \n']);
  for (const client of ['messages', 'chat'] as const) {
    const { body: sent } = send(client, 'anthropic', body);
    t.deepEqual(at(sent, 'messages', -1, 'content'), [{ type: 'text', text: 'It is' }]);
    t.is(rolesOf(send(client, 'gemini', body, 'gemini-3.1-pro-preview').body).at(-1), 'model');
    t.is(rolesOf(send(client, 'gemini', body, 'gemini-4-neon').body).at(-1), 'user', 'it refuses to continue');
  }
});

test('Q8: empty turns and texts stay behind', (t) => {
  const { body } = send('chat', 'anthropic', turns(['user', 'a'], ['assistant', ''], ['user', 'b']));
  t.deepEqual(rolesOf(body), ['user']);
  t.false(JSON.stringify(body).includes('"text":""'));
});

for (const [format, forwarded] of [
  ['anthropic', true],
  ['openai', false],
  ['deepseek', false],
  ['openrouter', false],
  ['gemini', false],
] as const) {
  test(`Q9: anthropic-beta goes to Anthropic only, unknown flags included: ${format}`, async (t) => {
    const beta = 'made-up-beta-2031-01-01,interleaved-thinking-2025-05-14';
    await overGateway(
      t,
      format,
      () => jsonAnswer(wholeReply),
      async ({ post, upstream }) => {
        await post('messages', {}, { 'anthropic-beta': beta, 'anthropic-version': '2023-06-01' });
        const headers = upstream.requests.at(-1)?.headers ?? {};
        t.is(headers['anthropic-beta'], forwarded ? beta : undefined);
        t.is(headers['anthropic-version'], forwarded ? '2023-06-01' : undefined);
      },
    );
  });
}

for (const format of ['anthropic', 'openai', 'gemini']) {
  test(`Q10: length and host match the upstream request: ${format}`, async (t) => {
    await overGateway(
      t,
      format,
      () => jsonAnswer(wholeReply),
      async ({ post, upstream }) => {
        const body = { messages: [{ role: 'user', content: 'żółw 🐢 '.repeat(1_000) }] };
        await post('messages', body, { 'x-api-key': 'client-key', te: 'trailers' });
        const seenThere = upstream.requests.at(-1);
        t.is(Number(seenThere?.headers['content-length']), Buffer.byteLength(seenThere?.text ?? ''));
        t.is(seenThere?.headers.host, `127.0.0.1:${upstream.port}`);
        t.false(JSON.stringify(seenThere?.headers).includes('client-key'));
        t.true(seenThere?.text.includes('żółw 🐢 żółw 🐢'));
      },
    );
  });
}

const longName = `mcp__some-server.with.dots__${'very_long_tool_name_'.repeat(4)}`;
const nameOf: Readonly<Record<string, (body: JsonObject) => unknown>> = {
  anthropic: (body) => at(body, 'tools', 0, 'name'),
  openai: (body) => at(body, 'tools', 0, 'function', 'name'),
  responses: (body) => at(body, 'tools', 0, 'name'),
  gemini: (body) => at(body, 'tools', 0, 'functionDeclarations', 0, 'name'),
};

for (const client of clientNames) {
  for (const [upstream, read] of Object.entries(nameOf)) {
    test(`Q11: a name that the vendor refuses goes out as a safe one, everywhere the same: ${client} → ${upstream}`, (t) => {
      const history = callHistory(client, longName, 'call_1');
      const { body, text } = send(client, upstream, { ...declare(client, { type: 'object' }, longName), ...history });
      const name = String(read(body));
      t.regex(name, /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/);
      t.false(text.includes(longName));
      t.true(text.split(`"${name}"`).length > 2, 'the call in the history has it as well');
    });
  }

  test(`Q11: an id that Anthropic refuses goes out as a safe one, on the call and its result: ${client}`, (t) => {
    const id = `functions.f:0|${'x'.repeat(80)}`;
    const history = callHistory(client, 'f', id);
    const { body } = send(client, 'anthropic', { ...declare(client, { type: 'object' }), ...history });
    const [called, answered] = [
      at(body, 'messages', 1, 'content', 0, 'id'),
      at(body, 'messages', 2, 'content', 0, 'tool_use_id'),
    ];
    t.is(called, answered);
    t.regex(String(called), /^[a-zA-Z0-9_-]+$/);
  });

  test(`Q11: an id over 64 characters fits where OpenAI limits it: ${client}`, (t) => {
    const history = callHistory(client, 'f', `toolu_${'x'.repeat(80)}`);
    const { body } = send(client, 'responses', { ...declare(client, { type: 'object' }), ...history });
    const ids = list(body.input).flatMap((item) => at(item, 'call_id') ?? []);
    t.is(ids.length, 2);
    t.is(ids[0], ids[1]);
    t.true(String(ids[0]).length <= 64, String(ids[0]));
  });
}

function callHistory(client: ClientName, name: string, id: string): JsonObject {
  return {
    messages: {
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [{ type: 'tool_use', id, name, input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
      ],
    },
    chat: {
      messages: [
        { role: 'user', content: 'go' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: id, content: 'ok' },
      ],
    },
    responses: {
      input: [
        { role: 'user', content: 'go' },
        { type: 'function_call', call_id: id, name, arguments: '{}' },
        { type: 'function_call_output', call_id: id, output: 'ok' },
      ],
    },
  }[client];
}

test('Q11: the reply gives the client its own name back', async (t) => {
  const script = ({ body }: { readonly body: unknown }) =>
    jsonAnswer({
      ...wholeReply,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [
              {
                id: 'call_1',
                type: 'function',
                function: { name: at(body, 'tools', 0, 'function', 'name'), arguments: '{}' },
              },
            ],
          },
          finish_reason: 'tool_calls',
        },
      ],
    });
  await overGateway(t, 'openai', script, async ({ post }) => {
    for (const client of clientNames) {
      const { text } = await post(client, declare(client, { type: 'object' }, longName));
      t.true(text.includes(`"name":"${longName}"`), `${client}: ${text}`);
    }
  });
});

test('Q1: what Gemini answers with such a tool is a call like any other', (t) => {
  const call = { functionCall: { name: 'f', args: { count: 2, kind: 'only' } } };
  t.deepEqual(hear('gemini', 'chat', [candidate([call], 'STOP')]).facts.toolCalls[0]?.input, call.functionCall.args);
});
