import test from 'ava';
import { upstreamUrl } from '../../../engine/upstream/url.ts';
import { chat, headersOf, messages, pathOf, sent } from './rig.ts';

const urls: readonly (readonly [model: string, stream: boolean, base: string, url: string])[] = [
  ['gemini-2.5-flash', false, 'https://h', 'https://h/v1beta/models/gemini-2.5-flash:generateContent'],
  ['gemini-2.5-flash', true, 'https://h', 'https://h/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse'],
  ['models/gemini-x', false, 'https://h/v1beta', 'https://h/v1beta/models/gemini-x:generateContent'],
  ['tunedModels/mine', false, 'https://h/v1beta/', 'https://h/v1beta/tunedModels/mine:generateContent'],
  ['a b?/c', false, 'https://h/v1beta/models', 'https://h/v1beta/models/a%20b%3F/c:generateContent'],
];

for (const [model, stream, base, url] of urls) {
  test(`the URL of ${model} below ${base}, ${stream ? 'streamed' : 'whole'}`, (t) => {
    t.is(upstreamUrl(new URL(base), pathOf('gemini', chat(model, { stream }))).href, url);
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
