import test from 'ava';
import fc from 'fast-check';
import { isJsonObject, type Json, type JsonObject } from '../../../engine/model/json/json.ts';
import { Losses } from '../../../engine/model/loss.ts';
import { cleanSchema } from '../../../protocols/gemini/tool-schema/clean-schema.ts';

const clean = (schema: JsonObject): readonly [JsonObject, readonly string[]] => {
  const losses = new Losses('gemini');
  const cleaned = cleanSchema(schema, 's', losses);
  return [cleaned, losses.list.map(({ path, outcome }) => `${outcome} ${path}`)];
};

const string: JsonObject = { type: 'STRING' };
const anything: JsonObject = { anyOf: [string, { type: 'NUMBER' }, { type: 'BOOLEAN' }, { type: 'OBJECT' }] };

const cases: Readonly<Record<string, readonly [schema: JsonObject, cleaned: JsonObject, losses?: readonly string[]]>> =
  {
    'what the subset knows stays': [
      {
        type: 'object',
        title: 'T',
        description: 'D',
        properties: {
          s: {
            type: 'string',
            minLength: 1,
            maxLength: 2,
            pattern: '^a',
            format: 'date-time',
            default: 'x',
            example: 'y',
          },
          n: { type: 'number', minimum: 0, maximum: 1, format: 'double' },
          i: { type: 'integer', format: 'int64' },
          a: { type: 'array', items: { type: 'boolean' }, minItems: 1, maxItems: 2 },
          e: { type: 'string', enum: ['a', 'b'] },
        },
        required: ['s', 'n'],
        propertyOrdering: ['n', 's'],
        minProperties: 1,
      },
      {
        type: 'OBJECT',
        title: 'T',
        description: 'D',
        properties: {
          s: {
            type: 'STRING',
            minLength: 1,
            maxLength: 2,
            pattern: '^a',
            format: 'date-time',
            default: 'x',
            example: 'y',
          },
          n: { type: 'NUMBER', minimum: 0, maximum: 1, format: 'double' },
          i: { type: 'INTEGER', format: 'int64' },
          a: { type: 'ARRAY', items: { type: 'BOOLEAN' }, minItems: 1, maxItems: 2 },
          e: { type: 'STRING', enum: ['a', 'b'] },
        },
        required: ['s', 'n'],
        propertyOrdering: ['n', 's'],
        minProperties: 1,
      },
    ],
    'a property may have any name': [
      {
        type: 'object',
        properties: { $ref: { type: 'string' }, not: { type: 'string' }, ['__proto__']: { type: 'string' } },
        required: ['__proto__'],
      },
      { type: 'OBJECT', properties: { $ref: string, not: string, ['__proto__']: string }, required: ['__proto__'] },
    ],
    'null beside one type': [{ type: ['string', 'null'] }, { type: 'STRING', nullable: true }],
    'null alone': [{ type: 'null' }, { type: 'NULL' }],
    'several types': [
      { type: ['string', 'integer', 'null'], description: 'D', minLength: 1, minimum: 2 },
      {
        anyOf: [
          { type: 'STRING', description: 'D', minLength: 1, nullable: true },
          { type: 'INTEGER', description: 'D', minimum: 2, nullable: true },
        ],
      },
    ],
    'const is an enum of one': [{ const: 'a' }, { type: 'STRING', enum: ['a'] }],
    'an enum with null': [{ enum: ['a', null] }, { type: 'STRING', nullable: true, enum: ['a'] }],
    'an enum of numbers goes into words': [
      { type: 'integer', description: 'D', enum: [1, 2] },
      { type: 'INTEGER', description: 'D\nAllowed values: 1, 2.' },
      ['approximated s.enum'],
    ],
    'an empty text can not be listed': [
      { type: 'string', enum: ['', 'a'] },
      { type: 'STRING', description: 'Allowed values: "", "a".' },
      ['approximated s.enum'],
    ],
    'a constant that is no text': [
      { const: true },
      { type: 'BOOLEAN', description: 'Allowed values: true.' },
      ['approximated s.const'],
    ],
    'oneOf is anyOf': [
      { oneOf: [{ type: 'string' }, { type: 'number' }] },
      { anyOf: [string, { type: 'NUMBER' }] },
      ['approximated s.oneOf'],
    ],
    'one variant and null': [
      { description: 'D', anyOf: [{ type: 'string', format: 'uri' }, { type: 'null' }] },
      { type: 'STRING', description: 'D', nullable: true },
      ['dropped s.anyOf[0].format'],
    ],
    'anyOf stands alone: what is around it goes into each': [
      {
        type: 'object',
        description: 'D',
        properties: { a: { type: 'string' } },
        anyOf: [{ required: ['a'] }, { properties: { b: { type: 'string' } }, required: ['b'] }],
      },
      {
        anyOf: [
          { type: 'OBJECT', description: 'D', properties: { a: string }, required: ['a'] },
          { type: 'OBJECT', description: 'D', properties: { a: string, b: string }, required: ['b'] },
        ],
      },
    ],
    'allOf is one schema': [
      {
        allOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, { $ref: '#/$defs/B' }],
        description: 'D',
        $defs: { B: { properties: { b: { type: 'number', minimum: 1 } }, required: ['b'] } },
      },
      {
        type: 'OBJECT',
        description: 'D',
        properties: { a: string, b: { type: 'NUMBER', minimum: 1 } },
        required: ['a', 'b'],
      },
    ],
    'the same property twice is held to both': [
      {
        allOf: [
          { properties: { n: { type: 'number', minimum: 1, maximum: 9 } } },
          { properties: { n: { type: 'integer', minimum: 3, maximum: 20 } } },
        ],
      },
      { type: 'OBJECT', properties: { n: { type: 'INTEGER', minimum: 3, maximum: 9 } } },
    ],
    'two schemas of one value: the narrower of each limit, the values of both, all descriptions': [
      {
        allOf: [
          { type: 'string', enum: ['a', 'b'], minLength: 1, maxLength: 5, description: 'A' },
          { type: 'string', enum: ['b', 'c'], minLength: 3, maxLength: 9, description: 'B' },
        ],
      },
      { type: 'STRING', enum: ['b'], minLength: 3, maxLength: 5, description: 'A\nB' },
    ],
    'two schemas of one value, in the other order': [
      {
        allOf: [
          { type: 'integer', minimum: 3 },
          { type: 'number', minimum: 1, maximum: 4 },
        ],
      },
      { type: 'INTEGER', minimum: 3, maximum: 4 },
    ],
    'lists of two kinds, and of more': [
      { type: 'array', prefixItems: [{ type: 'string' }], items: { type: 'number' } },
      { type: 'ARRAY', items: { anyOf: [string, { type: 'NUMBER' }] } },
      ['approximated s.prefixItems'],
    ],
    'a list of one kind alone': [
      { type: 'array', prefixItems: [{ type: 'string' }], items: false },
      { type: 'ARRAY', items: string },
      ['approximated s.prefixItems'],
    ],
    'references are resolved': [
      {
        type: 'object',
        properties: {
          a: { $ref: '#/definitions/x~1y%20z', description: 'mine' },
          b: { $ref: '#/definitions/x~1y%20z' },
        },
        definitions: { 'x/y z': { type: 'string', title: 'T' } },
      },
      {
        type: 'OBJECT',
        properties: { a: { type: 'STRING', title: 'T', description: 'mine' }, b: { type: 'STRING', title: 'T' } },
      },
    ],
    'recursion is cut': [
      {
        $ref: '#/$defs/Node',
        $defs: {
          Node: {
            type: 'object',
            properties: { next: { $ref: '#/$defs/Node', description: 'the next' }, v: { type: 'string' } },
            required: ['next'],
          },
        },
      },
      {
        type: 'OBJECT',
        properties: { next: { type: 'OBJECT', description: 'the next' }, v: string },
        required: ['next'],
      },
      ['approximated s.properties.next.$ref'],
    ],
    'a reference to itself': [{ $ref: '#' }, { type: 'OBJECT' }, ['approximated s.$ref']],
    'a reference to nothing': [{ $ref: 'https://example.org/x', type: 'string' }, string, ['dropped s.$ref']],
    'bounds that exclude their end': [
      { type: 'number', exclusiveMinimum: 0, minimum: -5, exclusiveMaximum: 9 },
      { type: 'NUMBER', minimum: 0, maximum: 9 },
      ['approximated s.exclusiveMinimum', 'approximated s.exclusiveMaximum'],
    ],
    'bounds of draft 4': [
      { type: 'number', exclusiveMinimum: true, minimum: 1 },
      { type: 'NUMBER', minimum: 1 },
      ['approximated s.exclusiveMinimum'],
    ],
    'keywords without a counterpart': [
      {
        type: 'object',
        $schema: 's',
        $comment: 'c',
        additionalProperties: false,
        patternProperties: {},
        propertyNames: {},
        not: {},
        if: {},
        properties: {
          a: { type: 'array', items: { type: 'integer', multipleOf: 2 }, uniqueItems: true, contains: {} },
        },
      },
      { type: 'OBJECT', properties: { a: { type: 'ARRAY', items: { type: 'INTEGER' } } } },
      [
        'dropped s.additionalProperties',
        'dropped s.patternProperties',
        'dropped s.propertyNames',
        'dropped s.not',
        'dropped s.if',
        'dropped s.properties.a.uniqueItems',
        'dropped s.properties.a.contains',
        'dropped s.properties.a.items.multipleOf',
      ],
    ],
    'additionalProperties true asks for nothing': [{ type: 'object', additionalProperties: true }, { type: 'OBJECT' }],
    'required names without a property': [
      { type: 'object', properties: { a: { type: 'string' } }, required: ['a', 'b', 'a'] },
      { type: 'OBJECT', properties: { a: string }, required: ['a'] },
      ['dropped s.required'],
    ],
    'a list of anything': [{ type: 'array' }, { type: 'ARRAY', items: anything }, ['approximated s.items']],
    'a tuple': [
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
      { type: 'ARRAY', items: { anyOf: [string, { type: 'NUMBER' }] } },
      ['approximated s.prefixItems'],
    ],
    'a tuple of older drafts': [
      { type: 'array', items: [{ type: 'string' }] },
      { type: 'ARRAY', items: string },
      ['approximated s.items'],
    ],
    'an untyped schema': [
      { description: 'D' },
      { anyOf: ['STRING', 'NUMBER', 'BOOLEAN', 'OBJECT'].map((type) => ({ type, description: 'D' })) },
      ['approximated s'],
    ],
    'a property that may be anything, and one that may not be there': [
      { type: 'object', properties: { a: true, b: false } },
      { type: 'OBJECT', properties: { a: anything } },
      ['approximated s.properties.a', 'dropped s.properties.b'],
    ],
    'types are told by their keywords': [
      { properties: { a: { items: { pattern: 'x' } }, b: { minimum: 1 } } },
      {
        type: 'OBJECT',
        properties: {
          a: { type: 'ARRAY', items: { type: 'STRING', pattern: 'x' } },
          b: { type: 'NUMBER', minimum: 1 },
        },
      },
    ],
    'upper case and nullable are the subset itself': [
      { type: 'OBJECT', properties: { a: { type: 'STRING', nullable: true } } },
      { type: 'OBJECT', properties: { a: { type: 'STRING', nullable: true } } },
    ],
    'the first example is kept': [
      { type: 'string', examples: ['a', 'b'] },
      { type: 'STRING', example: 'a' },
    ],
  };

