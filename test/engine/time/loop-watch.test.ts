import test from 'ava';
import { enterStep, inStep, type LoopHold, nameStep, nextStep, watchLoop } from '../../../engine/time/loop-watch.ts';
import { until } from '../../support/until.ts';

const block = (): void => {
  for (const end = performance.now() + 230; performance.now() < end; );
};

test.serial(
  'a held event loop is reported with the step that held it, nested ones apart; idle time counts for none',
  async (t) => {
    const holds: LoopHold[] = [];
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
    const before = enterStep('answer');
    nameStep('read');
    block();
    nextStep('write');
    enterStep(before);
    nextStep('nothing is under way');
    t.deepEqual(steps(), ['read']);
    await new Promise((resolve) => setTimeout(resolve, 400));
    inStep('after a pause', () => undefined);
    t.false(steps().includes('after a pause'));
  },
);

test.serial('what no step held is reported as other', async (t) => {
  const holds: LoopHold[] = [];
  t.teardown(watchLoop((hold) => holds.push(hold)));
  await new Promise((resolve) => setImmediate(resolve));
  block();
  block();
  await until(() => holds.some(({ step, ms }) => step === 'other' && ms >= 200));
  t.pass();
});
