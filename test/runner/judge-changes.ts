import { setTimeout as wait } from 'node:timers/promises';
import { type Static, Type } from 'typebox';
import { Parse } from 'typebox/value';
import { changed, make, takeReached } from './changed.ts';
import { testsIn } from './sequential-test.ts';

/*
 * The process in which changes are judged: it loads test files of a program that carries the changes, and runs the tests that it
 * is asked to run.
 */

const Orders = Type.Union([
  /** Run all tests of a file without any change. */
  Type.Object({ kind: Type.Literal('survey'), file: Type.String() }),
  /** Run these tests with a change, until one fails. A test that takes longer than its limit, in milliseconds, fails. */
  Type.Object({
    kind: Type.Literal('judge'),
    number: Type.Number(),
    tests: Type.Array(
      Type.Object({ file: Type.String(), title: Type.String(), http: Type.String(), limitMs: Type.Number() }),
    ),
  }),
]);
export type Order = Static<typeof Orders>;

export const Replies = Type.Union([
  Type.Object({
    kind: Type.Literal('surveyed'),
    /** Changes whose places are reached while the file loads. */
    loaded: Type.Array(Type.Number()),
    tests: Type.Array(
      Type.Object({
        title: Type.String(),
        passed: Type.Boolean(),
        ms: Type.Number(),
        reached: Type.Array(Type.Number()),
      }),
    ),
  }),
  Type.Object({
    kind: Type.Literal('judged'),
    /** The test that failed. */
    by: Type.Optional(Type.String()),
    /** Whether a test reached the change: those that ran before may have filled a memo. */
    reached: Type.Boolean(),
    /** Whether the test that failed passes without the change: otherwise another cause may have failed it, which stays. */
    intact: Type.Boolean(),
  }),
]);
export type Reply = Static<typeof Replies>;

const surveyLimitMs = 60_000;

/** Runs a test to its end, or its limit. */
const passes = async (run: (() => Promise<void>) | undefined, limitMs: number): Promise<boolean> => {
  if (!run) return false;
  const limit = new AbortController();
  const late = wait(limitMs, false, { signal: limit.signal }).catch(() => false);
  const end = run().then(
    () => true,
    () => false,
  );
  return Promise.race([end, late]).finally(() => limit.abort());
};

/** @param load loads a test file's module */
export const judgeChanges = (load: (file: string) => Promise<unknown>): void => {
  const survey = async (file: string): Promise<Reply> => {
    takeReached();
    const found = await load(file).then(
      () => testsIn(file),
      () => new Map<string, () => Promise<void>>(),
    );
    const loaded = takeReached();
    const tests = [];
    for (const [title, run] of found) {
      const startedAtMs = performance.now();
      const passed = await passes(run, surveyLimitMs);
      tests.push({ title, passed, ms: performance.now() - startedAtMs, reached: [...takeReached()] });
    }
    return { kind: 'surveyed', loaded: [...loaded], tests };
  };

  const judge = async ({ number, tests }: Extract<Order, { kind: 'judge' }>): Promise<Reply> => {
    make(number);
    takeReached();
    for (const { file, title, http, limitMs } of tests) {
      process.env.JUNCTOR_HTTP = http;
      const run = await load(file).then(
        async () => (await testsIn(file)).get(title),
        () => undefined,
      );
      if (await passes(run, limitMs)) continue;
      make(0);
      return { kind: 'judged', by: `${file} › ${title}`, reached: true, intact: await passes(run, limitMs) };
    }
    make(0);
    return { kind: 'judged', reached: takeReached().includes(number), intact: true };
  };

  let current = -1;
  // What goes wrong outside of a test, such as in a timer, shows the change too.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      if (!changed(current)) return;
      process.send?.({ kind: 'judged', by: String(error), reached: true, intact: false } satisfies Reply);
    });
  }
  process.on('message', (message) => {
    const order = Parse(Orders, message);
    current = order.kind === 'judge' ? order.number : -1;
    (order.kind === 'survey' ? survey(order.file) : judge(order)).then((reply) => process.send?.(reply));
  });
  process.once('disconnect', () => process.exit());
};
