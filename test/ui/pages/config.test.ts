import test from 'ava';
import fc from 'fast-check';
import { configSchema } from '../../../engine/config/json-schema.ts';
import { joins as engineJoins, factFields } from '../../../engine/config/rule-schema.ts';
import { ConfigFile, ServiceSettings } from '../../../engine/config/schema.ts';
import type { Transformer } from '../../../ui/src/api/config/config-file.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../ui/src/api/json.ts';
import { facts, joins } from '../../../ui/src/config/conditions.ts';
import { entryFindings } from '../../../ui/src/config/draft/entry-findings.ts';
import { mergeChanges } from '../../../ui/src/config/draft/merge-changes.ts';
import { mergePreset } from '../../../ui/src/config/draft/merge-preset.ts';
import { withInner, withMember } from '../../../ui/src/config/fields/field-path.ts';
import { printHidden } from '../../../ui/src/config/fields/hide-typed.ts';
import { sameJson } from '../../../ui/src/config/fields/same-json.ts';
import { schemaFaults } from '../../../ui/src/config/fields/schema-faults.ts';
import { editedSecret, isLiteralKey, isReferenceSoFar } from '../../../ui/src/config/reference.ts';
import { renamePool, renameProvider } from '../../../ui/src/config/rename-provider.ts';
import { fallbackPath, fallbacksOf, routePath, rules, withFallbacks, withRoute } from '../../../ui/src/config/rules.ts';
import { settingsOf } from '../../../ui/src/config/settings-of.ts';
import { commandOf, keysOf } from '../../../ui/src/config/spelling.ts';
import { settingParts } from '../../../ui/src/pages/settings/setting-parts.ts';

const objects: fc.Arbitrary<JsonObject> = fc
  .dictionary(fc.constantFrom('a', 'b', 'valueOf'), fc.jsonValue({ maxDepth: 2 }))
  // As it comes from the gateway: read from a text.
  .map((value) => JSON.parse(JSON.stringify(value)));

test('values that differ only in member order are equal', (t) => {
  t.true(sameJson({ a: 1, b: [{ c: null, d: 2 }] }, { b: [{ d: 2, c: null }], a: 1 }));
  t.false(sameJson([1, 2], [2, 1]));
  t.false(sameJson({ a: null }, {}));
  t.false(sameJson({ valueOf: 1 }, { a: 1 }));
});

const merges: readonly (readonly [string, JsonObject, JsonObject, JsonObject, JsonObject, readonly string[]])[] = [
  ['changes of different fields', { a: 1, b: 1 }, { a: 2, b: 1 }, { a: 1, b: 3 }, { a: 2, b: 3 }, []],
  ['the same change', { a: 1 }, { a: 2 }, { a: 2 }, { a: 2 }, []],
  ['different changes of one field: mine, and a conflict', { a: 1 }, { a: 2 }, { a: 3 }, { a: 2 }, ['a']],
  [
    'fields of a field',
    { r: { x: 1, y: 1 } },
    { r: { x: 2, y: 1 } },
    { r: { x: 1, y: 2, z: 3 } },
    { r: { x: 2, y: 2, z: 3 } },
    [],
  ],
  ['a list is one value', { l: [1] }, { l: [1, 2] }, { l: [0, 1] }, { l: [1, 2] }, ['l']],
  ['removed here, untouched there', { a: 1, b: 1 }, { b: 1 }, { a: 1, b: 2 }, { b: 2 }, []],
  ['removed here, changed there', { a: 1 }, {}, { a: 2 }, {}, ['a']],
];

for (const [title, base, mine, theirs, expected, conflicts] of merges) {
  test(`a merge of ${title}`, (t) => {
    const merged = mergeChanges(base, mine, theirs);
    t.deepEqual(merged.value, expected);
    t.deepEqual(
      merged.conflicts.map(({ path }) => path),
      conflicts,
    );
  });
}