for (const [title, [schema, cleaned, losses]] of Object.entries(cases)) {
  test(title, (t) => t.deepEqual(clean(schema), [cleaned, losses ?? []]));
}

const telling: Readonly<Record<string, JsonObject>> = {
  OBJECT: { properties: {}, required: ['a'], additionalProperties: true, patternProperties: {}, propertyNames: {} },
  ARRAY: { items: {}, prefixItems: [], minItems: 1, maxItems: 1, uniqueItems: true },
  STRING: { pattern: 'a', minLength: 1, maxLength: 1, enum: ['a', null], const: 'a' },
  NUMBER: { minimum: 1, maximum: 1, exclusiveMinimum: 1, exclusiveMaximum: 1, multipleOf: 1, const: 1 },
  BOOLEAN: { const: true },
};

test('each keyword tells the type of a schema without one', (t) => {
  for (const [type, keywords] of Object.entries(telling)) {
    for (const [keyword, value] of Object.entries(keywords)) t.is(clean({ [keyword]: value })[0].type, type, keyword);
  }
  t.deepEqual(clean({ enum: [1, 'a'] })[0].type, undefined);
});

test('of alternatives in both forms, one form is kept', (t) => {
  const [cleaned, losses] = clean({ anyOf: [{ type: 'string' }, { type: 'boolean' }], oneOf: [{ type: 'number' }] });
  t.deepEqual(cleaned, { anyOf: [string, { type: 'BOOLEAN' }] });
  t.deepEqual(losses, ['dropped s.oneOf']);
});

