import test from 'ava';
import type { Format } from '../../../engine/model/transformer.ts';
import { formats } from '../../../transformers/index.ts';
import { dayMs, differences, namedIn, retiring, retiringTemplates, unknownModels, writeFacts } from './report.ts';

const [row] = formats.values();
const vendor = (models: readonly string[], facts: Partial<NonNullable<Format['facts']>>): readonly Format[] =>
  row
    ? [
        {
          ...row,
          name: 'v',
          firstStart: { title: 'V', variable: 'V_KEY', baseUrl: 'https://v.example', models },
          facts: { asOf: '2030-01-01', pricing: { tiers: {} }, models: [], ...facts },
        },
      ]
    : [];
const source = ['x'];
const nowMs = Date.parse('2030-01-01');

test('a first start that names a model that ends soon is found, by its date', (t) => {
  const models = [
    { id: 'soon', aliases: ['also-soon'], retires: '2030-01-30', source },
    { id: 'later', retires: '2030-03-01', source },
  ];
  const facts = { models, retired: [{ on: '2029-01-01', names: ['gone'] }] };
  const found = (days: number) =>
    retiringTemplates(vendor(['soon', 'also-soon', 'later', 'gone', 'unknown'], facts), nowMs, days).map(
      (one) => one.model,
    );
  t.deepEqual(found(30), ['soon', 'also-soon', 'gone']);
  t.deepEqual(found(60), ['soon', 'also-soon', 'later', 'gone']);
  t.deepEqual(found(0), ['gone']);
  t.deepEqual(retiringTemplates(vendor(['later'], facts), nowMs, 30), []);
});

test('no first start names a model that ended, or ends within 60 days, when the facts were collected', (t) => {
  for (const format of formats.values()) {
    const asOf = Date.parse(format.facts?.asOf ?? '');
    if (format.facts) t.deepEqual(retiringTemplates([format], asOf, 60), [], format.name);
  }
});

test('first starts name models that are known and current', (t) => {
  for (const { name, firstStart, facts } of formats.values())
    for (const model of firstStart?.models ?? []) {
      const known = facts?.models.find(({ id }) => id === model);
      t.truthy(known, `${name} ${model}`);
      t.is(known?.status, undefined, `${name} ${model}`);
    }
});

// Only a warning: a day alone must not stop a change.
test('today', (t) => {
  for (const { vendor: name, model, on } of retiringTemplates(formats.values(), Date.now(), 30))
    t.log(`warning: the first start of ${name} names ${model}, which retires on ${on}: npm run facts`);
  t.pass();
});

test('what a list and the prices say differently is found, and what the list says is written', (t) => {
  const price = { input: 1, output: 2, changes: [{ from: '2030-01-01', input: 3, output: 4 }] };
  const [format] = vendor([], { models: [{ id: 'm', context: 5_000, maxOutput: 10, price, source }] });
  if (!format) throw new Error('There is no format.');
  const list = { models: [{ id: 'm', context: 1_000_000, maxOutput: 10, retires: '2031-02-03' }, { id: 'new' }] };
  const sources = { list, priceOf: () => ({ input: 3, output: 5, cacheRead: 1 }) };
  const found = differences(format, sources, nowMs);
  t.deepEqual(
    found.map(({ fact, ours, theirs }) => `${fact} ${ours} ${theirs}`),
    ['context 5000 1000000', 'retires unknown 2031-02-03', 'price.output 4 5', 'price.cacheRead unknown 1'],
  );
  t.deepEqual(unknownModels(format, sources), ['new']);
  const text = (context: string, retires: string, asOf: string) =>
    `  asOf: '${asOf}',\n    {\n      id: 'a',\n      context: 1,\n    },\n    {\n      id: 'm',\n      context: ${context},${retires}\n      source: ['x'],\n    },\n`;
  t.is(
    writeFacts(text('5_000', '', '2030-01-01'), found, '2030-02-02'),
    text('1_000_000', "\n      retires: '2031-02-03',", '2030-02-02'),
  );
});

test('a text names a model only by its whole name', (t) => {
  const models = ['gpt-5', 'o3', 'openai/x'];
  t.deepEqual(namedIn('p,gpt-5 and "openai/x"', models), ['gpt-5', 'openai/x']);
  t.deepEqual(namedIn('gpt-5.6 gpt-5-mini o3-pro foo3', models), []);
  t.is(retiring(formats.values(), Date.parse('2026-11-27') - 400 * dayMs, 0).length, 0);
});
