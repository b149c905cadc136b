import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { type OwnAnswer, type OwnQuestion, startOwn } from '../../engine/bench/own/start-own.ts';
import { ownFolder } from '../../engine/bench/targets/junctor.ts';
import type { Additions } from '../../engine/bench/targets/target.ts';
import { isJsonObject, parseJson } from '../../engine/model/json/json.ts';

const onLinux = process.platform === 'linux' ? test : test.skip;

/** The pair with a conversion both ways. */
const pair = { client: 'messages', upstream: 'chat' } as const;

/** Asks one service after the other, and ends it. */
const asked = async (
  additions: Additions,
  setup: Pick<Parameters<typeof startOwn>[1], 'client' | 'upstream'>,
  questions: readonly OwnQuestion[],
): Promise<readonly OwnAnswer[]> => {
  const own = startOwn(ownFolder, { ...setup, additions });
  try {
    const answers: OwnAnswer[] = [];
    for (const question of questions) answers.push(await own.ask(question));
    await own.ask({ type: 'stop' });
    return answers;
  } finally {
    own.stop();
  }
};

/** Processor time that the stage spends on each request, in microseconds, and what it allocates, in bytes. */
const spent = { us: 4_000, bytes: 400_000 };

/** A stage that counts: it spends that, and sends its count along. */
const stage = `
let count = 0;
globalThis.benchHeld = undefined;
export default {
  name: 'spin',
  request(request) {
    const { user, system } = process.cpuUsage();
    globalThis.benchHeld = Array.from({ length: ${spent.bytes / 8} }, () => count);
    for (;;) {
      const now = process.cpuUsage();
      if (now.user + now.system - user - system >= ${spent.us}) break;
    }
    count += 1;
    return { ...request, temperature: count / 1000 };
  },
};
`;

onLinux('what a stage spends is seen as that much, for each request once', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'own-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'spin.js');
  await writeFile(path, stage);
  const questions: readonly OwnQuestion[] = [
    { type: 'requests', count: 300, clients: 8, bytes: 1_400 },
    { type: 'requests', count: 100, clients: 8, bytes: 1_400 },
  ];
  const without = await asked({}, pair, questions);
  const having = await asked({ transformers: [{ path, provider: 'yard' }], folders: [folder] }, pair, questions);
  t.deepEqual(
    [...without, ...having].map(({ units, check }) => [units, check?.fault]),
    [300, 100, 300, 100].map((units) => [units, undefined]),
  );
  const [plain, spun] = [without[1], having[1]];
  if (!plain || !spun) return t.fail();
  const body = parseJson(spun.check?.sent ?? '');
  t.is(isJsonObject(body) ? body.temperature : undefined, 0.4);
  // What the whole service takes beside it is a small share.
  for (const [what, share] of [
    ['all threads', (spun.allUs - plain.allUs) / spun.units / spent.us],
    ['the thread that serves', (spun.mainUs - plain.mainUs) / spun.units / spent.us],
    ['allocated', (spun.allocated.bytes - plain.allocated.bytes) / spun.units / spent.bytes],
  ] as const)
    t.true(share > 0.8 && share < 1.6, `${what}: ${share} of what was spent`);
  t.true(spun.mainUs <= spun.allUs * 1.05);
});

onLinux('requests are converted, and answers and streams compared with what the provider sent', async (t) => {
  const pairs = [pair, { client: 'chat', upstream: 'gemini' }, { client: 'responses', upstream: 'responses' }] as const;
  const sent = { chat: 'messages', gemini: 'contents', responses: 'input' };
  for (const setup of pairs) {
    const answers = await asked({}, setup, [
      { type: 'requests', count: 70, clients: 8, bytes: 1_400 },
      { type: 'requests', count: 9, clients: 4, bytes: 100_000 },
      { type: 'open', streams: 5 },
      { type: 'deltas', each: 1_500 },
      { type: 'deltas', each: 20 },
      { type: 'close' },
    ]);
    t.deepEqual(
      answers.map(({ units, check }) => [units, check?.fault]),
      [70, 9, 5, 7_500, 100, 5].map((units) => [units, undefined]),
    );
    const body = parseJson(answers[0]?.check?.sent ?? '');
    t.true(isJsonObject(body) && Array.isArray(body[sent[setup.upstream]]), setup.upstream);
  }
});

/** Fewer deltas than the simulated provider has different ones of: its last records repeat the whole text. */
const fewDeltas = 30;

onLinux('a stream that ends early has only what was sent in its last records', async (t) => {
  for (const client of ['chat', 'responses'] as const) {
    const answers = await asked({}, { client, upstream: 'responses' }, [
      { type: 'open', streams: 3 },
      { type: 'deltas', each: fewDeltas },
      { type: 'close' },
    ]);
    t.deepEqual(
      answers.map(({ units, check }) => [units, check?.fault]),
      [3, 3 * fewDeltas, 3].map((units) => [units, undefined]),
      client,
    );
  }
});

onLinux('an answer that is changed is found', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'own-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const path = join(folder, 'change.js');
  await writeFile(
    path,
    `import { rx } from 'junctor/transformer';
     const other = (event) => (event.type === 'text-delta' ? { ...event, text: 'other' } : event);
     export default { name: 'change', operators: { events: rx.map((events) => events.map(other)) } };`,
  );
  const [answer] = await asked({ transformers: [{ path, provider: 'yard' }], folders: [folder] }, pair, [
    { type: 'requests', count: 3, clients: 1, bytes: 1_400 },
  ]);
  t.regex(answer?.check?.fault ?? '', /text of 5 characters/);
});
