import { AssertionError } from 'node:assert';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import cache from '../../../docs/examples/cache.ts';
import judge from '../../../docs/examples/judge.ts';
import mask from '../../../docs/examples/mask.ts';
import { everyCut, everyLeave, testStage } from '../../../engine/testing-api.ts';
import { fail, machine, rx, type StageContext, Type, transformer } from '../../../engine/transformer-api.ts';

const example = (name: string): URL => new URL(`../../../docs/examples/${name}.ts`, import.meta.url);

const masked = { stage: mask, options: { names: ['Ada'] }, request: 'Who is Ada?', answer: '[[0]] was a countess.' };

test('mask: before and after, every cut, every leave', async (t) => {
  const tried = await testStage(masked);
  t.is(tried.stage, 'mask');
  t.like(tried.request.before.turns, { 0: { parts: { 0: { text: 'Who is Ada?' } } } });
  t.like(tried.request.after?.turns, { 0: { parts: { 0: { text: 'Who is [[0]]?' } } } });
  t.is(tried.text, 'Ada was a countess.');
  t.is(tried.finish, 'end');
  t.deepEqual(
    tried.events.before.flat().flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])),
    ['[[0]] ', 'was ', 'a ', 'countess.'],
  );
  t.is(tried.calls.length, 1);
  t.is(tried.fault, undefined);
  t.true((await everyCut(masked)) > 20);
  t.true((await everyLeave(masked)) > 5);
});

test('a file is loaded as the gateway does it, from a path or an address', async (t) => {
  const { text } = await testStage({ ...masked, stage: example('mask') });
  t.is(text, 'Ada was a countess.');
  t.is((await testStage({ ...masked, stage: fileURLToPath(example('mask')) })).text, text);
});

test('judge: what it may ask stands in, and each call is told', async (t) => {
  const given = {
    stage: judge,
    options: { guard: 'p,guard', other: 'p,other', judge: 'p,judge' },
    answer: 'one',
    ask: { 'p,guard': 'safe', 'p,other': 'two', 'p,judge': '2' },
  };
  const tried = await testStage(given);
  t.is(tried.text, 'two');
  t.deepEqual(
    tried.calls.map(({ kind, to }) => [kind, to]),
    [
      ['ask', 'p,guard'],
      ['next', undefined],
      ['next', 'p,other'],
      ['ask', 'p,judge'],
    ],
  );
  const refused = await testStage({ ...given, ask: { ...given.ask, 'p,guard': async () => 'unsafe' } });
  t.like(refused, { text: 'I can’t help with that.', finish: 'filtered', request: { after: undefined } });
  t.true((await everyLeave(given)) > 10);
  t.true((await everyCut(given)) > 3);
});

test('cache: the memory of one test is what the next begins with', async (t) => {
  let asked = 0;
  const answers = ['', 'four'];
  const given = {
    stage: cache,
    options: { minutes: 1 },
    request: 'Two and two?',
    answer: () => answers[asked++] ?? '',
  };
  const first = await testStage(given);
  t.is(first.text, 'four');
  const second = await testStage({ ...given, memory: first.memory });
  t.is(second.text, 'four');
  t.deepEqual(second.log, [{ text: 'answered from memory', fields: {} }]);
  t.is(asked, 2);
  t.deepEqual(second.calls, []);
});

test('the context is what the test says', async (t) => {
  const seen: StageContext[] = [];
  const stage = transformer({
    name: 'see',
    request(request, _options, losses, context) {
      seen.push(context);
      losses.approximate('temperature', 'to see');
      context.log('seen', { tokens: context.spent().usage.input ?? 0 });
      return request;
    },
  });
  const tried = await testStage({
    stage,
    client: { wire: 'messages', key: 'kim', session: 's1', preset: 'work', headers: { 'X-Team': 'blue' } },
    target: { provider: 'p', model: 'm', input: ['text'], window: 9_000 },
    spent: { usage: { input: 7 } },
  });
  const [context] = seen;
  t.like(context, {
    client: { wire: 'messages', path: '/v1/messages', key: 'kim', session: 's1', preset: 'work' },
    target: { provider: 'p', model: 'm', input: ['text'], window: 9_000, attempt: 1 },
  });
  t.is(context?.client.header('x-team'), 'blue');
  t.true(context?.signal.aborted);
  t.like(tried, {
    losses: [{ path: 'temperature', outcome: 'approximated', step: 'see', note: 'to see' }],
    log: [{ text: 'seen', fields: { tokens: 7 } }],
  });
});

