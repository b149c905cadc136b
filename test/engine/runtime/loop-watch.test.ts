import test from 'ava';
import { type Observable, of, Subject, throwError } from 'rxjs';
import { operate, type StageControl, type StreamStage, stages } from '../../../engine/operators/rx/stages.ts';
import { inStep, isInStep, type LoopStall, watchLoop } from '../../../engine/runtime/loop-watch.ts';
import { testTime } from '../../support/test-time.ts';
import { until } from '../../support/until.ts';

const block = (): void => {
  for (const end = performance.now() + 230; performance.now() < end; );
};

test.serial(
  'a held event loop is reported with the step that held it, nested ones apart; idle time counts for none',
  async (t) => {
    const holds: LoopStall[] = [];
    t.teardown(watchLoop((hold) => holds.push(hold)));
    const steps = () => holds.splice(0).map(({ step }) => step);
    inStep('outer', () => {
      inStep('inner', block);
      inStep('quick', () => undefined);
      block();
    });
    t.deepEqual(steps(), ['inner', 'outer']);
    t.throws(() =>
      inStep('failing', () => {
        block();
        throw new Error('failed');
      }),
    );
    t.deepEqual(steps(), ['failing']);
    await new Promise((resolve) => setTimeout(resolve, 400));
    inStep('after a pause', () => undefined);
    t.false(steps().includes('after a pause'));
  },
);

const where = ['before', 'read', 'after it', 'write', 'last', 'subscriber'] as const;
type Where = (typeof where)[number];
const belongsTo: Readonly<Record<Where, string>> = {
  before: 'read',
  read: 'read',
  'after it': 'read',
  write: 'write',
  last: 'write',
  subscriber: 'write',
};
for (const outer of [undefined, 'outer']) {
  test.serial(
    `a stage's stall is reported by its name, or else by that of the stage before${outer ? ', inside another step, too' : ''}`,
    (t) => {
      const holds: LoopStall[] = [];
      t.teardown(watchLoop((hold) => holds.push(hold)));
      let blocks: Where | undefined;
      const blockIf = (at: Where): void => {
        if (blocks === at) block();
      };
      const stage =
        (at: Where, step?: string): StreamStage<undefined, number, number> =>
        () => ({
          ...(step !== undefined && { step }),
          next(value) {
            blockIf(at);
            return value;
          },
          end() {
            blockIf(at);
            return undefined;
          },
        });
      const run = stages<undefined, number>({
        group: [stage('before'), stage('read', 'read'), stage('after it'), stage('write', 'write'), stage('last')],
      })(undefined);
      const reported = (work: () => void): readonly string[] => {
        if (outer === undefined) work();
        else inStep(outer, work);
        return holds.splice(0).map(({ step }) => step);
      };
      for (const at of where) {
        const source = new Subject<number>();
        source
          .pipe(
            run,
            operate(() => ({ next: (value: number) => value })),
          )
          .subscribe(() => blockIf('subscriber'));
        blocks = undefined;
        source.next(1);
        blocks = at;
        t.deepEqual(
          reported(() => source.next(2)),
          [belongsTo[at]],
          `${at}: a value`,
        );
        if (at !== 'subscriber')
          t.deepEqual(
            reported(() => source.complete()),
            [belongsTo[at]],
            `${at}: the end`,
          );
        t.false(isInStep());
      }
      let control: StageControl<number> | undefined;
      blocks = undefined;
      new Subject<number>()
        .pipe(
          stages<undefined, number>({
            group: [
              (_, own) => {
                control = own;
                return { step: 'read', next: (value) => value };
              },
              stage('last'),
            ],
          })(undefined),
        )
        .subscribe();
      blocks = 'last';
      t.deepEqual(
        reported(() => control?.emit(3)),
        ['read'],
        'emitted by a timer',
      );
    },
  );
}

test.serial('what no step held is reported as other', async (t) => {
  const holds: LoopStall[] = [];
  t.teardown(watchLoop((hold) => holds.push(hold)));
  await new Promise((resolve) => setImmediate(resolve));
  block();
  block();
  await until(() => holds.some(({ step, ms }) => step === 'other' && ms >= 200));
  t.pass();
});

const ends: readonly (readonly [end: string, source: Observable<number>])[] = [
  ['completes', of(1)],
  ['fails', throwError(() => new Error('broken'))],
];
for (const [end, source] of ends) {
  test.serial(
    `a stage that throws when its source ${end} leaves no step behind: a later hold is of none`,
    async (t) => {
      const holds: LoopStall[] = [];
      t.teardown(watchLoop((hold) => holds.push(hold)));
      let threw = 0;
      const finalize = (): never => {
        threw += 1;
        throw new Error('finalize');
      };
      try {
        source
          .pipe(operate(() => ({ next: (value: number) => value, finalize })))
          .subscribe({ error: () => undefined });
      } catch {
        // RxJS reports some of them and passes others on.
      }
      t.true(threw > 0);
      t.false(isInStep());
      await new Promise((resolve) => setImmediate(resolve));
      block();
      block();
      await until(() => holds.length > 0);
      t.deepEqual(new Set(holds.map(({ step }) => step)), new Set(['other']));
    },
  );
}

test.serial("the machine's sleep is no hold, and a step that works that long is one", async (t) => {
  for (const [runs, expected] of [
    [false, []],
    [true, ['stage a']],
  ] as const) {
    const { clock, ...time } = testTime();
    let cpuMs = 0;
    const holds: LoopStall[] = [];
    const stop = watchLoop((hold) => holds.push(hold), { clock, cpuMs: () => cpuMs });
    t.teardown(stop);
    inStep('stage a', () => {
      block();
      // The clock notices it by itself at its next look.
      time.stop(60_000);
      if (runs) cpuMs += 60_000;
    });
    t.deepEqual(
      holds.map(({ step }) => step),
      expected,
    );
    // Nor is what the next look at the loop finds.
    await new Promise((resolve) => setTimeout(resolve, 250));
    t.is(holds.length, expected.length);
    stop();
    t.is(time.timers(), 0);
  }
});

test.serial('a sleep while no step is under way is no hold either', async (t) => {
  const { clock, ...time } = testTime();
  const holds: LoopStall[] = [];
  t.teardown(watchLoop((hold) => holds.push(hold), { clock, cpuMs: () => 0 }));
  await new Promise((resolve) => setImmediate(resolve));
  block();
  block();
  time.sleep(600_000);
  await new Promise((resolve) => setTimeout(resolve, 250));
  t.deepEqual(holds, []);
});
