import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../model/json.ts';
import { masked } from './mask-text.ts';
import { isSecretName } from './secret-names.ts';

/** Bounds that keep a careless call from filling a log: a record's levels of nesting, values and characters; those of a text. */
const maxDepth = 6;
const maxValues = 500;
const maxChars = 65_536;
const maxTextChars = 8192;

/** Members that every record has already; given ones of these names get an underscore. */
const reserved = new Set(['level', 'time', 'pid', 'hostname', 'msg']);

interface Walk {
  readonly maskText: (text: string) => string;
  values: number;
  chars: number;
}

/**
 * A record's members as plain JSON without secrets: what has a key-like name is masked whole, all other texts go through
 * `maskText`. Headers written as lists of names and values count as named. Errors keep name, message, stack, cause and their
 * own fields. What is too deep, too much or too long is cut, with a mark. Never throws.
 */
export const maskFields = (
  fields: Readonly<Record<string, unknown>>,
  maskText: (text: string) => string,
): JsonObject => {
  const node = plainNode(fields, { maskText, values: 0, chars: 0 }, 0);
  if (!isJsonObject(node)) return { fields: node };
  if (![...reserved].some((name) => Object.hasOwn(node, name))) return node;
  const clean: JsonDraft = {};
  for (const [name, value] of Object.entries(node)) define(clean, reserved.has(name) ? `${name}_` : name, value);
  return clean;
};

/** A text without secrets, of bounded length. */
export const maskLongText = (text: string, maskText: (text: string) => string): string => {
  const clean = maskText(text);
  return clean.length > maxTextChars ? `${clean.slice(0, maxTextChars)}… (${clean.length} characters)` : clean;
};

const plain = (value: unknown, walk: Walk, depth: number): Json | undefined => {
  walk.values += 1;
  if (walk.values > maxValues) return '…';
  switch (typeof value) {
    case 'string':
      return plainText(value, walk);
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'boolean':
      return value;
    case 'bigint':
      return String(value);
    case 'object':
      return value === null ? null : plainNode(value, walk, depth);
    default:
      return undefined;
  }
};

const plainText = (value: string, walk: Walk): string => {
  if (walk.chars > maxChars) return '…';
  const clean = maskLongText(value, walk.maskText);
  walk.chars += clean.length;
  return clean;
};

const plainNode = (value: object, walk: Walk, depth: number): Json | undefined => {
  if (depth >= maxDepth) return '…';
  try {
    if (value instanceof Error) return plainError(value, walk, depth);
    if (ArrayBuffer.isView(value)) return `${value.byteLength} bytes`;
    if (value instanceof Map || isHeaders(value)) return plainObject(Object.fromEntries(value), walk, depth);
    if (value instanceof Set) return plainList([...value], walk, depth);
    if (Array.isArray(value)) return plainList(value, walk, depth);
    if ('toJSON' in value && typeof value.toJSON === 'function') return plain(value.toJSON(), walk, depth + 1);
    return plainObject(value, walk, depth);
  } catch {
    // A getter, a proxy or a `toJSON` of the value's own threw.
    return '(unreadable)';
  }
};

/** The global class isn't named here: Node would load all of its fetch for that. */
const isHeaders = (value: object): value is Headers => Object.prototype.toString.call(value) === '[object Headers]';

const plainError = (error: Error, walk: Walk, depth: number): JsonObject =>
  plainObject(
    { ...error, name: error.name, message: error.message, stack: error.stack, cause: error.cause },
    walk,
    depth,
  );

const plainObject = (value: object, walk: Walk, depth: number): JsonObject => {
  const clean: JsonDraft = {};
  for (const [name, member] of Object.entries(value)) {
    if (walk.values >= maxValues) {
      clean['…'] = true;
      break;
    }
    // A name may itself be a secret, as in a table of keys.
    define(clean, walk.maskText(name), isSecretName(name) ? hidden(member) : plain(member, walk, depth + 1));
  }
  return clean;
};

const plainList = (values: readonly unknown[], walk: Walk, depth: number): Json[] => {
  const clean: Json[] = [];
  let named = false;
  for (const value of values) {
    if (walk.values >= maxValues) return [...clean, '…'];
    clean.push((named ? hidden(value) : plain(value, walk, depth + 1)) ?? null);
    // `['x-api-key', 'abc']` and `['accept', '*', 'cookie', 'abc']`: a header's value follows its name.
    named = !named && typeof value === 'string' && isSecretName(value);
  }
  return clean;
};

/** Numbers and flags aren't secrets (`token: 5`, `apiKey: true`), and an empty text tells that there is none. */
const hidden = (value: unknown): Json | undefined => {
  if (value === undefined || value === null || value === '') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? value : masked;
};

/** Sets a member, whatever its name: a plain assignment to `__proto__` would change the object's prototype. */
const define = (target: JsonDraft, name: string, value: Json | undefined): void => {
  if (name === '__proto__') Object.defineProperty(target, name, { value, enumerable: true });
  else target[name] = value;
};
