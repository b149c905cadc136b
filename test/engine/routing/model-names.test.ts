import test from 'ava';
import { aliasDestination, aliasesOf } from '../../../engine/routing/model-names.ts';
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
