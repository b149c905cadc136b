import type { Ready } from '../exchange.ts';
import { cutFault, type Fault } from '../model/fault.ts';
import { plainLimits } from '../model/rate-limit.ts';
import { exactMask, isSecretParameter } from '../observe/log/mask-text.ts';

/**
 * Masks the call's credentials in an upstream's fault, however they are encoded, then shortens its texts. Some upstreams repeat credentials
 * in their errors. Shortening first could leave part of a credential, which the mask wouldn't recognise.
 */
export const hideCredentials = (fault: Fault, headers: Ready['call']['headers']): Fault => {
  const hide = exactMask(credentialsOf(headers)).text;
  return cutFault({
    ...fault,
    message: hide(fault.message),
    ...(fault.headers && { headers: plainLimits(fault.headers) }),
    ...(fault.code !== undefined && { code: hide(fault.code) }),
    ...(fault.param !== undefined && { param: hide(fault.param) }),
  });
};

/** The values of headers that hold secrets, without the scheme (`Bearer `). */
const credentialsOf = (headers: Ready['call']['headers']): readonly string[] =>
  Object.entries(headers)
    .filter(([name]) => isSecretParameter(name))
    .map(([, value]) => value.replace(/^\w+ /, ''));
