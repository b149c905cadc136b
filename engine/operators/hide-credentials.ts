import type { Ready } from '../exchange.ts';
import { isSecretParameter, masked } from '../log/mask-text.ts';
import { cutFault, type Fault } from '../model/fault.ts';

/**
 * Masks the call's credentials in an upstream's fault, then shortens its texts. Some upstreams repeat credentials in their
 * errors. Shortening first could leave part of a credential, which the mask wouldn't recognise.
 */
export const hideCredentials = (fault: Fault, headers: Ready['call']['headers']): Fault => {
  const secrets = credentialsOf(headers);
  const hide = (text: string) => secrets.reduce((clean, secret) => clean.replaceAll(secret, masked), text);
  return cutFault({
    ...fault,
    message: hide(fault.message),
    ...(fault.code !== undefined && { code: hide(fault.code) }),
    ...(fault.param !== undefined && { param: hide(fault.param) }),
  });
};

/** Characters. Shorter credentials would match ordinary words. */
const minLength = 6;

/** The values of headers that hold secrets, without the scheme (`Bearer `). */
const credentialsOf = (headers: Ready['call']['headers']): readonly string[] =>
  Object.entries(headers)
    .filter(([name]) => isSecretParameter(name))
    .map(([, value]) => value.replace(/^\w+ /, ''))
    .filter((secret) => secret.length >= minLength);
