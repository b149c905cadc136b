import test from 'ava';
import { request } from 'undici';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { chatStream } from '../../../support/upstreams/chat-stream.ts';
import { type ScriptedUpstream, sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

/** A limit of stages that a busy machine doesn't come near while one test runs in the process, in milliseconds. */
const limitMs = 2_000;

/** Operators that keep to their contract: they may take their time, and are blamed for nothing that others do. */
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
/** With the limit above. */
let gateway: TestGateway;
/** With the default limit, which no answer here comes near. */
let patient: TestGateway;

test.before(async () => {
  upstream = await startUpstream(({ body }) => {
    const { content } = Object(body).messages.at(-1);
    if (content === 'break') return sseAnswer(['data: {"choices":[{"delta":{"content":"one"}}]}\n\n', 20], 'reset');
    return sseAnswer(chatStream(['one ', 'two ', 'three'], content === 'slow' ? limitMs * 1.5 : 5));
  });
  const source = (name: string, operator: string): string =>
    `import { rx } from 'junctor/transformer';
     export default { name: '${name}', operators: { events: ${operator}, request: rx.delay(20) } };`;
  const files = Object.fromEntries(
    Object.entries(events).map(([name, operator]) => [`${name}.mjs`, source(name, operator)]),
  );
  const start = (TIMEOUTS: object): Promise<TestGateway> =>
    startGateway(
      {
        LOG: false,
        TIMEOUTS,
        Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: Object.keys(events) }],
        transformers: Object.keys(events).map((name) => ({ path: `${name}.mjs`, models: [name] })),
      },
      {},
      { files },
    );
  gateway = await start({ stageMs: limitMs });
  patient = await start({});
});

test.after.always(async () => {
  await gateway?.stop();
  await patient?.stop();
  await upstream?.close();
});

const ask = async ({ baseUrl }: TestGateway, model: string, content: string) => {
  const answer = await request(`${baseUrl}/v1/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: `p,${model}`, stream: true, messages: [{ role: 'user', content }] }),
  });
  const text = await answer.body.text();
  const pieces = [...text.matchAll(/"content":"([^"]*)"/g)].map((match) => match[1]);
  return { text, said: pieces.join('') };
};

for (const name of Object.keys(events)) {
  test(`${name}: the answer is whole`, async (t) => {
    const { text, said } = await ask(patient, name, 'quick');
    t.is(said, 'one two three', text);
    t.regex(text, /data: \[DONE\]\n\n$/);
  });

  test(`${name}: an upstream that breaks off is the upstream's fault`, async (t) => {
    const { text } = await ask(patient, name, 'break');
    t.notRegex(text, /Transformer/);
    t.regex(text, /"error":\{/);
    t.notRegex(text, /\[DONE\]/);
  });
}

test.serial(
  'an upstream that is slower than the limit is no fault of a stage, unless that collects silently',
  async (t) => {
    const late = `Transformer \\"gathers\\" emitted nothing for ${limitMs} ms after a batch`;
    const asked = Object.keys(events).map(async (name) => ({ name, ...(await ask(gateway, name, 'slow')) }));
    for (const { name, text, said } of await Promise.all(asked)) {
      if (name === 'gathers') {
        t.true(text.includes(late), text);
        continue;
      }
      t.is(said, 'one two three', text);
      t.regex(text, /data: \[DONE\]\n\n$/, name);
    }
  },
);