test('a merge with an unchanged side gives the other side', (t) => {
  fc.assert(
    fc.property(objects, objects, (base, changed) => {
      const [mine, theirs] = [mergeChanges(base, changed, base), mergeChanges(base, base, changed)];
      return (
        sameJson(mine.value, changed) &&
        sameJson(theirs.value, changed) &&
        mine.conflicts.length + theirs.conflicts.length === 0
      );
    }),
  );
  t.pass();
});

test('a merge has the same conflicts from both sides', (t) => {
  fc.assert(
    fc.property(objects, objects, objects, (base, one, other) => {
      const paths = [mergeChanges(base, one, other), mergeChanges(base, other, one)].map(({ conflicts }) =>
        conflicts.map(({ path }) => path).sort(),
      );
      return sameJson(paths[0], paths[1]);
    }),
  );
  t.pass();
});

test('references are not keys in plain text', (t) => {
  for (const text of ['', ' ', '$NAME', '${NAME}', ' $NAME ', '$A$B', 'Bearer $NAME'])
    t.false(isLiteralKey(text), text);
  for (const text of ['sk-123', '$', '$$NAME', 'Bearer x', '$NAME-x']) t.true(isLiteralKey(text), text);
});

test('a key by command is shown by its command, and its words are no secrets', (t) => {
  const command = ['gcloud', 'auth', 'print-access-token'];
  t.deepEqual(keysOf({ name: 'p', apiKey: { command } }), [{ command }]);
  const keys = keysOf({ name: 'p', apiKey: ['$KEY', { command, forMs: 5_000 }] });
  t.deepEqual(keys.map(commandOf), [undefined, command.join(' ')]);
  t.deepEqual(keysOf({ name: 'p', apiKey: '' }), []);
  t.true(printHidden({ Providers: [{ name: 'p', apiKey: { command } }] }).includes('"print-access-token"'));
});

test('only a reference is shown while it is typed', (t) => {
  for (const text of ['', '$', '$N', '${', '${NA', '${NAME}']) t.true(isReferenceSoFar(text), text);
  for (const text of ['s', '$$', '$a-', '$ecret!', '${NAME}x']) t.false(isReferenceSoFar(text), text);
});

test('secrets that were typed are never printed; references, placeholders and names of keys are', (t) => {
  const typed = {
    APIKEY: 'secret-1',
    Providers: [{ name: 'b', api_key: ['secret-2', '$REF', '•••• Providers[b].api_key[2]'], credentials: 'client' }],
    FLEET: { store: 'redis://me:secret-3@h', key: 'secret-4' },
    TELEMETRY: { headers: { authorization: 'Bearer secret-5', 'x-api-key': 'Bearer $REF' } },
    CLIENTS: [{ name: 'team', key: 'sha256:0' }],
    Router: { rules: [{ name: 'r', when: { key: 'team' } }] },
  };
  const printed = printHidden(typed);
  t.false(printed.includes('secret-'), printed);
  t.like(JSON.parse(printed), {
    Providers: [{ name: 'b', api_key: { 1: '$REF', 2: '•••• Providers[b].api_key[2]' }, credentials: 'client' }],
    TELEMETRY: { headers: { 'x-api-key': 'Bearer $REF' } },
    CLIENTS: typed.CLIENTS,
    Router: typed.Router,
  });
});

test('an edit replaces a placeholder whole', (t) => {
  const stored = '•••• APIKEY';
  t.is(editedSecret(stored, `${stored}x`), 'x');
  t.is(editedSecret(stored, '•••• APIKE'), '');
  t.is(editedSecret(stored, 'new'), 'new');
  t.is(editedSecret('k', 'ke'), 'ke');
});

test('renaming a provider updates routes, fallbacks and scopes, but not names with the same prefix', (t) => {
  t.deepEqual(
    renameProvider(
      {
        Router: { default: 'a,m', routes: { think: 'ab,m' }, fallback: { default: ['a,n', 'b,a'] } },
        transformers: ['a', { name: 'x', provider: 'a' }, { name: 'y', provider: 'ab' }],
      },
      'a',
      'z',
    ),
    {
      Router: { default: 'z,m', routes: { think: 'ab,m' }, fallback: { default: ['z,n', 'b,a'] } },
      transformers: ['a', { name: 'x', provider: 'z' }, { name: 'y', provider: 'ab' }],
    },
  );
});

