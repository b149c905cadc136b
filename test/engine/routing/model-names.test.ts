import test from 'ava';
import { aliasDestination, aliasesOf, modelNames } from '../../../engine/routing/model-names.ts';
import { configOf } from '../../support/gateway-of.ts';
import { configWith, provider } from './providers.ts';

const config = configWith([provider('Alpha', 'Big', 'a/b:c'), provider('a', 'b-c'), provider('a-b', 'c')], {
  default: 'Alpha,Big',
  routes: { think: 'a,b-c', background: 'nobody,x' },
});

const named = aliasesOf(config).map(({ name, provider: { name: by }, model }) => `${name} → ${by},${model}`);

test('every route that leads somewhere and every model has an alias of its own', (t) => {
  t.deepEqual(named, [
    'switchyard-default → Alpha,Big',
    'switchyard-think → a,b-c',
    'switchyard-alpha-big → Alpha,Big',
    'switchyard-alpha-a-b-c → Alpha,a/b:c',
    'switchyard-a-b-c → a,b-c',
    'switchyard-a-b-c-2 → a-b,c',
  ]);
});

test('each alias leads where it says, whatever word stands before it', (t) => {
  for (const {
    name,
    provider: { name: by },
    model,
  } of aliasesOf(config)) {
    for (const text of [
      name,
      `claude-${name}`,
      ` Claude-${name.toUpperCase()} `,
      `anthropic-${name}`,
      `anthropic/${name}`,
    ]) {
      const found = aliasDestination(text, config);
      t.is(found && `${found.provider.name},${found.model}`, `${by},${model}`, text);
    }
  }
});

const strangers = [
  'Big',
  'claude-opus-4',
  'switchyard-',
  'claude-switchyard-nobody',
  'a b-switchyard-think',
  'Alpha,Big',
];
for (const text of strangers) {
  test(`no alias: ${text}`, (t) => t.is(aliasDestination(text, config), undefined));
}

test('names for clients: destinations, models, pools and aliases, each once, and only what is allowed', (t) => {
  const pooled = configOf({
    Providers: ['p', 'q'].map((name) => ({
      name,
      baseUrl: `http://${name}.invalid`,
      apiKey: 'k',
      models: ['m', `${name}1`],
    })),
    Pools: [{ name: 'large', members: [{ to: 'p,m' }, { to: 'q,m' }] }],
    Router: { default: 'large', think: 'q,q1' },
  });
  const factsOf = ({ provider: { name } }: { readonly provider: { readonly name: string } }) => ({
    context: name === 'p' ? 5 : 7,
  });
  const short = (options: Parameters<typeof modelNames>[1]) =>
    modelNames(pooled, options).map(({ id, title, owner, facts }) => `${id}: ${title}, ${owner}, ${facts.context}`);
  t.deepEqual(short({ aliasPrefix: 'x-', factsOf }), [
    'p,m: m (p), p, 5',
    'p,p1: p1 (p), p, 5',
    'q,m: m (q), q, 7',
    'q,q1: q1 (q), q, 7',
    'm: m, switchyard, 5',
    'p1: p1, switchyard, 5',
    'q1: q1, switchyard, 7',
    'large: large (pool), switchyard, 5',
    'x-switchyard-default: large (pool), switchyard, 5',
    'x-switchyard-think: q1 (q), q, 7',
    'x-switchyard-p-m: m (p), p, 5',
    'x-switchyard-p-p1: p1 (p), p, 5',
    'x-switchyard-q-m: m (q), q, 7',
    'x-switchyard-q-q1: q1 (q), q, 7',
    'x-switchyard-large: large (pool), switchyard, 5',
  ]);
  const ids = (allowed: string) =>
    modelNames(pooled, { allows: ({ provider }) => provider.name === allowed }).map(({ id }) => id);
  const names = ['q,m', 'q,q1', 'm', 'q1', 'large', 'default', 'think', 'q-m', 'q-q1', 'large'];
  t.deepEqual(
    ids('q'),
    names.map((name, index) => (index < 5 ? name : `switchyard-${name}`)),
  );
  t.deepEqual(ids('unknown'), []);
});