test('a call half: the HTTP request before and after', async (t) => {
  const stage = transformer({ name: 'tag', call: () => ({ headers: { 'x-tag': 'a' }, body: { tag: 'b' } }) });
  const { call } = await testStage({ stage });
  t.is(call?.before.headers['x-tag'], undefined);
  t.is(call?.before.body.tag, undefined);
  t.is(call?.after.headers['x-tag'], 'a');
  t.is(call?.after.body.tag, 'b');
  t.like(call?.after.body, { model: 'model', messages: [{ role: 'user', content: 'Hello!' }] });
});

test('an error that is meant is a result, and so is that of the provider', async (t) => {
  const refusing = transformer({ name: 'refuse', request: () => fail('invalid-request', 'no pictures, please') });
  t.like((await testStage({ stage: refusing })).fault, { kind: 'invalid-request', message: 'no pictures, please' });
  const passing = transformer({ name: 'pass', operators: () => ({ events: (source) => source }) });
  const failed = await testStage({ stage: passing, answer: () => fail('upstream-overloaded', 'busy') });
  t.like(failed, { fault: { kind: 'upstream-overloaded' }, text: '' });
});

test('a client that goes ends the run', async (t) => {
  const leave = new AbortController();
  const stage = transformer({
    name: 'slow',
    operators: () => ({
      request: (source, { signal }) => source.pipe(rx.takeUntil(rx.fromEvent(signal, 'abort')), rx.delay(600_000)),
    }),
  });
  const trying = testStage({ stage, signal: leave.signal, limitMs: 500_000 });
  leave.abort();
  t.like(await trying, { text: '', finish: undefined });
});

