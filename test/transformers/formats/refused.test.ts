import test from 'ava';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import { startGateway } from '../../support/gateway.ts';
import type { HostBody } from '../../support/hosts/check.ts';
import { breachesOf } from '../../support/hosts/host-vendor.ts';
import { type StrictHost, strictHosts } from '../../support/hosts/hosts.ts';
import { chatReply, chatStream } from '../../support/upstreams/chat-stream.ts';
import { jsonAnswer, sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';
import { chat, functionTool, isRelayed, type Place, sent } from './rig.ts';

/*
 * A chat client's request passes to a host that speaks its format, unless it has what the host is known to refuse.
 */

const tool = functionTool('f', { parameters: { type: 'object', properties: { s: { type: 'string' } } } });
const withSchema = (schema: JsonObject): JsonObject => ({
  tools: [functionTool('f', { parameters: { type: 'object', properties: {}, ...schema } })],
});

/** What no host refuses. */
const plain: Readonly<Record<string, JsonObject>> = {
  'a text': {},
  tools: { tools: [tool], max_tokens: 900 },
};

/** What some hosts refuse. */
const members: Readonly<Record<string, JsonObject>> = {
  'usage of a stream': { stream: true, stream_options: { include_usage: true } },
  penalties: { presence_penalty: 0, frequency_penalty: 0 },
  'a penalty': { presence_penalty: 0.5 },
  'temperature and top_p': { temperature: 1, top_p: 1 },
  'temperature 0': { temperature: 0 },
  'stop sequences': { stop: ['END'] },
  'no storage': { store: false },
  'a strict tool': { tools: [functionTool('f', { parameters: { type: 'object', properties: {} }, strict: false })] },
  'no parallel calls': { tools: [tool], parallel_tool_calls: false },
  'a key of the cache': { prompt_cache_key: 'k' },
  'an unknown member': { made_up: true },
  'a list of texts': { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi.' }] }] },
  'a named schema': withSchema({ $schema: 'https://json-schema.org/draft/2020-12/schema' }),
  'a bound': withSchema({ properties: { n: { type: 'integer', exclusiveMinimum: 0 } } }),
  'no other members': withSchema({ additionalProperties: false }),
  'a list of types': withSchema({ properties: { s: { type: ['string', 'null'] } } }),
  alternatives: withSchema({ properties: { s: { oneOf: [{ type: 'string' }, { type: 'integer' }] } } }),
  'a type beside alternatives': withSchema({ properties: { s: { type: 'string', anyOf: [{ minLength: 1 }] } } }),
  ...Object.fromEntries(
    ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'].map((effort) => [
      `effort ${effort}`,
      { reasoning_effort: effort },
    ]),
  ),
};

const isHostBody = (body: JsonObject): body is JsonObject & HostBody => Array.isArray(body.messages);

const breaches = (host: StrictHost, body: JsonObject) => (isHostBody(body) ? breachesOf(host, body) : []);

/** What the hosts' rows say beyond the strict hosts of the tests. */
const alsoConverted: ReadonlySet<string> = new Set([
  'mistral: no parallel calls',
  "gemini's door: a type beside alternatives",
]);

/** What the hosts' rows don't say: a switch of their own takes the place of these words in conversions. The first refusal teaches them. */
const taughtInstead: ReadonlySet<string> = new Set(
  ['minimal', 'xhigh', 'max'].map((effort) => `dashscope: effort ${effort}`),
);

/** Hosts that are known by their names. */
const known = Object.entries<StrictHost>(strictHosts).filter(
  ([name, { baseUrl }]) => name !== 'openai' && !baseUrl.includes('.lan'),
);

for (const [name, host] of known) {
  const place: Place = { baseUrl: host.baseUrl, ...(host.options && { options: { ...host.options } }) };
  for (const [what, more] of Object.entries({ ...plain, ...members })) {
    test(`${name}: ${what}`, (t) => {
      for (const asked of [chat(host.model, more), chat(host.model, { stream: true, ...more })]) {
        const refused = breaches(host, asked);
        const row = `${name}: ${what}`;
        const passes = taughtInstead.has(row) || (refused.length === 0 && !alsoConverted.has(row));
        t.is(isRelayed('openai', asked, place), passes, JSON.stringify(refused));
        if (Object.hasOwn(plain, what)) t.true(passes);
        t.deepEqual(breaches(host, sent('openai', 'chat', asked, place).body), []);
      }
    });
  }
}

for (const stream of [false, true]) {
  test(`${stream ? 'streamed' : 'whole'}: a gateway converts what is refused, and tells the loss`, async (t) => {
    const upstream = await startUpstream(() =>
      stream ? sseAnswer(chatStream(['fine'])) : jsonAnswer(chatReply('fine')),
    );
    t.teardown(upstream.close);
    const gateway = await startGateway({
      LOG: false,
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
      transformers: [{ name: 'openai', provider: 'p', options: { host: 'cerebras' } }],
    });
    t.teardown(gateway.stop);
    const ask = async (more: string) => {
      const body = `{ "model": "m", "stream": ${stream}, ${more} "messages": [ { "role": "user", "content": "Hi." } ] }`;
      const asked = body.replace('"m"', '"p,m"');
      const answer = await fetch(`${gateway.baseUrl}/v1/chat/completions`, { method: 'POST', body: asked });
      const text = await answer.text();
      const sentText = upstream.requests.at(-1)?.text ?? '';
      return { status: answer.status, text, loss: answer.headers.get('x-junctor-loss'), body, sentText };
    };
    const usage = stream ? '"stream_options": {"include_usage": true},' : '';
    const passing = await ask(`${usage} "made_up": [1,  2],`);
    const large = await ask(`${usage} "made_up": "${'long '.repeat(10_000)}",`);
    const refused = await ask('"presence_penalty": 0.5, "frequency_penalty": 0, "made_up": true,');
    const largeRefused = await ask(`"presence_penalty": 0.5, "user": "${'long '.repeat(10_000)}",`);
    for (const { status, text } of [passing, large, refused, largeRefused]) {
      t.is(status, 200);
      t.regex(text, /fine/);
    }
    for (const { sentText, body, loss } of [passing, large]) {
      t.is(sentText, body);
      t.is(loss, null);
    }
    for (const { sentText, loss } of [refused, largeRefused]) {
      t.notRegex(sentText, /penalty/);
      t.regex(loss ?? '', /presence_penalty/);
    }
    t.regex(refused.sentText, /"made_up":true/);
  });
}
