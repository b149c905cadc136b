import { readFileSync } from 'node:fs';
import test from 'ava';
import { isJsonObject, type JsonObject, parseJson } from '../../../engine/model/json/json.ts';
import type { ModelRequest } from '../../../engine/model/request.ts';
import { createTokenCounter } from '../../../engine/routing/tokens/encoder.ts';
import { hiddenTokens } from '../../../protocols/messages/count-tokens.ts';
import { decodeCountRequest } from '../../../protocols/messages/decode-request/decode-request.ts';
import { responsesClient } from '../../../protocols/responses/index.ts';

const { count } = createTokenCounter();
const root = new URL('../../../', import.meta.url);

const documented = new Map(
  [
    ...readFileSync(new URL('docs/notes/token-counts.md', root), 'utf8').matchAll(
      /^\| `([\w-]+)` \| (\d+) \| (\d+) \| ([+−]?[\d.]+) % \|$/gm,
    ),
  ].map(([, name = '', ...numbers]) => [name, numbers]),
);

const messages = (body: JsonObject): number => {
  const request = decodeCountRequest(body);
  return count(request) + hiddenTokens(request);
};
const responses = (body: JsonObject): number => count(responsesClient.decodeRequest(body));

const cases: readonly (readonly [name: string, estimate: (body: JsonObject) => number])[] = [
  ['anthropic-one-message', messages],
  ['anthropic-system', messages],
  ['anthropic-cache-control', messages],
  ['anthropic-thinking', messages],
  ['anthropic-configured-tools', messages],
  ['anthropic-tools-adaptive', messages],
  ['responses-text', responses],
  ['responses-tools', responses],
];

for (const [name, estimate] of cases) {
  test(`${name}: the estimate is as far off as docs/notes/token-counts.md says`, (t) => {
    const recorded = parseJson(readFileSync(new URL(`test/fixtures/count-tokens/${name}.json`, root), 'utf8'));
    if (!isJsonObject(recorded) || !isJsonObject(recorded.request) || !isJsonObject(recorded.response)) {
      return t.fail('the fixture has another form');
    }
    const real = Number(recorded.response.input_tokens);
    const ours = estimate(recorded.request);
    const off = Math.round((ours / real - 1) * 1000) / 10;
    const sign = off > 0 ? '+' : off < 0 ? '−' : '';
    t.deepEqual(documented.get(name), [String(real), String(ours), sign + Math.abs(off).toFixed(1)]);
    return t.true(Math.abs(ours - real) <= Math.max(4, real * 0.06), `${ours} for ${real}`);
  });
}

const base: ModelRequest = { model: 'm', system: [], turns: [], tools: [], stream: false };
const tool = { type: 'function', name: 't' } as const;
const hidden: readonly (readonly [string, Partial<ModelRequest>, number])[] = [
  ['nothing asked for, nothing hidden', {}, 0],
  ['tools, however many', { tools: [tool, { ...tool, name: 'u' }] }, 550],
  ['thinking', { reasoning: { mode: 'on' } }, 29],
  ['thinking as it sees fit', { reasoning: { mode: 'adaptive' } }, 29],
  ['no thinking', { reasoning: { mode: 'off' } }, 0],
  ['an effort alone', { reasoning: { effort: 'high' } }, 0],
  ['both', { tools: [tool], reasoning: { mode: 'on' } }, 579],
];
for (const [title, over, tokens] of hidden) {
  test(title, (t) => t.is(hiddenTokens({ ...base, ...over }), tokens));
}
