import test from 'ava';
import { request } from 'undici';
import { chatStream } from '../../../support/chat-stream.ts';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { type ScriptedUpstream, sseAnswer, startUpstream } from '../../../support/upstream.ts';

/** Operators that keep to their contract: they may take their time, and are blamed for nothing that others do. */
const limitMs = 600;

const events: Readonly<Record<string, string>> = {
  delays: 'rx.concatMap((batch) => rx.of(batch).pipe(rx.delay(30)))',
  promises: 'rx.concatMap(async (batch) => batch)',
  splits: 'rx.concatMap((batch) => batch.map((event) => [event]))',
  gathers: '(source) => source.pipe(rx.startWith([]), rx.scan((all, batch) => [...all, ...batch], []), rx.last())',
  'gathers-aloud': `(source) => {
    const shared = source.pipe(rx.share());
    return rx.merge(shared.pipe(rx.map(() => [])), shared.pipe(rx.reduce((all, batch) => [...all, ...batch], [])));
  }`,
};

let upstream: ScriptedUpstream;
let gateway: TestGateway;

test.before(async () => {
  upstream = await startUpstream(({ body }) => {
    const { content } = Object(body).messages.at(-1);
    if (content === 'break') return sseAnswer(['data: {"choices":[{"delta":{"content":"one"}}]}\n\n', 20], 'reset');
    return sseAnswer(chatStream(['one ', 'two ', 'three'], content === 'slow' ? limitMs * 2 : 5));
  });
  const source = (name: string, operator: string): string =>
    `import { rx } from 'switchyard/transformer';
     export default { name: '${name}', operators: { events: ${operator}, request: rx.delay(20) } };`;
  gateway = await startGateway(
    {
      LOG: false,
      TIMEOUTS: { stageMs: limitMs },
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: Object.keys(events) }],
      transformers: Object.keys(events).map((name) => ({ path: `${name}.mjs`, models: [name] })),
    },
    {},
    {
      files: Object.fromEntries(
        Object.entries(events).map(([name, operator]) => [`${name}.mjs`, source(name, operator)]),
      ),
    },
  );
});

test.after.always(async () => {
  await gateway?.stop();
  await upstream?.close();
});

const ask = async (model: string, content: string) => {
  const answer = await request(`${gateway.baseUrl}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: `p,${model}`, stream: true, messages: [{ role: 'user', content }] }),
  });
  const text = await answer.body.text();
  const pieces = [...text.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1]);
  return { text, said: pieces.join('') };
};

for (const name of Object.keys(events)) {
  test(`${name}: the answer is whole`, async (t) => {
    const { text, said } = await ask(name, 'quick');
    t.is(said, 'one two three', text);
    t.regex(text, /data: \[DONE\]\n\n$/);
  });

  test(`${name}: an upstream that breaks off is the upstream's fault`, async (t) => {
    const { text } = await ask(name, 'break');
    t.notRegex(text, /Transformer/);
    t.regex(text, /"error":\{/);
    t.notRegex(text, /\[DONE\]/);
  });
}

for (const name of ['delays', 'promises', 'splits', 'gathers-aloud']) {
  test(`${name}: an upstream that is slower than the stage's limit is not the stage's fault`, async (t) => {
    const { text, said } = await ask(name, 'slow');
    t.is(said, 'one two three', text);
    t.regex(text, /data: \[DONE\]\n\n$/);
  });
}

test('an operator that collects silently is late', async (t) => {
  t.true(
    (await ask('gathers', 'slow')).text.includes(
      `Transformer \\"gathers\\" emitted nothing for ${limitMs} ms after a batch`,
    ),
  );
});
