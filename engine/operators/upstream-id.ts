import type { Headers } from '../model/protocol.ts';

/** Header that says how the upstream calls its call. */
export const upstreamIdHeader = 'x-junctor-upstream-request-id';

/** Anthropic's name, and that of most others. Source: Anthropic API reference, "Request id"; OpenAI API reference, "Debugging requests". */
const names = ['request-id', 'x-request-id'] as const;

const form = /^[\w.:/+=-]{1,128}$/;

/**
 * The id by which the upstream knows a call, of the headers of its answer; `undefined` if it says none, or what could be a credential of
 * the call that it repeats.
 */
export const upstreamIdIn = (answer: Headers, sent: Headers): string | undefined => {
  for (const name of names) {
    const id = answer[name];
    if (id !== undefined && form.test(id) && !repeats(id, sent)) return id;
  }
  return undefined;
};

/** No credential is shorter; other headers' values are no ids. */
const minSecretChars = 8;

const repeats = (id: string, sent: Headers): boolean => {
  for (const name in sent) {
    const value = sent[name] ?? '';
    const secret = value.slice(value.lastIndexOf(' ') + 1);
    if (secret.length >= minSecretChars && id.includes(secret)) return true;
  }
  return false;
};
