import type { Ready } from '../exchange.ts';
import { masked } from '../log/mask-text.ts';
import { isSecretName } from '../log/secret-names.ts';
import type { Fault } from '../model/fault.ts';

/** Takes the credentials that a call was made with out of what the upstream says went wrong: some repeat them to whoever asked. */
export const hideCredentials = (fault: Fault, { call }: Pick<Ready, 'call'>): Fault => {
  const message = credentialsOf(call.headers).reduce((text, secret) => text.replaceAll(secret, masked), fault.message);
  return message === fault.message ? fault : { ...fault, message };
};

/** A shorter one would be found in ordinary words. */
const minLength = 6;

/** The values of headers with secrets, without their scheme. */
const credentialsOf = (headers: Ready['call']['headers']): readonly string[] =>
  Object.entries(headers)
    .filter(([name]) => isSecretName(name))
    .map(([, value]) => value.replace(/^\w+ /, ''))
    .filter((secret) => secret.length >= minLength);
