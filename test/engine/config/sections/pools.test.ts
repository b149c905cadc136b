import test from 'ava';
import type { Config } from '../../../../engine/config/config.ts';
import { formatFinding } from '../../../../engine/config/diagnostics.ts';
import { validateConfig } from '../../../../engine/config/validate.ts';
import type { JsonObject } from '../../../../engine/model/json/json.ts';

const provider = (name: string, ...models: readonly string[]) => ({
  name,
  baseUrl: 'http://h.invalid',
  apiKey: 'k',
  models,
});
const providers = [provider('a', 'm', 'only-a'), provider('b', 'm')];

const check = (
  written: JsonObject,
): { readonly faults: string[]; readonly warnings: string[]; readonly config?: Config } => {
  const result = validateConfig({ Providers: providers, ...written }, {});
  const warnings = result.warnings.map(formatFinding);
  return 'faults' in result
    ? { faults: result.faults.map(formatFinding), warnings }
    : { faults: [], warnings, config: result.config };
};

const good = { name: 'large', members: [{ to: 'a,m' }, { to: 'b,m' }] };

const faults: readonly (readonly [title: string, written: JsonObject, faults: readonly string[]])[] = [
  ['no name', { Pools: [{ ...good, name: ' ' }] }, ['Pools[0].name must not be blank']],
  [
    'a comma',
    { Pools: [{ ...good, name: 'a,m' }] },
    ['Pools[0].name must not contain a comma, which stands for `provider,model`'],
  ],
  ['twice', { Pools: [good, good] }, ['Pools[1].name "large" is used twice; names must be unique']],
  [
    "a provider's name",
    { Pools: [{ ...good, name: 'A' }] },
    ['Pools[0].name "A" is the name of a provider too; choose another, such as "A-pool"'],
  ],
  [
    'an unknown strategy',
    { Pools: [{ ...good, strategy: 'random' }] },
    ['Pools[0].strategy must be one of "weighted", "fastest", "least-busy", "sticky"'],
  ],
  [
    'a mistyped strategy',
    { Pools: [{ ...good, strategy: 'weigthed' }] },
    ['Pools[0].strategy must be one of "weighted", "fastest", "least-busy", "sticky"; did you mean weighted?'],
  ],
  ['no members', { Pools: [{ name: 'large', members: [] }] }, ['Pools[0].members must not be empty']],
  [
    'an unknown provider',
    { Pools: [{ name: 'large', members: [{ to: 'c,m' }] }] },
    ['Pools[0].members[0].to names the unknown provider "c"; known providers: "a", "b"'],
  ],
  [
    'an unknown model',
    { Pools: [{ name: 'large', members: [{ to: 'onlya' }] }] },
    [
      'Pools[0].members[0].to must be `provider,model` or a model that a provider lists, not "onlya"; did you mean "only-a"?',
    ],
  ],
  [
    'a blank member',
    { Pools: [{ name: 'large', members: [{ to: '' }] }] },
    ['Pools[0].members[0].to must not be blank'],
  ],
  [
    'a pool in a pool',
    { Pools: [{ name: 'outer', members: [{ to: 'large' }, { to: 'a,m' }] }, good] },
    ['Pools[0].members[0].to names the pool "large": a pool can\'t be a member of a pool'],
  ],
  [
    'a circle',
    { Pools: [{ name: 'outer', members: [{ to: 'outer' }] }] },
    ['Pools[0].members[0].to names the pool "outer": a pool can\'t be a member of a pool'],
  ],
  [
    'a member twice',
    { Pools: [{ name: 'large', members: [{ to: 'a,only-a' }, { to: 'only-a' }] }] },
    ['Pools[0].members[1].to "only-a" is a member already'],
  ],
  [
    'a weight of 0',
    { Pools: [{ name: 'large', members: [{ to: 'a,m', weight: 0 }] }] },
    ['Pools[0].members[0].weight must be > 0'],
  ],
  [
    'members for no model',
    { Pools: [{ name: 'large', members: [{ to: 'a,m', models: [] }] }] },
    ['Pools[0].members[0].models must not be empty; leave it out to serve all'],
  ],
  [
    "several providers that take clients' credentials",
    {
      Providers: ['a', 'b'].map((name) => ({
        name,
        baseUrl: 'http://h.invalid',
        credentials: 'client',
        models: ['m'],
      })),
      Pools: [good],
    },
    ["Pools[0].members must not have several providers that take clients' credentials: a, b; a key is for one of them"],
  ],
  [
    'a mistyped pool as a destination',
    { Pools: [good], Router: { default: 'larg' } },
    [
      'Router.default must be `provider,model`, a pool or a model that a provider lists, not "larg"; did you mean "large"?',
    ],
  ],
];
for (const [title, written, expected] of faults) {
  test(`refused: ${title}`, (t) => t.deepEqual(check(written).faults, expected));
}

const warnings: readonly (readonly [title: string, written: JsonObject, warnings: readonly string[]])[] = [
  ['nothing is odd', { Pools: [good] }, []],
  [
    "a model's name",
    { Pools: [{ ...good, name: 'm' }] },
    ['Pools[0].name "m" is a model of a too; where it is named alone, the pool is used'],
  ],
  [
    'weights that nothing looks at',
    { Pools: [{ name: 'large', strategy: 'fastest', members: [{ to: 'a,m', weight: 2 }, { to: 'b,m' }] }] },
    ['Pools[0].members[0].weight has no effect with the strategy fastest'],
  ],
  [
    'a model that is not listed',
    { Pools: [{ name: 'large', members: [{ to: 'a,other' }] }] },
    ['Pools[0].members[0].to names a model that a doesn\'t list: "a,other"'],
  ],
  [
    'a mistyped member',
    { Pools: [{ name: 'large', members: [{ to: 'a,m', wieght: 2 }] }] },
    ['Pools[0].members[0].wieght is unknown and has no effect; did you mean weight?'],
  ],
  [
    'an unset variable',
    { Pools: [{ name: 'large', members: [{ to: '$UNSET' }, { to: 'a,m' }] }] },
    ['Pools[0].members[0].to is ignored: the environment variable UNSET is not set'],
  ],
];
for (const [title, written, expected] of warnings) {
  test(`warned of: ${title}`, (t) => {
    const { config, ...found } = check(written);
    t.deepEqual(found, { faults: [], warnings: [...expected] });
    t.is(config?.pools.length, 1);
  });
}

test('a pool is a destination wherever there is one', (t) => {
  const { faults: none, config } = check({
    Pools: [good],
    Router: { default: 'large', routes: { think: 'large' }, fallback: { think: ['large', 'a,m'] } },
  });
  t.deepEqual(none, []);
  t.is(config?.router.default, 'large');
  t.deepEqual(
    config?.pools.map(({ strategy, members }) => [strategy, members.map(({ weight }) => weight)]),
    [['weighted', [1, 1]]],
  );
});

test('a faulty pool does not make faults of the destinations that name it', (t) => {
  t.deepEqual(check({ Pools: [{ ...good, strategy: 'none' }], Router: { default: 'large' } }).faults, [
    'Pools[0].strategy must be one of "weighted", "fastest", "least-busy", "sticky"',
  ]);
});
