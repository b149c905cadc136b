import test from 'ava';
import { request } from 'undici';
import { isJsonObject, type Json } from '../../../engine/model/json/json.ts';
import { membersWithoutAttribution, withoutAttribution } from '../../../protocols/messages/attribution.ts';
import { formats } from '../../../transformers/index.ts';
import { startGateway } from '../../support/gateway.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

const line = 'x-anthropic-billing-header: cc_version=2.1.332.a1b; cc_entrypoint=sdk-cli; cch=0f0f0;';
const block = (text: string, more: object = {}) => ({ type: 'text', text, ...more });
const marked = { cache_control: { type: 'ephemeral' } };

const texts: readonly (readonly [text: string, left: string])[] = [
  [line, ''],
  [`${line}\n\nYou are a coder.`, 'You are a coder.'],
  [`${line}\nx-anthropic-other: 1\nYou are a coder.`, 'You are a coder.'],
  [`You are a coder.\n${line}`, `You are a coder.\n${line}`],
  [`About ${line}`, `About ${line}`],
  ['', ''],
];
for (const [text, left] of texts) {
  test(`an instruction without what is for its vendor: ${JSON.stringify(text)}`, (t) => {
    t.is(withoutAttribution(text), left);
    t.deepEqual(membersWithoutAttribution({ system: text }), text === left ? undefined : { system: left });
  });
}

const asking = (first: string, size: number) =>
  `{"model":"p,some-model", "max_tokens":9,"system":${JSON.stringify([
    block(first),
    block('You are a coder.', marked),
    block('B'.repeat(size), marked),
  ])} ,"messages":[ {"role":"user","content":"h\\u00e9"} ],"stream":false,"unknown":12345678901234567890}`;

for (const format of ['anthropic', 'openai', 'gemini', 'deepseek', 'groq', 'openrouter']) {
  for (const size of [10, 40_000]) {
    test(`${format}: two conversations' instructions are the same bytes, ${size}`, async (t) => {
      const upstream = await startUpstream(() => jsonAnswer({}, 400));
      const gateway = await startGateway({
        LOG: false,
        Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: [] }],
        transformers: [{ name: format, provider: 'p' }],
      });
      t.teardown(async () => {
        await gateway.stop();
        await upstream.close();
      });
      const post = async (body: string): Promise<string> => {
        const answer = await request(`${gateway.baseUrl}/v1/messages`, { method: 'POST', body });
        t.is(answer.headers['x-junctor-loss']?.includes('system[0]') ?? false, false);
        await answer.body.dump();
        return upstream.requests.at(-1)?.text ?? '';
      };
      const first = await post(asking(line, size));
      t.is(await post(asking(line.replace('a1b', 'c2d'), size)), first);
      t.false(first.includes('x-anthropic'));
      t.true(first.includes('You are a coder.') && first.includes('B'.repeat(size)));
      if (format !== 'anthropic') return;
      // Everything else passes as it came.
      const asked = asking(line, size);
      const system: Json | undefined = JSON.parse(asked).system;
      const left = JSON.stringify(Array.isArray(system) ? system.slice(1) : undefined);
      t.is(first, asked.replace(JSON.stringify(system), left).replace('p,some-model', 'some-model'));
      t.true(isJsonObject(JSON.parse(first)));
    });
  }
}

test('only Anthropic’s own host reads it', (t) => {
  const reads = (baseUrl: string): boolean =>
    formats.get('anthropic')?.protocol({ baseUrl: new URL(baseUrl), options: {}, model: 'm', relays: undefined })
      .readsAttribution ?? false;
  t.true(reads('https://api.anthropic.com'));
  t.false(reads('https://openrouter.ai/api'));
  for (const [name, { protocol }] of formats) {
    if (name === 'anthropic') continue;
    const upstream = protocol({ baseUrl: new URL('https://a.example'), options: {}, model: 'm', relays: undefined });
    t.falsy(upstream.readsAttribution, name);
  }
});

/** What Claude Code sends in auto mode. */
const context = {
  v: 1,
  permission_mode: 'auto',
  live_cwd: '/home/ann/x',
  home_dir: '/home/ann',
  rule_roots: ['/home/ann/.claude'],
};
const safeguards = [
  { type: 'dangerous_tool_use', classifier_context: context },
  { type: 'newer', on: true },
];

for (const size of [10, 40_000]) {
  for (const lacks of [[], ['sampling']]) {
    test(`what a vendor's classifier learns of the user's machine stays with it: ${size}, ${lacks}`, async (t) => {
      const upstream = await startUpstream(() =>
        jsonAnswer({
          type: 'message',
          id: 'i',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: 'end_turn',
          usage: {},
        }),
      );
      const gateway = await startGateway({
        LOG: false,
        Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: [{ name: 'm', lacks }] }],
        transformers: [{ name: 'anthropic', provider: 'p' }],
      });
      t.teardown(async () => {
        await gateway.stop();
        await upstream.close();
      });
      const messages = [{ role: 'user', content: 'C'.repeat(size) }];
      const body = { model: 'p,m', max_tokens: 9, temperature: 0.5, messages, safeguards };
      const answer = await request(`${gateway.baseUrl}/v1/messages`, { method: 'POST', body: JSON.stringify(body) });
      await answer.body.dump();
      const sent = upstream.requests[0];
      t.false(sent?.text.includes('/home/ann'));
      t.like(sent?.body, { messages, safeguards: [{ type: 'dangerous_tool_use' }, { type: 'newer', on: true }] });
      t.is(answer.statusCode, 200);
      t.regex(String(answer.headers['x-junctor-loss']), /safeguards/);
    });
  }
}
