import fc, { type Arbitrary } from 'fast-check';
import { isJsonObject, type Json, type JsonObject } from '../../../engine/model/json/json.ts';
import { anyText } from './text.ts';

/** One change of a value, at node number `at` (modulo their count). */
interface Change {
  readonly at: number;
  readonly kind: 'set' | 'drop' | 'wrap' | 'twice' | 'rename';
  readonly value: Json;
}

/** Lists or objects nested to this depth. */
const nest = (levels: number, list: boolean): Json => {
  let value: Json = 1;
  for (let level = 0; level < levels; level += 1) value = list ? [value] : { a: value };
  return value;
};

/** Values that often cause bugs. */
export const oddJson: Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(
    null,
    true,
    false,
    0,
    -0,
    -1,
    1.5,
    1e308,
    5e-324,
    2 ** 53 + 2,
    '',
    ' ',
    '\0',
    '\ud800',
    '\udc00x',
    '\u2028',
    '\ufeff',
    '__proto__',
    'constructor',
    'toString',
    '$HOME',
    '${',
    'data:image/png;base64,',
    'data:,',
    'http://[',
    'a,b',
    ',',
    '[DONE]',
    '{"a":',
    '</think>',
    'x'.repeat(5000),
    [],
    {},
    [null],
    [[]],
    [{}],
  ),
  fc.record({ levels: fc.nat(200), list: fc.boolean() }).map(({ levels, list }) => nest(levels, list)),
  fc.constant(JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}') as Json),
  // The library's JSON values are our JSON values.
  fc.jsonValue({ maxDepth: 3 }).map((value) => value as Json),
  anyText(),
);

const change: Arbitrary<Change> = fc.record({
  at: fc.nat(100_000),
  kind: fc.constantFrom(
    'set' as const,
    'set' as const,
    'drop' as const,
    'wrap' as const,
    'twice' as const,
    'rename' as const,
  ),
  value: oddJson,
});

/** Variants of `base`: up to four nodes are replaced, dropped, wrapped, duplicated or renamed. */
export const mutated = (base: Arbitrary<Json>): Arbitrary<Json> =>
  fc
    .tuple(base, fc.array(change, { maxLength: 4 }))
    .map(([value, changes]) => changes.reduce<Json>((changed, one) => applyChange(changed, one), value));

/** Variants of an object that stay objects. */
export const mutatedObject = (base: Arbitrary<JsonObject>): Arbitrary<JsonObject> =>
  mutated(base).map((value) => (isJsonObject(value) ? value : { value }));

const countNodes = (value: Json | undefined): number => {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, member: Json | undefined) => sum + countNodes(member), 1);
};

/** Nodes are numbered from 0, parents before their members. */
const applyChange = (root: Json, { at, kind, value }: Change): Json => {
  let left = at % countNodes(root);
  const dropped = Symbol('dropped');
  const visit = (node: Json | undefined): Json | undefined | typeof dropped => {
    if (left === 0) {
      left = -1;
      if (kind === 'set') return value;
      if (kind === 'drop') return dropped;
      if (kind === 'wrap') return [node ?? null];
      if (kind === 'twice') return Array.isArray(node) ? [...node, ...node] : [node ?? null, node ?? null];
      return isJsonObject(node)
        ? Object.fromEntries(Object.entries(node).map(([name, member]) => [`${name}_`, member]))
        : String(node);
    }
    left -= 1;
    if (typeof node !== 'object' || node === null) return node;
    if (Array.isArray(node)) {
      return node.map((item: Json) => visit(item)).filter((item) => item !== dropped && item !== undefined) as Json[];
    }
    const members = Object.entries(node).flatMap(([name, member]) => {
      const next = visit(member);
      return next === dropped || next === undefined ? [] : [[name, next as Json] as const];
    });
    return Object.fromEntries(members);
  };
  const changed = visit(root);
  return changed === dropped || changed === undefined ? {} : (changed as Json);
};

/** One change of bytes: a range is removed, duplicated or replaced. */
const cut = fc.record({
  at: fc.nat(1_000_000),
  length: fc.integer({ min: 0, max: 60 }),
  put: fc.oneof(
    fc.constant(undefined),
    fc.uint8Array({ maxLength: 8 }),
    fc
      .constantFrom(
        '\n\n',
        '\r',
        '\r\n',
        'data: ',
        'event: error\n',
        'data: [DONE]\n\n',
        '{}',
        '"',
        '}',
        '\ufeff',
        ':',
        '\\ud83d',
      )
      .map((text) => new TextEncoder().encode(text)),
  ),
});

/** Variants of the bytes of `base`. */
export const mutatedBytes = (base: Arbitrary<Uint8Array>): Arbitrary<Uint8Array> =>
  fc.tuple(base, fc.array(cut, { maxLength: 4 })).map(([bytes, cuts]) =>
    cuts.reduce<Uint8Array>((changed, { at, length, put }) => {
      const from = changed.length === 0 ? 0 : at % changed.length;
      const piece = changed.subarray(from, from + length);
      return Buffer.concat([
        changed.subarray(0, from),
        put ?? Buffer.concat([piece, piece]),
        changed.subarray(from + length),
      ]);
    }, bytes),
  );

/** Bytes in chunks, split anywhere. */
export const split = (bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] => {
  const places = [0, ...cuts.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((to, index) => bytes.subarray(places[index], to));
};
