import test from 'ava';
import { isJsonObject, type JsonObject } from '../../engine/model/json/json.ts';
import { type ClientName, messages, sent } from '../transformers/formats/rig.ts';

/** One rule for each kind of content and each forced tool, whichever client sends it and wherever it goes. */
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const data = (mediaType: string, text: string): string => `data:${mediaType};base64,${base64(text)}`;
const words = 'a,b: Łódź';

const file = (mediaType: string, filename: string): JsonObject => ({
  model: 'some-model',
  input: [{ role: 'user', content: [{ type: 'input_file', filename, file_data: data(mediaType, words) }] }],
});
const document = (source: JsonObject): JsonObject =>
  messages('some-model', { messages: [{ role: 'user', content: [{ type: 'document', title: 'a.csv', source }] }] });

type Sent = readonly [kind: string, client: ClientName, body: JsonObject];

const texts: readonly Sent[] = [
  ...['text/csv', 'text/plain', 'application/json', 'application/xml', 'application/yaml', 'application/ld+json'].map(
    (type): Sent => [type, 'responses', file(type, 'a.csv')],
  ),
  ['bytes that are named as a text', 'responses', file('application/octet-stream', 'a.csv')],
  ['a text', 'messages', document({ type: 'text', media_type: 'text/plain', data: words })],
];

const upstreams = ['openai', 'openrouter', 'deepseek', 'groq', 'anthropic', 'gemini'] as const;

for (const [kind, client, body] of texts) {
  for (const vendor of upstreams) {
    test(`${kind} from ${client} to ${vendor} is its text, with its name`, (t) => {
      const out = sent(vendor, client, body);
      const text = JSON.stringify(out.body);
      // Gemini reads the data of texts itself.
      const asData = vendor === 'gemini' && text.includes(base64(words));
      t.true(text.includes('a.csv') && (asData || text.includes(words)), text);
      t.is(
        vendor === 'anthropic' || asData || out.losses.some((loss) => /^~(?:input|messages)\[0\]/.test(loss)),
        true,
        out.losses.join(),
      );
    });
  }
}

const images: readonly (readonly [vendor: (typeof upstreams)[number], member: string])[] = [
  ['openai', 'image_url'],
  ['openrouter', 'image_url'],
  ['anthropic', '"type":"image"'],
  ['gemini', 'inlineData'],
];

for (const [vendor, member] of images) {
  test(`a file that is an image is an image to ${vendor}`, (t) => {
    t.true(JSON.stringify(sent(vendor, 'responses', file('image/png', 'a.png')).body).includes(member));
  });
}

for (const vendor of ['openai', 'deepseek', 'groq', 'gemini'] as const) {
  test(`bytes that nothing is known of are refused on the way to ${vendor}`, (t) => {
    t.throws(() => sent(vendor, 'responses', file('application/zip', 'a.zip')), { message: /input\[0\]/ });
  });
}

const search = { type: 'web_search_20250305', name: 'web_search' };
const forced = messages('some-model', { tools: [search], tool_choice: { type: 'tool', name: 'web_search' } });
const forcedBeside = messages('some-model', {
  tools: [search, { name: 'f', input_schema: { type: 'object', properties: {} } }],
  tool_choice: { type: 'tool', name: 'web_search' },
});
const forcedType = {
  model: 'some-model',
  input: 'Hi.',
  tools: [{ type: 'web_search' }],
  tool_choice: { type: 'web_search' },
};

test('a forced search is a type over Responses', (t) => {
  for (const body of [forced, forcedBeside]) {
    const out = sent('openai', 'messages', body, { options: { api: 'responses' } });
    t.deepEqual(out.body.tool_choice, { type: 'web_search' });
    t.deepEqual(out.losses, []);
  }
});

test('a forced code tool is its counterpart over Responses', (t) => {
  const body = messages('some-model', {
    tools: [{ type: 'code_execution_20250825', name: 'code_execution' }],
    tool_choice: { type: 'tool', name: 'code_execution' },
  });
  const out = sent('openai', 'messages', body, { options: { api: 'responses' } });
  t.deepEqual(out.body.tool_choice, { type: 'code_interpreter' });
});

test('a forced search is a plugin at OpenRouter, and the choice a loss', (t) => {
  for (const [client, body] of [
    ['messages', forced],
    ['messages', forcedBeside],
    ['responses', forcedType],
  ] as const) {
    const out = sent('openrouter', client, body);
    t.deepEqual(out.body.plugins, [{ id: 'web' }]);
    t.true(out.body.tool_choice === undefined || out.body.tool_choice === 'auto');
    t.true(out.losses.includes('~tool_choice'), out.losses.join());
  }
});

test('a forced search of a Responses client is named toward Messages', (t) => {
  const out = sent('anthropic', 'responses', { ...forcedType, model: 'claude-opus-5' });
  t.deepEqual(out.body.tool_choice, { type: 'tool', name: 'web_search' });
});

test("a namespace's description goes before those of its tools", (t) => {
  const tool = { type: 'function', name: 'f', description: 'Finds.', parameters: { type: 'object', properties: {} } };
  const custom = { type: 'custom', name: 'g', description: 'Writes.' };
  const tools = [{ type: 'namespace', name: 'mcp__docs', description: 'The docs.', tools: [tool, custom] }];
  const body = { model: 'some-model', input: 'Hi.', tools };
  for (const vendor of ['openai', 'anthropic', 'gemini'] as const) {
    const out = sent(vendor, 'responses', body);
    const text = JSON.stringify(out.body);
    t.true(text.includes(JSON.stringify('The docs.\n\nFinds.')), text);
    t.true(text.includes('The docs.\\n\\nWrites.'), text);
    t.false(
      out.losses.some((loss) => loss.includes('description')),
      out.losses.join(),
    );
  }
  const own = sent('openai', 'responses', body, { options: { api: 'responses' } });
  const [group] = Array.isArray(own.body.tools) ? own.body.tools : [];
  t.true(isJsonObject(group));
  t.like(group, { type: 'namespace', description: 'The docs.', tools: [{ description: 'Finds.' }] });
});
