import test from 'ava';
import { FaultError } from '../../../engine/model/fault.ts';
import { upstreamUrl } from '../../../engine/upstream/url.ts';
import { chat, headersOf, messages, pathOf, sent } from './rig.ts';

const urls: readonly (readonly [model: string, stream: boolean, base: string, url: string])[] = [
  ['gemini-2.5-flash', false, 'https://h', 'https://h/v1beta/models/gemini-2.5-flash:generateContent'],
  ['gemini-2.5-flash', true, 'https://h', 'https://h/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse'],
  ['models/gemini-x', false, 'https://h/v1beta', 'https://h/v1beta/models/gemini-x:generateContent'],
  ['tunedModels/mine', false, 'https://h/v1beta/', 'https://h/v1beta/tunedModels/mine:generateContent'],
  ['x/v2/evil', false, 'https://h/v1', 'https://h/v1/models/x/v2/evil:generateContent'],
  ['v1', false, 'https://h/v1', 'https://h/v1/models/v1:generateContent'],
  ['models/models', true, 'https://h', 'https://h/v1beta/models/models:streamGenerateContent?alt=sse'],
  ['%2e%2e/x:y#z\\', false, 'https://h', 'https://h/v1beta/models/%252e%252e/x%3Ay%23z%5C:generateContent'],
  ['$&{model}', false, 'https://h', 'https://h/v1beta/models/%24%26%7Bmodel%7D:generateContent'],
  ['a b?/c', false, 'https://h/v1beta/models', 'https://h/v1beta/models/a%20b%3F/c:generateContent'],
];

for (const [model, stream, base, url] of urls) {
  test(`the URL of ${model} below ${base}, ${stream ? 'streamed' : 'whole'}`, (t) => {
    t.is(upstreamUrl(new URL(base), pathOf('gemini', chat(model, { stream })), model).href, url);
  });
}

for (const model of [
  '',
  '.',
  '..',
  '../../evil',
  'tunedModels/../../x',
  'a//b',
  'a/',
  '/a',
  'models/',
  '\ud800',
  'a/\udc00b',
]) {
  test(`a model named ${JSON.stringify(model)} leads nowhere else: it is refused`, (t) => {
    const error = t.throws(() => upstreamUrl(new URL('https://h/v1'), pathOf('gemini', chat('x')), model), {
      instanceOf: FaultError,
    });
    t.like(error?.fault, { kind: 'invalid-request', param: 'model' });
  });
}

test('the key has a header of its own', (t) => {
  t.deepEqual(headersOf('gemini'), { 'x-goog-api-key': 'k' });
});

test('the configuration may say how schemas are written', (t) => {
  const tool = { name: 'f', input_schema: { type: 'object', properties: { a: { const: 1 } }, $schema: 'x' } };
  const asked = messages('gemini-2.5-flash', { tools: [tool] });
  const written = (schema: string): string =>
    JSON.stringify(sent('gemini', 'messages', asked, { options: { schema } }).body.tools);
  t.true(written('json').includes('parametersJsonSchema'));
  t.true(written('openapi').includes('"parameters":'));
  t.false(written('openapi').includes('$schema'));
});