/** Stages that aren't as they must be, and what is said of them. */
const broken: readonly (readonly [what: string, stage: object, says: RegExp])[] = [
  ['no stage', {}, /^The stage can't be used: it has no name$/],
  ['nothing in it', transformer({ name: 'x' }), /The stage can't be used: it has none of a request half/],
  [
    'a request half that throws',
    transformer({
      name: 'x',
      request() {
        throw new RangeError('too far');
      },
    }),
    /^Transformer "x" failed on the request: RangeError: too far/,
  ],
  [
    'a change in place',
    transformer({
      name: 'x',
      request(request) {
        Object.assign(request, { model: 'other' });
        return request;
      },
    }),
    /^Transformer "x" failed on the request: .*read only.* It changes what it was given in place/,
  ],
  [
    'a change in place, around',
    transformer({
      name: 'x',
      around(request, next) {
        Object.assign(request, { model: 'other' });
        return next(request);
      },
    }),
    /^Transformer "x" failed in around: .*read only.* It changes what it was given in place/,
  ],
  [
    'a change of the events in place',
    transformer({
      name: 'x',
      operators: () => ({
        events: rx.map((batch) => {
          for (const event of batch) Object.assign(event, { seen: true });
          return batch;
        }),
      }),
    }),
    /^Transformer "x" failed on the answer: .*not extensible.* It changes what it was given in place/,
  ],
  [
    'an answer without end',
    transformer({ name: 'x', operators: () => ({ events: (source) => source.pipe(rx.take(1)) }) }),
    /^Transformer "x" omitted the end of the answer/,
  ],
  [
    'a request that never comes',
    transformer({ name: 'x', operators: () => ({ request: () => rx.NEVER }) }),
    /^Transformer "x" did not finish with the request within 50 ms/,
  ],
  [
    'an answer that never comes',
    transformer({ name: 'x', operators: () => ({ events: () => rx.NEVER }) }),
    /^Transformer "x" (?:gave no end|did not end|emitted nothing)/,
  ],
  [
    'an around that never answers',
    transformer({ name: 'x', around: () => rx.NEVER }),
    /^Transformer "x" failed in around: it emitted nothing for 50 ms/,
  ],
  [
    'an answer that goes on and on',
    transformer({
      name: 'x',
      around: (request, next) =>
        rx.concat(
          next(request).pipe(rx.take(2)),
          rx.interval(1).pipe(rx.map(() => [{ type: 'text-delta', index: 0, text: 'on ' } as const])),
        ),
    }),
    /^Transformer "x" gave no end of its answer within 100 ms/,
  ],
  [
    'a question without leave',
    transformer({
      name: 'x',
      async around(request, next, context) {
        await context.ask('p,else', 'May I?');
        return next(request);
      },
    }),
    /^Transformer "x" failed in ask\("p,else"\): has no leave/,
  ],
];

for (const [what, stage, says] of broken) {
  test(`testStage: ${what}`, async (t) => {
    // A user's module may export anything.
    const error = await t.throwsAsync(testStage({ ...Object({ stage }), limitMs: 50 }));
    t.true(error instanceof AssertionError);
    t.regex(error.message, says);
    t.notRegex(error.message, /\n/);
  });
}

test('options that don’t match the schema are named', async (t) => {
  const stage = transformer({
    name: 'x',
    options: Type.Object({ words: Type.Array(Type.String()) }),
    request: (request) => request,
  });
  const error = await t.throwsAsync(testStage({ stage, options: { words: [1] } }));
  t.regex(error.message, /The stage can't be used: .*options\.words\[0\]/s);
});

test('an answer that no provider gives is the test’s mistake', async (t) => {
  const error = await t.throwsAsync(
    testStage({ ...masked, answer: [{ type: 'text-delta', index: 0, text: 'in the middle' }] }),
  );
  t.regex(error.message, /^The answer to the call, event 1, isn't what a provider's can be: it gave text-delta before/);
});

const unmask = transformer({
  name: 'careless',
  operators: () => ({
    events: rx.map((batch) =>
      batch.map((event) =>
        event.type === 'text-delta' ? { ...event, text: event.text.replaceAll('[[0]]', 'Ada') } : event,
      ),
    ),
  }),
});

test('everyCut names the cut that makes a difference', async (t) => {
  const answer = 'I think that [[0]] was a countess.';
  t.is((await testStage({ stage: unmask, answer })).text, 'I think that Ada was a countess.');
  const error = await t.throwsAsync(everyCut({ stage: unmask, answer }));
  t.true(error instanceof AssertionError);
  t.regex(
    error.message,
    /^Transformer "careless" makes a difference if the model's answer comes a character at a time/,
  );
});

test('everyCut: calls and thinking are cut, and a stage that counts batches is found', async (t) => {
  const answer = [
    { type: 'message-start', id: 'a', model: 'm' },
    { type: 'block-start', index: 0, block: { type: 'thinking' } },
    { type: 'thinking-delta', index: 0, text: 'Hm 🐢' },
    { type: 'block-stop', index: 0 },
    { type: 'block-start', index: 1, block: { type: 'tool-call', id: 'c', name: 'look' } },
    { type: 'input-delta', index: 1, json: '{"at":"x"}' },
    { type: 'block-stop', index: 1 },
    { type: 'message-stop', finish: 'tool-call', usage: {} },
  ] as const;
  const passing = transformer({
    name: 'pass',
    events: () => machine({ initial: () => 0, step: (_, event, out) => void out.push(event) }),
  });
  // 7 places between events, 3 in the thinking, 9 in the arguments.
  t.is(await everyCut({ stage: passing, answer }), 19);
  const counting = transformer({
    name: 'count',
    operators: () => ({
      events: rx.map((batch, index) =>
        batch.map((event) => (event.type === 'message-stop' ? { ...event, usage: { output: index } } : event)),
      ),
    }),
  });
  t.regex(
    (await t.throwsAsync(everyCut({ stage: counting, answer }))).message,
    /"count" makes a difference .* an event at a time/,
  );
});

/** Stages that leave something behind, and what. */
const leaking: readonly (readonly [what: string, stage: Parameters<typeof everyLeave>[0]['stage'], says: RegExp])[] = [
  [
    'a timer that only the end of the answer clears',
    transformer({
      name: 'x',
      operators: () => ({
        events(source) {
          const timer = setTimeout(() => undefined, 30_000);
          timers.push(timer);
          return source.pipe(rx.tap({ complete: () => clearTimeout(timer) }));
        },
      }),
    }),
    /^Transformer "x" leaves a timer of 30000 ms behind if its client goes once the call was made/,
  ],
  [
    'an interval that nothing ends',
    transformer({
      name: 'x',
      request(request) {
        const every = setInterval(() => undefined, 20_000);
        every.unref();
        timers.push(every);
        return request;
      },
    }),
    /^Transformer "x" leaves a timer of 20000 ms.* behind after its answer has ended/,
  ],
  [
    'a call that goes on without its client',
    transformer({
      name: 'x',
      around: (request, next) =>
        new rx.Observable((subscriber) => {
          next(request).subscribe(subscriber);
          return () => undefined;
        }).pipe(
          (source) =>
            new rx.Observable(
              (to) => void source.subscribe({ next: (batch) => to.next(batch as []), complete: () => to.complete() }),
            ),
        ),
    }),
    /^Transformer "x" leaves the call behind if its client goes once the call was made/,
  ],
];
const timers: NodeJS.Timeout[] = [];
test.after.always(() => {
  for (const every of timers) clearInterval(every);
});

for (const [what, stage, says] of leaking) {
  test(`everyLeave: ${what}`, async (t) => {
    const error = await t.throwsAsync(everyLeave({ stage, answer: 'Two words' }));
    t.true(error instanceof AssertionError);
    t.regex(error.message, says);
  });
}

test('everyLeave: what ends with the client is nothing to tell', async (t) => {
  const stage = transformer({
    name: 'x',
    operators: () => ({
      events: (source) => source.pipe(rx.concatMap((batch) => rx.timer(1).pipe(rx.map(() => batch)))),
    }),
  });
  t.true((await everyLeave({ stage })) > 5);
});
