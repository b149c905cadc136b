const anywhere = /authorization|apikey|secret|passwo?r?d|cookie|credential|privatekey|accesskey/;
const whole = /tokens?$|^(?:key|auth|sig)$/;

/**
 * Whether a field, header or query parameter of this name holds a secret, however it is spelled: `x-api-key`, `apiKey`,
 * `API_KEY`, `refresh_token`, `key` …
 */
export const isSecretName = (name: string): boolean => {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  return anywhere.test(plain) || whole.test(plain);
};
