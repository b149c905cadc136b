import test from 'ava';
import { hashedKey } from '../../../../engine/config/sections/clients.ts';
import { validateConfig } from '../../../../engine/config/validate.ts';
import type { JsonObject } from '../../../../engine/model/json/json.ts';

const key = hashedKey('a key');
const other = hashedKey('another key');

const faultsOf = (CLIENTS: unknown, more: JsonObject = {}): readonly string[] => {
  const source: JsonObject = JSON.parse(JSON.stringify({ APIKEY: 'admin', CLIENTS, ...more }));
  const result = validateConfig(source, {});
  return 'faults' in result ? result.faults.map(({ path, message }) => `${path} ${message}`) : [];
};

const cases: readonly (readonly [title: string, clients: unknown, faults: readonly (string | RegExp)[]])[] = [
  ['no list', {}, ['CLIENTS must be array']],
  ['no name, no key', [{}], ['CLIENTS[0].name is required', 'CLIENTS[0].key is required']],
  ['a name with a blank', [{ name: 'a b', key }], [/^CLIENTS\[0\]\.name must be 1 to 64 letters/]],
  ['a hidden name', [{ name: '.a', key }], [/^CLIENTS\[0\]\.name must be/]],
  ['a name of 65 letters', [{ name: 'n'.repeat(65), key }], [/^CLIENTS\[0\]\.name must be/]],
  [
    'the same name twice, in another spelling',
    [
      { name: 'team', key },
      { name: 'Team', key: other },
    ],
    ['CLIENTS[1].name is the name of CLIENTS[0] too'],
  ],
  [
    'the same key twice',
    [
      { name: 'a', key },
      { name: 'b', key: key.toUpperCase() },
    ],
    ['CLIENTS[1].key is the key of CLIENTS[0] too'],
  ],
  ['the APIKEY as a key', [{ name: 'a', key: hashedKey('admin') }], ['CLIENTS[0].key is the key of APIKEY too']],
  ['a plain key', [{ name: 'a', key: 'a-plain-key' }], [/^CLIENTS\[0\]\.key must be .*`junctor client hash`/]],
  ['too short a digest', [{ name: 'a', key: key.slice(0, -1) }], [/^CLIENTS\[0\]\.key must be/]],
  ['an empty key', [{ name: 'a', key: '' }], [/^CLIENTS\[0\]\.key must be/]],
  ['an unknown field', [{ name: 'a', key, model: ['x'] }], [/^CLIENTS\[0\]\.model is unknown .*did you mean models\?/]],
  ['no models', [{ name: 'a', key, models: [] }], [/^CLIENTS\[0\]\.models must not be empty/]],
  ['a blank model', [{ name: 'a', key, models: [' '] }], ['CLIENTS[0].models[0] must not be blank']],
  ['an unknown route', [{ name: 'a', key, routes: ['tink'] }], [/^CLIENTS\[0\]\.routes\[0\] .*did you mean think\?/]],
  ['a preset without a name', [{ name: 'a', key, routes: ['preset/'] }], [/^CLIENTS\[0\]\.routes\[0\] is no route/]],
  ['a limit of 0', [{ name: 'a', key, limits: { streams: 0 } }], ['CLIENTS[0].limits.streams must be >= 1']],
  [
    'a limit below 0',
    [{ name: 'a', key, limits: { tokensPerMinute: -1 } }],
    ['CLIENTS[0].limits.tokensPerMinute must be >= 1'],
  ],
  [
    'half a request',
    [{ name: 'a', key, limits: { requestsPerMinute: 0.5 } }],
    ['CLIENTS[0].limits.requestsPerMinute must be integer or >= 1'],
  ],
  ['a limit as text', [{ name: 'a', key, limits: { streams: '5' } }], ['CLIENTS[0].limits.streams must be integer']],
  [
    'an unknown limit',
    [{ name: 'a', key, limits: { rpm: 5 } }],
    ['CLIENTS[0].limits.rpm is unknown and has no effect'],
  ],
  [
    'a budget of nothing',
    [{ name: 'a', key, budget: { tokens: 0, per: 'day' } }],
    ['CLIENTS[0].budget.tokens must be >= 1'],
  ],
  ['a budget without a period', [{ name: 'a', key, budget: { tokens: 1 } }], ['CLIENTS[0].budget.per is required']],
  [
    'a budget per week',
    [{ name: 'a', key, budget: { tokens: 1, per: 'week' } }],
    [/^CLIENTS\[0\]\.budget\.per must be/],
  ],
  [
    'a budget of neither tokens nor USD',
    [{ name: 'a', key, budget: { per: 'day' } }],
    ['CLIENTS[0].budget must have tokens, usd or both'],
  ],
  ['a budget of no USD', [{ name: 'a', key, budget: { usd: 0, per: 'day' } }], ['CLIENTS[0].budget.usd must be > 0']],
  ['a budget in tokens and USD', [{ name: 'a', key, budget: { tokens: 1, usd: 0.5, per: 'day' } }], []],
  [
    'a budget in another currency',
    [{ name: 'a', key, budget: { usd: 1, eur: 1, per: 'day' } }],
    ['CLIENTS[0].budget.eur is unknown and has no effect'],
  ],
  ['all that is right', [{ name: 'a', key, models: ['m', 'p,*'], routes: ['default', 'explicit', 'preset/x'] }], []],
  ['an empty list', [], []],
];

for (const [title, clients, expected] of cases) {
  test(`CLIENTS: ${title}`, (t) => {
    const found = faultsOf(clients);
    t.is(found.length, expected.length, found.join('\n'));
    for (const [index, fault] of expected.entries()) {
      if (typeof fault === 'string') t.is(found[index], fault);
      else t.regex(found[index] ?? '', fault);
    }
    t.false(found.join().includes('a-plain-key'), 'a key is never repeated');
  });
}

test('a limit of tokens that is less than WORKERS is warned of: each process grants its share', (t) => {
  const written = {
    APIKEY: 'admin',
    WORKERS: 4,
    CLIENTS: [{ name: 'a', key, limits: { tokensPerMinute: 3, requestsPerMinute: 2, streams: 1 } }],
  };
  t.deepEqual(validateConfig(written, {}).warnings, [
    { path: 'CLIENTS[0].limits.tokensPerMinute', message: 'is less than WORKERS: 1 of 4 processes grant none of it' },
  ]);
});

test('CLIENTS without APIKEY is warned of, and an address that is not loopback needs an APIKEY still', (t) => {
  const result = validateConfig({ CLIENTS: [{ name: 'a', key }] }, {});
  t.deepEqual(
    result.warnings.map(({ path }) => path),
    ['CLIENTS'],
  );
  t.deepEqual(
    faultsOf([{ name: 'a', key }], { APIKEY: '', HOST: '0.0.0.0' }).map((fault) => fault.split(' ')[0]),
    ['HOST'],
  );
});