test('renaming a provider or a pool updates what names it', (t) => {
  const config = {
    Pools: [{ name: 'large', members: [{ to: 'a,m', weight: 2 }, { to: 'ab,m' }] }],
    Router: { default: 'large', fallback: { default: ['large,m', 'large'] } },
  };
  t.deepEqual(renameProvider(config, 'a', 'z').Pools, [
    { name: 'large', members: [{ to: 'z,m', weight: 2 }, { to: 'ab,m' }] },
  ]);
  t.deepEqual(renamePool(config, 'large', 'big').Router, { default: 'big', fallback: { default: ['large,m', 'big'] } });
});

test('rules are written in place: older spellings are kept', (t) => {
  const think = rules.find(({ name }) => name === 'think');
  const image = rules.find(({ name }) => name === 'image');
  if (!think || !image) return t.fail();
  const older = { Router: { think: 'a,m' }, fallback: { think: ['b,m'] } };
  t.is(routePath(older, think), 'Router.think');
  t.deepEqual(withRoute(older, think, 'c,m').Router, { think: 'c,m' });
  t.deepEqual(withRoute(older, image, 'c,m').Router, { think: 'a,m', routes: { image: 'c,m' } });
  t.deepEqual(withRoute({ Router: { routes: { image: 'c,m' } } }, image, '').Router, {});
  t.is(fallbackPath(older, think), 'fallback.think');
  t.deepEqual(fallbacksOf(older, think), ['b,m']);
  t.deepEqual(withFallbacks(older, think, ['c,m']).fallback, { think: ['c,m'] });
  t.deepEqual(withFallbacks(older, image, ['c,m']).Router, { think: 'a,m', fallback: { image: ['c,m'] } });
});

test('members are set, and removed together with emptied parents', (t) => {
  t.deepEqual(withMember({ a: 1, b: 2 }, 'a', 3), { a: 3, b: 2 });
  t.deepEqual(withMember({ a: 1, b: 2 }, 'a', undefined), { b: 2 });
  t.deepEqual(withInner({ a: { x: 1 } }, 'a', 'x', undefined), {});
});

test('a preset replaces fields, but merges the router by member', (t) => {
  const config = { PORT: 1, Providers: [], Router: { default: 'a,m', routes: { think: 'a,t', image: 'a,i' } } };
  const manifest = { name: 'x', PORT: 2, learn: false, Router: { routes: { think: 'b,t' } } };
  t.deepEqual(mergePreset(config, manifest, configSchema()), {
    PORT: 1,
    Providers: [],
    Router: { default: 'a,m', routes: { think: 'b,t', image: 'a,i' } },
  });
});

test('the form has each setting of the service, in the group that the schema names', (t) => {
  const groups = settingParts(configSchema(), { LOG: false, LIMITS: { ratio: 9 } });
  t.like(
    groups.find(({ title }) => title === 'Logs'),
    { path: '', value: { LOG: false }, titles: { LOG: 'Write logs (LOG)' } },
  );
  t.like(
    groups.find(({ title }) => title === 'Limits'),
    { path: 'LIMITS', value: { ratio: 9 } },
  );
  const shown = groups.flatMap(({ path, titles }) => (path === '' ? Object.keys(titles) : [path]));
  // Clients have a page of their own.
  t.deepEqual([...shown, 'CLIENTS'].sort(), Object.keys(ServiceSettings.properties).sort());
  t.deepEqual(Object.keys(settingsOf(configSchema())).sort(), Object.keys(ServiceSettings.properties).sort());
  const others = Object.keys(ConfigFile.properties).filter((name) => !(name in ServiceSettings.properties));
  t.deepEqual(others, ['$schema', 'Providers', 'Pools', 'Router', 'fallback', 'transformers']);
});

