import { masked } from './mask-text.ts';

/**
 * Masks secrets in a request's path and query. Values of secret query parameters are masked; the rest goes through
 * `maskText`.
 */
export const maskUrl = (url: string, maskText: (text: string) => string): string => {
  const queryAt = url.indexOf('?');
  if (queryAt < 0) return maskText(url);
  const query = url.slice(queryAt + 1).replace(/[^&;]+/g, maskPair);
  return maskText(`${url.slice(0, queryAt)}?${query}`);
};

/** Masks the value of a secret parameter; a pair without a name or value is unchanged. */
const maskPair = (pair: string): string => {
  const nameAt = pair.search(/[^=]/);
  const equalsAt = pair.indexOf('=', nameAt);
  if (nameAt < 0 || equalsAt < 0 || equalsAt === pair.length - 1) return pair;
  const name = pair.slice(nameAt, equalsAt);
  return isSecretName(decodeName(name)) ? `${pair.slice(0, equalsAt)}=${masked}` : pair;
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
export const isSecretName = (name: string): boolean => {
  const before = known.get(name);
  if (before !== undefined) return before;
  if (known.size >= maxKnown) known.clear();
  const secret = looksSecret(name);
  if (name.length <= maxKnownChars) known.set(name, secret);
  return secret;
};

/** Cache: fields repeat the same few names. */
const known = new Map<string, boolean>();
const maxKnown = 500;
const maxKnownChars = 64;

const looksSecret = (name: string): boolean => {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return anywhere.test(plain) || whole.test(plain);
};
