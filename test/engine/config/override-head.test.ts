import { availableParallelism } from 'node:os';
import test from 'ava';
import { validateConfig } from '../../../engine/config/validate.ts';

const cases: readonly (readonly [
  title: string,
  written: object,
  env: Record<string, string>,
  head: object | RegExp,
])[] = [
  [
    'they take the place of fields',
    { PORT: 1 },
    { JUNCTOR_PORT: '2' },
    { host: '127.0.0.1', port: 2, apiKey: undefined },
  ],
  [
    'they stand in for absent ones',
    {},
    { JUNCTOR_APIKEY: ' k ', JUNCTOR_HOST: '0.0.0.0' },
    { host: '0.0.0.0', apiKey: 'k' },
  ],
  [
    'blank ones set nothing',
    { PORT: 1, APIKEY: 'k' },
    { JUNCTOR_PORT: ' ', JUNCTOR_APIKEY: '' },
    { port: 1, apiKey: 'k' },
  ],
  ['a reference that they replace need not be set', { APIKEY: '$NONE' }, { JUNCTOR_APIKEY: 'k' }, { apiKey: 'k' }],
  ['their value is no reference', {}, { JUNCTOR_APIKEY: '$HOME', HOME: 'x' }, { apiKey: '$HOME' }],
  ['an address for others needs a key', {}, { JUNCTOR_HOST: '0.0.0.0' }, /^JUNCTOR_HOST is not a loopback address/],
  ['what is wrong is told', {}, { JUNCTOR_PORT: 'x' }, /^JUNCTOR_PORT must be integer; it replaces PORT/],
];

for (const [title, written, env, head] of cases) {
  test(title, (t) => {
    const result = validateConfig({ ...written }, env);
    if (head instanceof RegExp) {
      t.regex('faults' in result ? result.faults.map(({ path, message }) => `${path} ${message}`).join() : '', head);
    } else t.like('config' in result ? result.config : result, head);
  });
}

test('the number of processes is 1 unless set, as a number or as text from the environment', (t) => {
  const workers = (written: object, env = {}) => {
    const result = validateConfig({ ...written }, env);
    return 'config' in result ? result.config.workers : result.faults.map(({ path }) => path);
  };
  t.is(workers({}), 1);
  t.is(workers({ WORKERS: 4 }), 4);
  t.is(workers({ WORKERS: '$N' }, { N: '3' }), 3);
  const cores = Math.min(64, availableParallelism());
  t.deepEqual([workers({ WORKERS: 'auto' }), workers({ WORKERS: '$N' }, { N: ' AUTO ' })], [cores, cores]);
  t.deepEqual(workers({ WORKERS: 'many' }), ['WORKERS']);
  t.deepEqual(workers({ WORKERS: 0 }), ['WORKERS']);
});