test('a new setting shows in the form by its declaration alone', (t) => {
  const { properties, ...rest } = configSchema();
  const field = (group: string): JsonObject => ({ type: 'boolean', group, title: 'New one', restart: true });
  const schema = {
    ...rest,
    properties: { ...(isJsonObject(properties) ? properties : {}), newer: field('Logs'), apart: field('Apart') },
  };
  const groups = settingParts(schema, { newer: true });
  const logs = groups.find(({ title }) => title === 'Logs');
  t.is(logs?.titles.newer, 'New one (newer)');
  t.is(logs?.value.newer, true);
  t.true(JSON.stringify(logs?.schema).includes('after a restart'));
  t.like(groups.at(-1), { title: 'Apart', titles: { apart: 'New one (apart)' } });
  t.deepEqual(mergePreset({}, { newer: true }, schema), {});
});

const options: JsonObject = {
  type: 'object',
  required: ['cap'],
  additionalProperties: false,
  properties: {
    cap: { type: 'integer', minimum: 1, maximum: 9 },
    tag: { type: 'string', pattern: '^[a-z]+$', maxLength: 4 },
    mode: { anyOf: [{ const: 'chat' }, { const: 'other' }] },
    list: { type: 'array', items: { type: 'string' } },
  },
};

const optionCases: readonly (readonly [Json, readonly string[]])[] = [
  [{ cap: 1, tag: 'ab', mode: 'chat', list: ['x'] }, []],
  [{}, ['o.cap is required']],
  [{ cap: 0 }, ['o.cap must be at least 1']],
  [{ cap: 1.5 }, ['o.cap must be a whole number']],
  [{ cap: 10 }, ['o.cap must be at most 9']],
  [{ cap: 1, tag: 'A' }, ['o.tag must match ^[a-z]+$']],
  [{ cap: 1, tag: 'abcde' }, ['o.tag must have at most 4 characters']],
  [{ cap: 1, mode: 'x' }, ['o.mode is not an allowed value']],
  [{ cap: 1, list: [1] }, ['o.list[0] must be a string']],
  [{ cap: 1, more: 1 }, ['o.more is unknown']],
  [[], ['o must be a JSON object']],
];

for (const [value, expected] of optionCases) {
  test(`options by their schema: ${JSON.stringify(value)}`, (t) => {
    t.deepEqual(
      schemaFaults(value, options, 'o').map(({ path, message }) => `${path} ${message}`),
      expected,
    );
  });
}

test('invalid entries are faults if edited, and warnings if saved before', (t) => {
  const known: Transformer = {
    name: 'cap',
    endpoint: null,
    kind: 'stage',
    about: '',
    options,
    halves: { request: true, events: false, call: false },
    state: 'loaded',
  };
  const config = { transformers: ['cap', 'nobody', { name: 'cap', options: { cap: 3 } }] };
  const paths = (findings: readonly { readonly path: string }[]) => findings.map(({ path }) => path);
  const edited = entryFindings(config, { transformers: ['cap'] }, [known]);
  t.deepEqual(paths(edited.faults), ['transformers[1].name']);
  t.deepEqual(paths(edited.warnings), ['transformers[0].options.cap']);
});

test('each fact and join of a condition has a field in the form of rules', (t) => {
  t.deepEqual([...facts, ...joins].map(({ name }) => name).sort(), [...Object.keys(factFields), ...engineJoins].sort());
});

test('renaming a provider changes the destinations of rules, and of a condition only what it asks', (t) => {
  const when = (ask: string) => ({ system: 'first, look', any: [{ decides: { ask, question: 'first,m?' } }] });
  const rule = { name: 'r', when: when('first,m'), to: ['first,m', 'other,m'] };
  t.deepEqual(renameProvider({ Router: { rules: [rule] } }, 'first', 'best').Router?.rules, [
    { ...rule, when: when('best,m'), to: ['best,m', 'other,m'] },
  ]);
});
