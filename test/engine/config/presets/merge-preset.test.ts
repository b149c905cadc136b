import test from 'ava';
import { mergePreset } from '../../../../engine/config/presets/merge-preset.ts';
import type { JsonObject } from '../../../../engine/model/json/json.ts';

const base: JsonObject = {
  PORT: 1,
  APIKEY: 'k',
  Providers: [{ name: 'p' }],
  Router: { default: 'p,m', longContextThreshold: 5, routes: { think: 'p,t', image: 'p,i' }, background: 'p,b' },
  transformers: ['maxtoken'],
  note: 'kept',
};

const cases: readonly (readonly [title: string, preset: JsonObject, changed: JsonObject, warned: readonly string[]])[] =
  [
    ['an empty one changes nothing', {}, {}, []],
    [
      'a field takes the place of the whole field',
      { Providers: [{ name: 'q' }], transformers: [] },
      { Providers: [{ name: 'q' }], transformers: [] },
      [],
    ],
    ['unknown fields too', { note: 'new', more: 1 }, { note: 'new', more: 1 }, []],
    ['what it says of itself is no configuration', { name: 'x', version: '1', description: 'd' }, {}, []],
    [
      'the service stays as it is, and the user is told',
      { PORT: 2, APIKEY: '', HOST: 'h', LIMITS: {} },
      {},
      ['PORT', 'APIKEY', 'HOST', 'LIMITS'],
    ],
    [
      'the router member by member',
      { Router: { default: 'p,x' } },
      {
        Router: { default: 'p,x', longContextThreshold: 5, routes: { think: 'p,t', image: 'p,i', background: 'p,b' } },
      },
      [],
    ],
    [
      'its routes scenario by scenario, in either spelling',
      { Router: { think: 'p,new', routes: { webSearch: 'p,w' } } },
      {
        Router: {
          default: 'p,m',
          longContextThreshold: 5,
          routes: { think: 'p,new', image: 'p,i', background: 'p,b', webSearch: 'p,w' },
        },
      },
      [],
    ],
    ['a router that is none is left for the validator', { Router: 'p,m' }, { Router: 'p,m' }, []],
  ];

for (const [title, preset, changed, warned] of cases) {
  test(title, (t) => {
    const { source, warnings } = mergePreset(base, preset);
    const { Router: router, ...rest } = source;
    const { Router: expectedRouter, ...expected }: JsonObject = { ...base, ...changed };
    t.deepEqual(rest, expected);
    if (changed.Router || preset.Router) t.deepEqual(router, expectedRouter);
    else t.is(router, base.Router);
    t.deepEqual(
      warnings.map(({ path }) => path),
      warned,
    );
  });
}

test('fallbacks scenario by scenario, in either spelling', (t) => {
  const below = { ...base, fallback: { default: ['p,a'], think: ['p,b'] }, Router: { fallback: { think: ['p,c'] } } };
  const { source } = mergePreset(below, { fallback: { image: ['p,d'] }, Router: { fallback: { default: [] } } });
  t.deepEqual(Object(source.Router).fallback, { default: [], think: ['p,c'], image: ['p,d'] });
  t.false('fallback' in source);
});

test('malformed routes are left to the validator', (t) => {
  const { source } = mergePreset(base, { Router: { routes: 3 } });
  t.is(Object(source.Router).routes, 3);
});

test('a member named __proto__ stays a member', (t) => {
  const { source } = mergePreset(base, JSON.parse('{"__proto__": {"polluted": 1}}'));
  t.true(Object.hasOwn(source, '__proto__'));
  t.is(Object.getPrototypeOf(source), Object.prototype);
});
