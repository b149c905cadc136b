import { Buffer } from 'node:buffer';
import { BoundedMap } from '../../runtime/memoize.ts';

/** The replacement for secrets. The rules below don't match it, so masking is idempotent. */
export const masked = '***';

/** Shorter configured secrets are not searched for: they occur in ordinary words. */
const minSecretLength = 6;

/** A text to hide: a secret, or a text with what is shown in its place. */
export type HiddenText = string | { readonly text: string; readonly shown: string };

/** Texts with a replacement of their own may be shorter than secrets. */
const minShownLength = 4;

/** A quick test that most texts fail, so that the rules below needn't run. */
const suspect =
  /bearer|authorization|cookie|key|secret|passw|token|credential|sig=|auth=|[sprg]k[-_]|hf_|xai-|gh[pousr]_|AIza|eyJ|:\/\/[^\s/]*@/i;

const rules: readonly (readonly [RegExp, string])[] = [
  [/\b(bearer(?:%20|[\s:+\\"'])+)[^\s\\"',;&]+/gi, `$1${masked}`],
  [/((?:authorization|cookie)[\\"']*\s*[:=]\s*[\\"']*)(?=[^\s\\"'])[^\\"'\r\n]+/gi, `$1${masked}`],
  [
    // After `name:`, some words start a sentence about the field, not its value.
    /((?:api[-_ ]?key|secret|passw(?:or)?d|credential|(?<!max[-_]?)token)[\\"']*\s*[:=]\s*[\\"']*)(?!(?:must|is|was|are|has|not|no|the|a|an|may|can|should|missing|required|invalid|expected|unknown)\b)[^\s\\"',;&)}\]]+/gi,
    `$1${masked}`,
  ],
  [/([?&;](?:key|sig|auth)=)[^\s\\"'&;#]+/gi, `$1${masked}`],
  // Key formats of vendors and code hosts, and JSON web tokens.
  [/\b(?:[sprg]k|gsk|hf|xai|gh[pousr])[-_][\w-]{6,}/g, masked],
  [/\bAIza[\w-]{10,}/g, masked],
  // Only at the start of a word; otherwise a text full of `eyJ` takes quadratic time.
  [/(?<![\w-])eyJ[\w-]{6,}\.[\w-]+(?:\.[\w-]*)?/g, masked],
  [/(:\/\/)[^\s/@]+@/g, `$1${masked}@`],
];

/**
 * Creates a function that masks secrets in texts: those of `secrets` (also in JSON, URLs or base64), and everything that looks
 * like a key, a bearer token, a named secret or a URL's password. Prefers masking too much. `secrets` is called for each
 * text; a changed list must be a new array.
 */
export const textMask = (secrets: () => readonly HiddenText[]): ((text: string) => string) => {
  let listed: readonly HiddenText[] | undefined;
  let needles: readonly Needle[] = [];
  const known = new BoundedMap<string, string>(maxKnown);
  const mask = (text: string): string => {
    let clean = text;
    for (const { text: hidden, shown } of needles)
      if (clean.includes(hidden)) clean = clean.replaceAll(hidden, () => shown);
    if (!suspect.test(clean)) return clean;
    for (const [pattern, replacement] of rules) clean = clean.replace(pattern, replacement);
    return clean;
  };
  return (text) => {
    const given = secrets();
    if (given !== listed) {
      listed = given;
      needles = spellings(given);
      known.clear();
    }
    return text.length > maxKnownChars ? mask(text) : known.remember(text, mask);
  };
};

/** Secrets to mask in logs and history. */
export class SecretList {
  #all: readonly HiddenText[] = [];
  #obtained: readonly string[] = [];

  /** The current secrets; a new array after each change. */
  readonly all = (): readonly HiddenText[] => this.#all;

  /** Replaces the secrets. */
  reset(secrets: readonly HiddenText[]): void {
    this.#all = [...secrets, ...this.#obtained];
  }

  /** Replaces the secrets that aren't in a configuration: `reset` keeps them. */
  obtain(secrets: readonly string[]): void {
    const before = new Set<HiddenText>(this.#obtained);
    this.#obtained = secrets;
    this.#all = [...this.#all.filter((one) => !before.has(one)), ...secrets];
  }

  /** Adds secrets. */
  add(secrets: readonly HiddenText[]): void {
    this.#all = [...new Set([...this.#all, ...secrets])];
  }
}

/** Bounds of the cache: most texts of a log repeat, such as models, URLs and reasons. */
const maxKnown = 500;
const maxKnownChars = 256;

/** All encodings of these secrets. Longest first, since one may contain another. */
const spellings = (hidden: readonly HiddenText[]): readonly Needle[] => {
  const byText = new Map<string, string>();
  const hide = (text: string, shown: string): void => {
    // What is a secret elsewhere stays one.
    if (byText.get(text) !== masked) byText.set(text, shown);
  };
  for (const one of hidden) {
    const { text, shown } = typeof one === 'string' ? { text: one, shown: masked } : one;
    if (text.length < (typeof one === 'string' ? minSecretLength : minShownLength)) continue;
    for (const spelling of [text, JSON.stringify(text).slice(1, -1), ...urlSpellings(text)]) hide(spelling, shown);
    if (typeof one !== 'string') continue;
    for (const encoded of base64Spellings(text)) {
      for (const spelling of [encoded, ...urlSpellings(encoded)]) hide(spelling, shown);
    }
  }
  return [...byText]
    .map(([text, shown]) => ({ text, shown }))
    .sort((one, other) => other.text.length - one.text.length);
};

/** A text to search for, and what replaces it. */
interface Needle {
  readonly text: string;
  readonly shown: string;
}

/** URL encoding: with hexadecimal digits in either case, with `+` for blanks, and twice. */
const urlSpellings = (text: string): readonly string[] => {
  const once = encodeUrl(text);
  if (once === text) return [];
  const lower = once.replace(/%[\dA-F]{2}/g, (code) => code.toLowerCase());
  return [once, lower, once.replaceAll('%20', '+'), encodeUrl(once)];
};

/**
 * Base64 in both alphabets: of the secret alone, and the part of a longer text's base64 that depends on the secret alone, for each of
 * the three places at which the secret may begin. Source: RFC 4648, sections 4 and 5.
 */
const base64Spellings = (secret: string): readonly string[] => {
  const bytes = Buffer.from(secret);
  const parts = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/={1,2}$/, '');
    // Four characters hold three bytes: those that share bits with what stands before or behind are left out.
    const from = Math.ceil((offset * 8) / 6);
    return text.slice(from, Math.floor(((offset + bytes.length) * 8) / 6));
  });
  return [bytes.toString('base64'), ...parts]
    .filter((text) => text.length >= minSecretLength)
    .flatMap((text) => [text, text.replaceAll('+', '-').replaceAll('/', '_')]);
};

const encodeUrl = (secret: string): string => {
  try {
    return encodeURIComponent(secret);
  } catch {
    // A lone surrogate can't be encoded.
    return secret;
  }
};

/** Masks exactly the given secrets, also in JSON, URLs or base64; for texts shown as they are otherwise. */
export interface ExactMask {
  readonly text: (text: string) => string;
  /** Masks the pieces of a stream. A secret across several pieces is masked in the piece where it starts. */
  readonly pieces: (pieces: readonly Uint8Array[]) => readonly Uint8Array[];
}

/** Creates a mask for secrets of at least six characters; shorter ones occur in ordinary words. */
export const exactMask = (secrets: readonly HiddenText[]): ExactMask => {
  // JSON inside JSON is encoded twice.
  const twice = secrets.map((one) => {
    if (typeof one === 'string') return JSON.stringify(one).slice(1, -1);
    return { ...one, text: JSON.stringify(one.text).slice(1, -1) };
  });
  const needles = spellings([...secrets, ...twice]);
  return {
    text: (text) => needles.reduce((clean, needle) => clean.replaceAll(needle.text, () => needle.shown), text),
    pieces(pieces) {
      const whole = Buffer.concat(pieces);
      const ranges = rangesIn(whole, needles);
      if (ranges.length === 0) return pieces;
      let at = 0;
      return pieces.map(({ length }) => {
        const from = at;
        at += length;
        return maskedPart(whole, ranges, from, at);
      });
    },
  };
};

interface Range {
  readonly from: number;
  readonly to: number;
  readonly shown: string;
}

/** The ranges of all needles, sorted and merged. */
const rangesIn = (whole: Buffer, needles: readonly Needle[]): readonly Range[] => {
  const found: Range[] = [];
  for (const { text, shown } of needles) {
    const bytes = Buffer.from(text);
    for (let from = whole.indexOf(bytes); from >= 0; from = whole.indexOf(bytes, from + bytes.length)) {
      found.push({ from, to: from + bytes.length, shown });
    }
  }
  found.sort((one, other) => one.from - other.from);
  const merged: Range[] = [];
  for (const range of found) {
    const last = merged.at(-1);
    if (last && range.from < last.to) merged[merged.length - 1] = { ...last, to: Math.max(last.to, range.to) };
    else merged.push(range);
  }
  return merged;
};

const maskedPart = (whole: Buffer, ranges: readonly Range[], from: number, to: number): Buffer => {
  const parts: Uint8Array[] = [];
  let at = from;
  for (const range of ranges) {
    if (range.to <= from || range.from >= to) continue;
    if (range.from > at) parts.push(whole.subarray(at, range.from));
    if (range.from >= from) parts.push(Buffer.from(range.shown));
    at = range.to;
  }
  if (at < to) parts.push(whole.subarray(at, to));
  return Buffer.concat(parts);
};

/**
 * Masks secrets in a request's path and query. Values of query parameters are masked but for those of `plainParameters`; the rest
 * goes through `maskText`.
 */
export const maskUrl = (url: string, maskText: (text: string) => string): string => {
  const queryAt = url.indexOf('?');
  if (queryAt < 0) return maskText(url);
  const query = url.slice(queryAt + 1).replace(/[^&;]+/g, maskPair);
  return maskText(`${url.slice(0, queryAt)}?${query}`);
};

/**
 * Query parameters whose values are shown: those of the service's own routes that hold no text of users, and those that vendors' APIs and
 * clients use. Any other one may hold a secret, whatever its name.
 */
const plainParameters: ReadonlySet<string> = new Set([
  'after',
  'after_id',
  'alt',
  'api-version',
  'before',
  'before_id',
  'beta',
  'by',
  'client',
  'endedat',
  'format',
  'from',
  'include',
  'limit',
  'minutes',
  'model',
  'order',
  'preset',
  'provider',
  'secrets',
  'status',
  'step',
  'stream',
  'to',
  'topics',
]);

/** Masks the value of a parameter that may be secret; a pair without a name or value is unchanged. */
const maskPair = (pair: string): string => {
  const nameAt = pair.search(/[^=]/);
  const equalsAt = pair.indexOf('=', nameAt);
  if (nameAt < 0 || equalsAt < 0 || equalsAt === pair.length - 1) return pair;
  const name = pair.slice(nameAt, equalsAt);
  return plainParameters.has(decodeName(name).toLowerCase()) ? pair : `${pair.slice(0, equalsAt)}=${masked}`;
};

const decodeName = (name: string): string => {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
};

const anywhere = /authorization|apikey|secret|passwo?r?d|cookie|credential|privatekey|accesskey/;
const whole = /tokens?$|^(?:key|auth|sig)$/;

/**
 * Whether a field, header or query parameter of this name holds a secret, in any spelling: `x-api-key`, `apiKey`, `API_KEY`,
 * `refresh_token`, `key` …
 */
export const isSecretName = (name: string): boolean =>
  name.length > maxNameChars ? looksSecret(name) : knownNames.remember(name, looksSecret);

/** Whether a header or URL parameter of this name may hold a secret. Unlike in JSON, a name that ends in `key` is rarely a sort key. */
export const isSecretParameter = (name: string): boolean => isSecretName(name) || name.toLowerCase().endsWith('key');

/** Cache: fields repeat a few names. */
const knownNames = new BoundedMap<string, boolean>(500);
const maxNameChars = 64;

const looksSecret = (name: string): boolean => {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return anywhere.test(plain) || whole.test(plain);
};

/** Cuts a text to at most `maxChars` characters. The result is a copy, so the whole text isn't kept in memory. */
export const shorten = (text: string, maxChars = 200): string =>
  text.length <= maxChars ? text : Buffer.from(`${text.slice(0, maxChars - 1)}…`).toString();
