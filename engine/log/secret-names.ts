const anywhere = /authorization|apikey|secret|passwo?r?d|cookie|credential|privatekey|accesskey/;
const whole = /tokens?$|^(?:key|auth|sig)$/;

/**
 * Whether a field, header or query parameter of this name holds a secret, however it is spelled: `x-api-key`, `apiKey`,
 * `API_KEY`, `refresh_token`, `key` …
 */
export const isSecretName = (name: string): boolean => {
  const before = known.get(name);
  if (before !== undefined) return before;
  if (known.size >= mostKnown) known.clear();
  const secret = looksSecret(name);
  if (name.length <= mostKnownChars) known.set(name, secret);
  return secret;
};

/** Fields have the same few names, over and over. */
const known = new Map<string, boolean>();
const mostKnown = 500;
const mostKnownChars = 64;

const looksSecret = (name: string): boolean => {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return anywhere.test(plain) || whole.test(plain);
};