const allowed = new Set([
  ...['type', 'format', 'title', 'description', 'nullable', 'enum', 'items', 'minItems', 'maxItems', 'properties'],
  ...['required', 'propertyOrdering', 'minProperties', 'maxProperties', 'minLength', 'maxLength', 'pattern', 'minimum'],
  ...['maximum', 'anyOf', 'default', 'example'],
]);

/** What the vendor would refuse about a schema. */
const complaints = (schema: Json | undefined, at = 's'): readonly string[] => {
  if (!isJsonObject(schema)) return [`${at} is no schema`];
  const found = Object.keys(schema)
    .filter((keyword) => !allowed.has(keyword))
    .map((keyword) => `${at}.${keyword}`);
  const { type, anyOf, properties, required, items, enum: values } = schema;
  if (anyOf !== undefined) {
    if (Object.keys(schema).length > 1) found.push(`${at}: anyOf is not alone`);
    const variants = Array.isArray(anyOf) ? anyOf : [];
    if (variants.length < 2) found.push(`${at}: anyOf of ${variants.length}`);
    return [...found, ...variants.flatMap((variant, index) => complaints(variant, `${at}.anyOf[${index}]`))];
  }
  const types = ['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'];
  if (!types.some((known) => known === type)) found.push(`${at}.type is ${JSON.stringify(type)}`);
  if (type === 'ARRAY') found.push(...complaints(items, `${at}.items`));
  const members = isJsonObject(properties) ? Object.entries(properties) : [];
  found.push(...members.flatMap(([name, member]) => complaints(member, `${at}.${name}`)));
  const names = Array.isArray(required) ? required : [];
  for (const name of names)
    if (!members.some(([known]) => known === name)) found.push(`${at} requires ${String(name)}`);
  if (
    values !== undefined &&
    !(Array.isArray(values) && values.every((value) => typeof value === 'string' && value !== ''))
  ) {
    found.push(`${at}.enum`);
  }
  return found;
};

