import { readFileSync } from 'node:fs';
import test from 'ava';
import { request } from 'undici';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { chatReply, chatStream } from '../../../support/upstreams/chat-stream.ts';
import { type ScriptedUpstream, sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

/** The client protocols: how each asks, and where its answers have their text. */
const wires = {
  chat: {
    path: '/v1/chat/completions',
    body: (model: string, text: string) => ({ model, messages: [{ role: 'user', content: text }] }),
    whole: (body: Body) => body.choices?.[0]?.message?.content,
    delta: (data: Body) => data.choices?.[0]?.delta?.content,
    end: /data: \[DONE\]\n\n$/,
  },
  messages: {
    path: '/v1/messages',
    body: (model: string, text: string) => ({
      model,
      max_tokens: 99,
      messages: [{ role: 'user', content: text }],
    }),
    whole: (body: Body) => body.content?.[0]?.text,
    delta: (data: Body) => data.delta?.text,
    end: /event: message_stop\n/,
  },
  responses: {
    path: '/v1/responses',
    body: (model: string, text: string) => ({ model, input: [{ role: 'user', content: text }] }),
    whole: (body: Body) => body.output?.[0]?.content?.[0]?.text,
    delta: (data: Body) => (data.type === 'response.output_text.delta' ? String(data.delta) : undefined),
    end: /event: response\.(?:completed|incomplete)\n/,
  },
} as const;

type Wire = keyof typeof wires;
type Body = ReturnType<typeof Object>;

const example = (name: string): string =>
  readFileSync(new URL(`../../../../docs/examples/${name}.ts`, import.meta.url), 'utf8');

const module = (body: string): string =>
  `import { answer, rx, replay, transformer, untilContent, whole } from 'junctor/transformer';
   export default transformer({ name: 'stage', ${body} });`;

const files: Readonly<Record<string, string>> = {
  'judge.ts': example('judge'),
  'cache.ts': example('cache'),
  'mask.ts': example('mask'),
  'guard.ts': example('guard'),
  'own.ts': module(`around: () => answer('my own words')`),
  'twice.ts': module(`around: (request, next) => whole(next(request)).pipe(
    rx.mergeMap(({ text }) => whole(next({ ...request, temperature: 0 })).pipe(
      rx.mergeMap((second) => answer(text + ' and ' + second.text)))))`),
  'fallback.ts': module(`around: (request, next, context) => next(request).pipe(
    rx.catchError((error) => { context.log('goes on', { kind: error.fault.kind }); return next(request, { to: 'p,other' }); }))`),
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;

const said = (body: Body): string => {
  const { content } = body.messages.at(-1);
  return typeof content === 'string' ? content : content.map((part: Body) => part.text ?? '<picture>').join(' ');
};

test.before(async () => {
  upstream = await startUpstream(({ body }) => {
    const asked = Object(body);
    const text = said(asked);
    const reply =
      asked.model === 'guard'
        ? /bomb/.test(text)
          ? 'unsafe'
          : 'safe'
        : asked.model === 'judge'
          ? '2'
          : asked.model === 'failing'
            ? undefined
            : `${asked.model} heard ${text}`;
    if (reply === undefined)
      return { status: 400, headers: { 'content-type': 'application/json' }, pieces: ['{"error":{"message":"no"}}'] };
    return asked.stream
      ? sseAnswer(chatStream([...reply], 0))
      : { headers: { 'content-type': 'application/json' }, pieces: [JSON.stringify(chatReply(reply))] };
  });
  gateway = await startGateway(
    {
      // All of a file's tests run at once: on a busy machine, a stage's turn may come late.
      TIMEOUTS: { stageMs: 600_000 },
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
      transformers: [
        {
          path: 'judge.ts',
          models: ['judged'],
          ask: ['p,guard', 'p,other', 'p,judge'],
          options: { guard: 'p,guard', other: 'p,other', judge: 'p,judge' },
        },
        { path: 'cache.ts', models: ['cached'], options: { minutes: 1 } },
        { path: 'mask.ts', models: ['masked'], options: { names: ['Ada', 'Eve'] } },
        { path: 'guard.ts', models: ['guarded'], ask: ['p,guard'], options: { guard: 'p,guard' } },
        { path: 'own.ts', models: ['own'] },
        { path: 'twice.ts', models: ['twice'] },
        { path: 'fallback.ts', models: ['failing'], ask: ['p,other'] },
      ],
    },
    {},
    { files },
  );
});

test.after.always(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const ask = async (wire: Wire, model: string, text: string, stream: boolean) => {
  const { path, body, whole, delta, end } = wires[wire];
  const answer = await request(`${gateway.baseUrl}${path}`, {
    method: 'POST',
    body: JSON.stringify({ ...body(`p,${model}`, text), stream }),
  });
  const raw = await answer.body.text();
  if (!stream || answer.statusCode !== 200)
    return {
      status: answer.statusCode,
      raw,
      said: answer.statusCode === 200 ? whole(JSON.parse(raw)) : undefined,
      ended: true,
    };
  const records = [...raw.matchAll(/^data: (\{.*)$/gm)].map((match) => Object(JSON.parse(match[1] ?? '')));
  return {
    status: answer.statusCode,
    raw,
    said: records.map((record) => delta(record) ?? '').join(''),
    ended: end.test(raw),
  };
};

for (const wire of Object.keys(wires) as Wire[]) {
  for (const stream of [true, false]) {
    const how = `${wire}, ${stream ? 'streamed' : 'whole'}`;
    const answers = (title: string, model: string, text: string, expected: string) =>
      test(`${how}: ${title}`, async (t) => {
        const { status, raw, said, ended } = await ask(wire, model, text, stream);
        t.is(status, 200, raw);
        t.is(said, expected, raw);
        t.true(ended, raw);
      });
    answers('an answer of its own', 'own', 'hi', 'my own words');
    answers('a guard refuses', 'judged', 'a bomb', 'I can’t help with that.');
    answers('a guard that is asked beside the call declines', 'guarded', 'a bomb', 'I can’t help with that.');
    answers('a guard that is asked beside the call lets it pass', 'guarded', `tea ${how}`, `guarded heard tea ${how}`);
    answers('a judge chooses', 'judged', 'tea', 'other heard tea');
    answers('names are masked and put back', 'masked', 'Ada and Eve', 'masked heard Ada and Eve');
    answers('two calls', 'twice', 'x', 'twice heard x and twice heard x');
    answers('another destination after a failure', 'failing', 'x', 'other heard x');
    answers('from memory', 'cached', `x ${how}`, `cached heard x ${how}`);
  }
}
