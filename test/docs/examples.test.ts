import { readFile } from 'node:fs/promises';
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { request } from 'undici';
import maskWords from '../../docs/examples/mask-words.ts';
import type { ModelEvent } from '../../engine/model/event.ts';
import { runWhole } from '../../engine/model/machine.ts';
import { replyContext } from '../support/context.ts';
import { checkEvents } from '../support/events.ts';
import { startGateway } from '../support/gateway.ts';
import { stageContext } from '../support/stage-context.ts';
import { chatReply, chatStream } from '../support/upstreams/chat-stream.ts';
import { jsonAnswer, type Script, sseAnswer, startUpstream } from '../support/upstreams/upstream.ts';

/** The examples as they stand, put into a configuration's folder that has nothing else. */
const withExample = async (
  t: ExecutionContext,
  file: string,
  options: object,
  script: Script = () => jsonAnswer(chatReply('ok')),
) => {
  const source = await readFile(new URL(`../../docs/examples/${file}`, import.meta.url), 'utf8');
  const upstream = await startUpstream(script);
  t.teardown(upstream.close);
  const gateway = await startGateway(
    {
      LOG: false,
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
      transformers: [{ path: file, options }],
    },
    {},
    { files: { [file]: source } },
  );
  t.teardown(gateway.stop);
  t.deepEqual(gateway.reports, []);
  return {
    baseUrl: gateway.baseUrl,
    sent: () => upstream.requests.at(-1)?.body,
    post: async (path: string, body: object) => {
      const answer = await request(`${gateway.baseUrl}${path}`, {
        method: 'POST',
        body: JSON.stringify({ model: 'p,m', ...body }),
      });
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    },
  };
};

const hi = [{ role: 'user', content: 'Who is Ada?' }];

test('house-rules.ts rewrites the request', async (t) => {
  const { post, sent } = await withExample(t, 'house-rules.ts', { rules: 'Be brief.', maxTemperature: 0.5 });
  const got = await post('/v1/chat/completions', {
    messages: [{ role: 'system', content: 'Be kind.' }, ...hi],
    temperature: 1,
  });
  t.is(got.status, 200);
  t.is(got.headers['x-junctor-loss'], 'approximated: temperature');
  t.like(sent(), { temperature: 0.5 });
  t.regex(JSON.stringify(sent()), /Be brief\..*Be kind\..*Who is Ada\?/);
});

for (const [path, body] of [
  ['/v1/messages', { max_tokens: 9, messages: hi }],
  ['/v1/chat/completions', { messages: hi }],
  ['/v1/responses', { input: 'Who is Ada?' }],
] as const) {
  test(`mask-words.ts filters streams and whole replies of ${path}`, async (t) => {
    const { post } = await withExample(t, 'mask-words.ts', { words: ['Lovelace', 'count'] }, ({ body: asked }) =>
      Object(asked).stream
        ? sseAnswer(chatStream(['Ada Love', 'lace, coun', 'tess.']))
        : jsonAnswer(chatReply('Ada Lovelace, countess.')),
    );
    const streamed = await post(path, { ...body, stream: true });
    const texts = [...streamed.text.matchAll(/"(?:text|content|delta)":"([^"]*)"/g)].map((match) => match[1]);
    t.regex(texts.join(''), /Ada \*\*\*, \*\*\*ess\./);
    t.notRegex(streamed.text, /Love|lace|coun/);
    const whole = await post(path, body);
    t.regex(whole.text, /"Ada \*\*\*, \*\*\*ess\."/);
  });
}

test('mask-words.ts: the chunking makes no difference', (t) => {
  const stage = maskWords.configure({ words: ['ab', 'abc', 'x.y', '🐢'] });
  const masked = (pieces: readonly string[]): string => {
    const deltas = pieces
      .filter((text) => text !== '')
      .map((text) => ({ type: 'text-delta', index: 0, text }) as const);
    const events: ModelEvent[] = [
      { type: 'message-start', id: '', model: 'm' },
      { type: 'block-start', index: 0, block: { type: 'text' } },
      ...deltas,
      { type: 'block-stop', index: 0 },
      { type: 'message-stop', finish: 'end', usage: {} },
    ];
    const out = stage.events ? runWhole(stage.events, { ...replyContext(), stage: stageContext() }, events) : [];
    checkEvents(out);
    return out.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('');
  };
  t.is(masked(['xabcab x.yxzy🐢']), 'x****** ***xzy***');
  fc.assert(
    fc.property(fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'x', '.', 'y', '🐢') })), (pieces) => {
      t.is(masked(pieces), masked([pieces.join('')]));
    }),
  );
  t.pass();
});

test('look-up.ts asks a service, and waits for it', async (t) => {
  const service = await startUpstream(async ({ body }) => {
    await new Promise((resolve) => setTimeout(resolve, 30));
    return jsonAnswer({ known: `an answer to "${Object(body).question}"` });
  });
  t.teardown(service.close);
  const { post, sent } = await withExample(t, 'look-up.ts', { url: service.url });
  t.is((await post('/v1/messages', { max_tokens: 9, messages: hi })).status, 200);
  t.regex(JSON.stringify(sent()), /Known: an answer to \\"Who is Ada\?\\"/);
});

test('look-up.ts: a service that fails, fails the request under the name of the stage', async (t) => {
  const service = await startUpstream(() => jsonAnswer({}, 503));
  t.teardown(service.close);
  const { post, sent } = await withExample(t, 'look-up.ts', { url: service.url });
  const got = await post('/v1/messages', { max_tokens: 9, messages: hi });
  t.is(got.status, 500);
  t.regex(got.text, /Transformer \\"look-up\\" failed on the request/);
  t.is(sent(), undefined);
});

test('look-up.ts: a client that leaves takes the call to the service back', async (t) => {
  const service = await startUpstream(() => 'never');
  t.teardown(service.close);
  const { baseUrl } = await withExample(t, 'look-up.ts', { url: service.url });
  const leave = new AbortController();
  const asking = request(`${baseUrl}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify({ model: 'p,m', max_tokens: 9, messages: hi }),
    signal: leave.signal,
  });
  while (service.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  leave.abort();
  await t.throwsAsync(asking, { any: true });
  await service.requests[0]?.closed;
  t.pass();
});
