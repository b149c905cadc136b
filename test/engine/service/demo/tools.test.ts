import test from 'ava';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { exampleValue } from '../../../../engine/service/demo/tools.ts';

const cases: readonly (readonly [string, unknown, unknown])[] = [
  ['nothing said', {}, 'example value'],
  ['no schema', undefined, null],
  ['an object without members', { type: 'object' }, {}],
  [
    'required members alone',
    { type: 'object', properties: { city: { type: 'string' }, unit: { type: 'string' } }, required: ['city'] },
    { city: 'example city' },
  ],
  ['a required member that is not described', { type: 'object', required: ['x'] }, { x: 'example x' }],
  ['the first of an enumeration', { type: 'string', enum: ['c', 'f'] }, 'c'],
  ['a constant', { const: 7 }, 7],
  ['a default', { type: 'integer', default: 0 }, 0],
  ['an example', { type: 'string', examples: ['Oslo'] }, 'Oslo'],
  ['a format', { type: 'string', format: 'date' }, '2026-01-31'],
  ['a shortest length', { type: 'string', minLength: 15 }, 'example value..'],
  ['a longest length', { type: 'string', maxLength: 3 }, 'exa'],
  ['an integer', { type: 'integer' }, 1],
  ['a least number', { type: 'number', minimum: 2.5 }, 2.5],
  ['more than', { type: 'integer', exclusiveMinimum: 4 }, 5],
  ['a negative most', { type: 'integer', maximum: -3 }, -4],
  ['a multiple', { type: 'integer', minimum: 7, multipleOf: 5 }, 10],
  ['a boolean', { type: 'boolean' }, true],
  ['null', { type: 'null' }, null],
  ['one type of several', { type: ['null', 'integer'] }, 1],
  ['an array', { type: 'array', items: { type: 'string' } }, []],
  ['an array with a least length', { type: 'array', items: { type: 'integer' }, minItems: 2 }, [1, 1]],
  ['a choice that is not null', { anyOf: [{ type: 'null' }, { type: 'boolean' }] }, true],
  ['a reference', { $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'boolean' } } }, true],
  ['a reference to nowhere', { $ref: '#/$defs/x' }, null],
  [
    'parts put together',
    {
      allOf: [
        { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
        { properties: { b: { type: 'boolean' } }, required: ['b'] },
      ],
    },
    { a: 1, b: true },
  ],
];

for (const [title, schema, expected] of cases) test(title, (t) => t.deepEqual(exampleValue(schema), expected));

test('a schema that refers to itself ends', (t) => {
  const schema = { type: 'object', properties: { next: { $ref: '#' } }, required: ['next'] };
  t.notThrows(() => JSON.stringify(exampleValue(schema)));
});

test('values pass their own schema', (t) => {
  const schema = Type.Object({
    path: Type.String({ minLength: 3, maxLength: 40 }),
    lines: Type.Array(Type.Integer({ minimum: 3, maximum: 9 }), { minItems: 2 }),
    mode: Type.Union([Type.Literal('r'), Type.Literal('w')]),
    nested: Type.Object({ on: Type.Boolean(), ratio: Type.Number({ exclusiveMinimum: 0, exclusiveMaximum: 1.5 }) }),
    when: Type.Optional(Type.String({ format: 'date-time' })),
  });
  t.true(Compile(schema).Check(exampleValue(schema)));
});
