import test from 'ava';
import { isVersionOf } from '../../../../engine/model/models/model-facts.ts';
import { commonFacts, knownModel } from '../../../../engine/routing/catalogue/known-model.ts';
import { formats } from '../../../../transformers/index.ts';

const anthropic = formats.get('anthropic') ?? {};

test('the configuration wins over the list, and the list over the package, field by field', (t) => {
  const modelFacts = new Map([['claude-sonnet-5', { context: 50_000 }]]);
  const listed = { id: 'claude-sonnet-5', context: 60_000, maxOutput: 7_000 };
  const known = knownModel({ modelFacts }, 'claude-sonnet-5', { format: anthropic, because: 'host' }, listed);
  t.like(known, { context: 50_000, maxOutput: 7_000, price: { input: 2 } });
  t.like(known.from, { context: 'configuration', maxOutput: 'list', price: 'package' });
});

test('prices and dates of the package hold for the vendor, not for servers that are only alike', (t) => {
  const plain = knownModel({}, 'gpt-6-luna', { format: formats.get('openai') ?? {}, because: 'plain' }, undefined);
  t.is(plain.context, 1_050_000);
  t.is(plain.price, undefined);
  const old = knownModel({}, 'gpt-5', { format: formats.get('openai') ?? {}, because: 'plain' }, undefined);
  t.is(old.retires, undefined);
});

const names: readonly (readonly [name: string, retires: string | undefined])[] = [
  ['claude-3-haiku-20240307', '2026-04-20'],
  ['claude-sonnet-4-5', '2026-11-30'],
  ['claude-sonnet-4-5-20250929', '2026-11-30'],
  ['claude-sonnet-4-20250514', '2026-06-15'],
  ['claude-opus-4-5-20251101', '2027-01-22'],
  ['claude-sonnet-5-5', undefined],
  ['claude-3-haiku-next', undefined],
];
for (const [name, retires] of names) {
  test(`when a model retires: ${name}`, (t) => {
    t.is(knownModel({}, name, { format: anthropic, because: 'host' }, undefined).retires, retires);
  });
}

test('a date or a number of three digits behind a name makes no difference, anything else does', (t) => {
  for (const name of ['m', 'm-20260102', 'm@20260102', 'm-2026-01-02', 'm-002']) t.true(isVersionOf(name, 'm'), name);
  for (const name of ['m-5', 'm-20', 'mm', 'm-latest', 'x-m', 'm-2026010', 'm-20260102-x'])
    t.false(isVersionOf(name, 'm'), name);
});

test('of a name that several models share, the smallest window holds, and a price that is the same', (t) => {
  const price = { input: 1, output: 2 };
  t.deepEqual(
    commonFacts([
      { context: 9, price, input: ['text', 'image'] },
      { context: 5, price, input: ['text'] },
    ]),
    {
      context: 5,
      maxInput: 5,
      price,
      input: ['text'],
    },
  );
  t.deepEqual(commonFacts([{ context: 9, price }, { price: { input: 1, output: 3 } }]), { context: 9 });
  t.deepEqual(commonFacts([]), {});
});
