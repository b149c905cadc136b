import { isJsonObject, type Json } from '../../api/json.ts';
import { isLiteralKey, isPlaceholder } from '../reference.ts';

const typed = '•••• typed in this tab';

/**
 * A configuration for the screen and for the tab's storage: a secret that was typed here is left out. The gateway knows no
 * secret for what stands in its place, and so asks for it again after a reload.
 */
export const hideTyped = (value: Json, member = ''): Json => {
  if (typeof value === 'string') return isSecret(value, member) ? typed : value;
  if (Array.isArray(value)) return value.map((item: Json) => hideTyped(item, member));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      inner === undefined || withoutSecrets.has(name) ? inner : hideTyped(inner, name),
    ]),
  );
};

/** The same as text. */
export const printHidden = (config: Json): string => JSON.stringify(hideTyped(config), null, 2);

/** Routes name keys of clients; a client's own is a digest. */
const withoutSecrets = new Set(['Router', 'Pools', 'fallback', 'CLIENTS', 'credentials']);

const isSecret = (text: string, member: string): boolean =>
  isLiteralKey(text) && !isPlaceholder(text) && (isSecretField(member) || passwordInUrl.test(text));

/** Whether the value of a field of this name is a secret. */
export const isSecretField = (name: string): boolean => secretField.test(name);

const secretField = /key$|token|secret|passw|authorization|cookie|credential/i;
const passwordInUrl = /:\/\/[^/\s@:]*:[^/\s@$][^/\s@]*@/;
