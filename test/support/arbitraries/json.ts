import fc, { type Arbitrary } from 'fast-check';
import type { Json, JsonObject } from '../../../engine/model/json/json.ts';

/** A short text that is almost unique, so that changes show. */
export const word: Arbitrary<string> = fc
  .tuple(fc.constantFrom('plain', 'two words', 'zwölf', 'línea\nnueva', '☂', '"q"'), fc.nat(9_999))
  .map(([text, number]) => `${text} ${number}`);

/** A name of characters that every vendor accepts; begins with a letter. */
export const name: Arbitrary<string> = fc.nat(99_999).map((number) => `n_${number}`);

/** Base64 of a few bytes. */
export const base64: Arbitrary<string> = fc
  .uint8Array({ minLength: 3, maxLength: 9 })
  .map((bytes) => Buffer.from(bytes).toString('base64'));

/** A web address. */
export const url: Arbitrary<string> = name.map((path) => `https://site.example/${path}`);

/** An object with these members; optional ones are omitted about half the time. */
export const members = (
  required: Readonly<Record<string, Arbitrary<Json>>>,
  optional: Readonly<Record<string, Arbitrary<Json>>> = {},
): Arbitrary<JsonObject> => fc.record({ ...required, ...optional }, { requiredKeys: Object.keys(required) });

/** Sometimes adds an unknown member. */
export const withUnknown = (object: Arbitrary<JsonObject>): Arbitrary<JsonObject> =>
  fc
    .tuple(object, rarely(fc.oneof(word, members({ deep: word }))))
    .map(([known, extra]) => (extra === undefined ? known : { ...known, x_unknown: extra }));

/** The value, with a probability of one in five. */
export const rarely = <T>(value: Arbitrary<T>): Arbitrary<T | undefined> =>
  fc.option(value, { freq: 4, nil: undefined }).map((given) => given);

/** A JSON Schema of a tool's arguments or of a response. */
export const schema: Arbitrary<JsonObject> = fc
  .tuple(fc.uniqueArray(name, { minLength: 1, maxLength: 2 }), word, fc.boolean())
  .map(([names, description, closed]) => ({
    type: 'object',
    properties: Object.fromEntries(names.map((key) => [key, { type: 'string', description }])),
    required: names,
    ...(closed && { additionalProperties: false }),
  }));

/** Arguments of a tool call. */
export const args: Arbitrary<JsonObject> = fc.oneof(
  members({}),
  members({ city: word }, { count: fc.nat(100), deep: members({ flag: fc.boolean() }) }),
);

/** Removes members that are `undefined`, as JSON does. */
export const asJson = (value: object): JsonObject => JSON.parse(JSON.stringify(value));
