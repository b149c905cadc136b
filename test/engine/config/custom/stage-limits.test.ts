import test from 'ava';
import { startGateway, type TestGateway } from '../../../support/gateway.ts';
import { chatReply, chatStream } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, type ScriptedUpstream, sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';
import { askBy, ways } from '../../../support/ways.ts';

const api = `import { answer, rx, transformer, whole } from 'junctor/transformer';\n`;

/** Stages that never go on, in each form that can wait, and what the client reads once the entry's limit is over. */
const hanging: Readonly<Record<string, readonly [source: string, message: RegExp]>> = {
  request: [
    `transformer({ name: 's', operators: () => ({ request: () => rx.NEVER }) })`,
    /did not finish .* within 40 ms/,
  ],
  events: [
    `transformer({ name: 's', operators: () => ({ events: (source) => source.pipe(rx.ignoreElements(), rx.mergeWith(rx.NEVER)) }) })`,
    /(?:emitted nothing for|did not end within) 40 ms/,
  ],
  class: [
    `class Slow { name = 's'; get operators() { return { request: () => rx.NEVER }; } }\nexport default new Slow()`,
    /did not finish .* within 40 ms/,
  ],
  around: [`transformer({ name: 's', around: () => rx.NEVER })`, /emitted nothing for 40 ms/],
  asking: [
    `transformer({ name: 's', async around(request, next, context) { await context.ask('p,silent', 'x'); return next(request); } })`,
    /(?:no whole answer within 40 ms|emitted nothing for 40 ms)/,
  ],
};

/** Stages that take longer than the limit of all, and less than their own. */
const slow: Readonly<Record<string, string>> = {
  request: `transformer({ name: 's', operators: () => ({ request: rx.delay(150) }) })`,
  events: `transformer({ name: 's', operators: () => ({ events: rx.concatMap((batch) => rx.of(batch).pipe(rx.delay(150))) }) })`,
  around: `transformer({ name: 's', around: async (request, next) => { await rx.firstValueFrom(rx.timer(150)); return next(request); } })`,
};

const moduleOf = (source: string): string =>
  api + (source.includes('export default') ? source : `export default ${source};`);

let upstream: ScriptedUpstream;
let short: TestGateway;
let long: TestGateway;

test.before(async () => {
  upstream = await startUpstream(({ body }) => {
    const asked = Object(body);
    if (asked.model === 'silent') return 'never';
    return asked.stream ? sseAnswer(chatStream(['one ', 'two'])) : jsonAnswer(chatReply('one two'));
  });
  const start = (stageMs: number, timeoutMs: number, sources: Readonly<Record<string, string>>) =>
    startGateway(
      {
        TIMEOUTS: { stageMs },
        RETRY: { attempts: 0 },
        Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m', ...Object.keys(sources)] }],
        transformers: Object.keys(sources).map((name) => ({
          path: `${name}.mjs`,
          models: [name],
          timeoutMs,
          ...(name === 'asking' && { ask: ['p,silent'] }),
        })),
      },
      {},
      {
        files: Object.fromEntries(Object.entries(sources).map(([name, source]) => [`${name}.mjs`, moduleOf(source)])),
      },
    );
  const sources = Object.fromEntries(Object.entries(hanging).map(([name, [source]]) => [name, source]));
  short = await start(600_000, 40, sources);
  long = await start(20, 600_000, slow);
});

test.after.always(async () => {
  await short?.stop();
  await long?.stop();
  await upstream?.close();
});

for (const way of ways) {
  for (const [name, [, message]] of Object.entries(hanging)) {
    test(`${way}: ${name} that hangs fails after its entry's limit`, async (t) => {
      const { raw, isWhole } = await askBy(t, short.baseUrl, way, { model: `p,${name}` });
      t.regex(raw, message);
      t.regex(raw, /Transformer "s" /);
      t.false(isWhole, raw);
    });
  }
  for (const name of Object.keys(slow)) {
    test(`${way}: ${name} may take longer than other stages`, async (t) => {
      const { raw, said, isWhole } = await askBy(t, long.baseUrl, way, { model: `p,${name}` });
      t.is(said, 'one two', raw);
      t.true(isWhole, raw);
    });
  }
}