const word = fc.constantFrom('a', 'b', 'c', '');
const types = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null', 'odd'];
const { schema: anySchema } = fc.letrec<{ schema: Json; object: Json }>((tie) => ({
  schema: fc.oneof({ maxDepth: 4, withCrossShrink: true }, fc.constantFrom<Json>(true, false, {}, null), tie('object')),
  object: fc.record(
    {
      type: fc.oneof(fc.constantFrom(...types), fc.uniqueArray(fc.constantFrom(...types))),
      title: fc.oneof(word, fc.constant(1)),
      description: word,
      enum: fc.array(fc.oneof(word, fc.integer(), fc.constant(null), fc.boolean())),
      const: fc.oneof(word, fc.integer(), fc.constant(null)),
      format: fc.constantFrom('date-time', 'uri', 'int32', 'float'),
      default: fc.jsonValue({ maxDepth: 1 }),
      items: fc.oneof(tie('schema'), fc.array(tie('schema'), { maxLength: 2 })),
      prefixItems: fc.array(tie('schema'), { maxLength: 2 }),
      properties: fc.dictionary(word, tie('schema'), { maxKeys: 3 }),
      required: fc.array(word),
      additionalProperties: tie('schema'),
      anyOf: fc.array(tie('schema'), { maxLength: 3 }),
      oneOf: fc.array(tie('schema'), { maxLength: 3 }),
      allOf: fc.array(tie('schema'), { maxLength: 3 }),
      not: tie('schema'),
      nullable: fc.boolean(),
      minimum: fc.integer(),
      exclusiveMinimum: fc.oneof(fc.integer(), fc.boolean()),
      minLength: fc.oneof(fc.nat(), fc.constant(-1)),
      minItems: fc.nat(),
      pattern: word,
      uniqueItems: fc.boolean(),
      $ref: fc.constantFrom('#', '#/properties/a', '#/$defs/a', '#/anyOf/0', '#/%', 'x'),
      $defs: fc.dictionary(word, tie('schema'), { maxKeys: 2 }),
    },
    { requiredKeys: [] },
  ),
}));

test('for any input, only supported fields are sent', (t) => {
  fc.assert(
    fc.property(anySchema, (schema) => {
      const [cleaned] = clean(isJsonObject(schema) ? schema : {});
      t.deepEqual(complaints(cleaned), []);
    }),
    { numRuns: 700 },
  );
});

test('exploding references and deep schemas are cut', (t) => {
  const names = Array.from({ length: 40 }, (_, index) => `d${index}`);
  const $defs = Object.fromEntries(
    names.map((name, index) => {
      const next = { $ref: `#/$defs/d${index + 1}` };
      return [name, index === 39 ? { type: 'string' } : { type: 'object', properties: { a: next, b: next } }];
    }),
  );
  const [bomb, losses] = clean({ $ref: '#/$defs/d0', $defs });
  t.true(JSON.stringify(bomb).length < 1_000_000);
  t.deepEqual(complaints(bomb), []);
  t.true(losses.length > 0);
  let deep: JsonObject = { type: 'string' };
  for (let depth = 0; depth < 5000; depth += 1) deep = { type: 'array', items: deep };
  t.deepEqual(complaints(clean(deep)[0]), []);
  let nested: JsonObject = { type: 'string' };
  for (let depth = 0; depth < 5000; depth += 1) nested = { allOf: [nested] };
  t.deepEqual(complaints(clean(nested)[0]), []);
});
