import test from 'ava';
import { findPool } from '../../../engine/config/sections/destination.ts';
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
    'junctor-default → Alpha,Big',
    'junctor-think → a,b-c',
    'junctor-alpha-big → Alpha,Big',
    'junctor-alpha-a-b-c → Alpha,a/b:c',
    'junctor-a-b-c → a,b-c',
    'junctor-a-b-c-2 → a-b,c',
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

test('a request by alias or pool reads its table, which is built once for a configuration', (t) => {
  let reads = 0;
  const listing = {
    ...provider('Alpha', 'Big'),
    get models() {
      reads += 1;
      return ['Big'];
    },
  };
  const counted = configWith([listing], {});
  t.is(aliasDestination('junctor-alpha-big', counted)?.model, 'Big');
  const once = reads;
  for (let request = 0; request < 10; request += 1) aliasDestination('claude-junctor-alpha-big', counted);
  t.is(reads, once);
  let names = 0;
  const pool = {
    strategy: 'weighted' as const,
    members: [],
    get name() {
      names += 1;
      return 'fast';
    },
  };
  const pools = [pool, pool];
  t.is(findPool(pools, ' fast ')?.strategy, 'weighted');
  const first = names;
  t.is(findPool(pools, 'slow'), undefined);
  t.is(names, first);
});

const strangers = ['Big', 'claude-opus-4', 'junctor-', 'claude-junctor-nobody', 'a b-junctor-think', 'Alpha,Big'];
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
    'm: m, junctor, 5',
    'p1: p1, junctor, 5',
    'q1: q1, junctor, 7',
    'large: large (pool), junctor, 5',
    'x-junctor-default: large (pool), junctor, 5',
    'x-junctor-think: q1 (q), q, 7',
    'x-junctor-p-m: m (p), p, 5',
    'x-junctor-p-p1: p1 (p), p, 5',
    'x-junctor-q-m: m (q), q, 7',
    'x-junctor-q-q1: q1 (q), q, 7',
    'x-junctor-large: large (pool), junctor, 5',
  ]);
  const ids = (allowed: string) =>
    modelNames(pooled, { allows: ({ provider }) => provider.name === allowed }).map(({ id }) => id);
  const names = ['q,m', 'q,q1', 'm', 'q1', 'large', 'default', 'think', 'q-m', 'q-q1', 'large'];
  t.deepEqual(
    ids('q'),
    names.map((name, index) => (index < 5 ? name : `junctor-${name}`)),
  );
  t.deepEqual(ids('unknown'), []);
});
