import test from 'ava';
import type { JsonObject } from '../../../../engine/model/json/json.ts';
import { Losses } from '../../../../engine/model/loss.ts';
import {
  anyToolSchema,
  narrowToolSchema,
  type ToolSchemaForm,
  toolSchema,
} from '../../../../engine/model/wire/tool-schema.ts';
import { cpuTimeMs } from '../../../support/processes/cpu-time.ts';

const merged: ToolSchemaForm = { ...anyToolSchema, rootUnion: 'merged' };
const older: ToolSchemaForm = { ...anyToolSchema, tuples: 'prefixItems', properties: 'optional' };

const a = { type: 'object', properties: { a: { type: 'string' }, s: { type: 'string' } }, required: ['a', 's'] };
const b = { type: 'object', properties: { b: { type: 'number' }, s: { type: 'string' } }, required: ['b', 's'] };

const rows: readonly (readonly [
  title: string,
  form: ToolSchemaForm,
  given: JsonObject | undefined,
  expected: JsonObject,
  losses?: readonly string[],
])[] = [
  ['no parameters', anyToolSchema, undefined, { type: 'object', properties: {} }],
  ['no properties', anyToolSchema, { type: 'object' }, { type: 'object', properties: {} }],
  [
    'no properties, closed',
    anyToolSchema,
    { type: 'object', additionalProperties: false },
    { type: 'object', additionalProperties: false, properties: {} },
  ],
  ['no properties where they are optional', older, { type: 'object' }, { type: 'object' }],
  ['no type', anyToolSchema, { properties: {} }, { type: 'object', properties: {} }],
  ['an object or null', anyToolSchema, { type: ['object', 'null'] }, { type: 'object', properties: {} }],
  ['a reference at the root', anyToolSchema, { $ref: '#/$defs/a', $defs: { a } }, { ...a, $defs: { a } }],
  ['alternatives, kept', anyToolSchema, { anyOf: [a, b] }, { type: 'object', anyOf: [a, b], properties: {} }],
  ...(['anyOf', 'oneOf'] as const).map(
    (keyword) =>
      [
        `${keyword}, merged`,
        merged,
        { [keyword]: [a, b], description: 'd' },
        {
          type: 'object',
          description: 'd',
          properties: { a: { type: 'string' }, s: { type: 'string' }, b: { type: 'number' } },
          required: ['s'],
        },
        [`~tools[0].parameters.${keyword}`],
      ] as const,
  ),
  [
    'alternatives beside properties of their own',
    merged,
    {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      required: ['c'],
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, required: ['c'] },
    ['~tools[0].parameters.anyOf'],
  ],
  [
    'one property with several schemas',
    merged,
    {
      oneOf: [
        { type: 'object', properties: { kind: { const: 'x' } }, required: ['kind'], additionalProperties: false },
        { type: 'object', properties: { kind: { const: 'y' } }, required: ['kind'], additionalProperties: false },
      ],
    },
    {
      type: 'object',
      properties: { kind: { anyOf: [{ const: 'x' }, { const: 'y' }] } },
      required: ['kind'],
      additionalProperties: false,
    },
    ['~tools[0].parameters.oneOf'],
  ],
  [
    'parts that all hold',
    merged,
    { allOf: [a, { properties: { c: { type: 'string' } }, required: ['c'] }] },
    {
      type: 'object',
      properties: { a: { type: 'string' }, s: { type: 'string' }, c: { type: 'string' } },
      required: ['a', 's', 'c'],
    },
    ['~tools[0].parameters.allOf'],
  ],
  [
    'alternatives by reference, and in alternatives',
    merged,
    { $defs: { a, b }, anyOf: [{ $ref: '#/$defs/a' }, { oneOf: [{ $ref: '#/$defs/b' }] }, { type: 'null' }] },
    {
      type: 'object',
      $defs: { a, b },
      properties: { a: { type: 'string' }, s: { type: 'string' }, b: { type: 'number' } },
      required: ['s'],
    },
    ['~tools[0].parameters.anyOf'],
  ],
  [
    'duplicates in required, also inside, but not a property of that name',
    anyToolSchema,
    {
      type: 'object',
      properties: { required: { type: 'array', default: ['x', 'x'] }, o: { type: 'object', required: ['a', 'a'] } },
      required: ['o', 'o'],
    },
    {
      type: 'object',
      properties: { required: { type: 'array', default: ['x', 'x'] }, o: { type: 'object', required: ['a'] } },
      required: ['o'],
    },
  ],
  [
    'a list with a schema for each place, as the newer drafts write it',
    older,
    { type: 'object', properties: { t: { type: 'array', items: [a, b], additionalItems: false } } },
    { type: 'object', properties: { t: { type: 'array', prefixItems: [a, b], items: false } } },
  ],
  [
    'the same as a list of alternatives',
    narrowToolSchema,
    {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { t: { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false } },
    },
    {
      type: 'object',
      properties: { t: { type: 'array', maxItems: 2, items: { anyOf: [{ type: 'string' }, { type: 'number' }] } } },
    },
    ['~tools[0].parameters'],
  ],
  [
    'references inside, and a type beside alternatives',
    narrowToolSchema,
    {
      type: 'object',
      properties: {
        r: { $ref: '#/$defs/r', description: 'here' },
        u: { type: 'string', anyOf: [{ minLength: 1 }, { type: 'null' }] },
      },
      $defs: { r: { type: 'object', properties: { x: { $ref: '#/definitions/x' } } } },
      definitions: { x: { type: 'string' } },
    },
    {
      type: 'object',
      properties: {
        r: { type: 'object', properties: { x: { type: 'string' } }, description: 'here' },
        u: { anyOf: [{ type: 'string', minLength: 1 }, { type: 'null' }] },
      },
    },
  ],
  [
    'a recursive reference stays, with what it points to',
    narrowToolSchema,
    {
      type: 'object',
      properties: { tree: { $ref: '#/$defs/node' } },
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
    },
    {
      type: 'object',
      properties: { tree: { $ref: '#/$defs/node' } },
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
    },
  ],
];

for (const [title, form, given, expected, expectedLosses = []] of rows) {
  test(title, (t) => {
    const losses = new Losses('test');
    t.deepEqual(toolSchema(given, form, 'tools[0].parameters', losses), expected);
    t.deepEqual(
      losses.list.map(({ path, outcome }) => `${outcome === 'dropped' ? '-' : '~'}${path}`),
      expectedLosses,
    );
  });
}

test('a schema that is right already is the same object', (t) => {
  for (const form of [anyToolSchema, merged, narrowToolSchema, older]) {
    t.is(toolSchema(a, form, 'tools[0].parameters', new Losses('test')), a);
  }
});

test('references that expand without bound end', (t) => {
  const $defs: Record<string, JsonObject> = { d0: { type: 'string' } };
  for (let level = 1; level <= 40; level += 1) {
    const below = { $ref: `#/$defs/d${level - 1}` };
    $defs[`d${level}`] = { type: 'object', properties: { a: below, b: below } };
  }
  const bomb = { type: 'object', properties: { x: { $ref: '#/$defs/d40' } }, anyOf: [{ $ref: '#/$defs/d40' }], $defs };
  const before = cpuTimeMs();
  const written = JSON.stringify(toolSchema(bomb, narrowToolSchema, 'tools[0].parameters', new Losses('test')));
  t.true(written.length < 5_000_000);
  t.true(cpuTimeMs() - before < 5_000);
});
