import test from 'ava';
import { Losses } from '../../engine/model/loss.ts';
import { maxtoken } from '../../transformers/maxtoken.ts';
import { notes, requestWith, stageOf } from './stage-rig.ts';

const cap = 100;

for (const [title, maxTokens, expected, lost] of [
  ['a higher limit is capped, which is a loss', 101, cap, ['max_tokens: capped at 100']],
  ['the cap itself is kept', cap, cap, []],
  ['a lower limit is kept', 99, 99, []],
  ['a request without a limit gets the cap', undefined, cap, []],
] as const) {
  test(title, (t) => {
    const losses = new Losses('maxtoken');
    const request = requestWith({ maxTokens, temperature: 0.5 });
    const changed = stageOf(maxtoken, { max_tokens: cap }).request?.(request, losses);
    t.deepEqual(changed, { ...request, maxTokens: expected });
    t.deepEqual(notes(losses), [...lost]);
  });
}

test('the cap is a positive integer, and required', (t) => {
  for (const options of [{}, { max_tokens: 0 }, { max_tokens: 1.5 }, { max_tokens: '9' }])
    t.throws(() => stageOf(maxtoken, options), undefined, JSON.stringify(options));
});
