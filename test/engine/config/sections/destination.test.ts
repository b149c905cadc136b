import test from 'ava';
import {
  findDestination,
  findProvider,
  parseDestination,
  providersOf,
} from '../../../../engine/config/sections/destination.ts';
import { provider } from '../../routing/providers.ts';

const parses = [
  ['p,m', { provider: 'p', model: 'm' }],
  ['p,a,b', { provider: 'p', model: 'a,b' }],
  ['p,vendor/model:free', { provider: 'p', model: 'vendor/model:free' }],
  [' p , m ', { provider: 'p', model: 'm' }],
  ['m', undefined],
  ['vendor/model:free', undefined],
  [',m', { provider: '', model: 'm' }],
  ['p,', { provider: 'p', model: '' }],
  ['', undefined],
] as const;
for (const [text, parsed] of parses) test(`"${text}" taken apart`, (t) => t.deepEqual(parseDestination(text), parsed));

const providers = [provider('OpenX', 'm', 'a/b'), provider('openx', 'n'), provider('Other', 'm', 'c,d')];

const finds = [
  ['openx', 1],
  ['OpenX', 0],
  ['OPENX', 0],
  ['other', 2],
  ['open', undefined],
  ['', undefined],
] as const;
for (const [name, index] of finds) {
  test(`the provider "${name}"`, (t) => {
    t.is(findProvider(providers, name), index === undefined ? undefined : providers[index]);
  });
}

test('providers that list a model', (t) => {
  t.deepEqual(providersOf(providers, 'm'), [providers[0], providers[2]]);
  t.deepEqual(providersOf(providers, 'M'), []);
});

const destinations = [
  ['other,z', 'Other', 'z'],
  ['m', 'OpenX', 'm'],
  [' n ', 'openx', 'n'],
  ['Other,c,d', 'Other', 'c,d'],
] as const;
for (const [text, name, model] of destinations) {
  test(`"${text}" leads to ${name}`, (t) => {
    const found = findDestination({ providers, pools: [] }, text);
    t.deepEqual([found?.provider.name, found?.model], [name, model]);
  });
}
for (const text of ['none,m', 'z', '', ',m', 'other,', 'c,d']) {
  test(`"${text}" leads nowhere`, (t) => t.is(findDestination({ providers, pools: [] }, text), undefined));
}
