import { createHash } from 'node:crypto';
import type { Losses } from '../loss.ts';

/**
 * A user's id as a vendor takes it: itself if it fits, else a hash of it, which names the same user in each request. A JSON text is
 * hashed too: it holds more than an id. The hash has 64 hexadecimal digits, which every vendor takes.
 */
export const wireUserId = (id: string, fits: RegExp, losses: Losses): string => {
  if (fits.test(id) && !/^\s*[{[]/.test(id)) return id;
  losses.approximate('user', 'a hash');
  return createHash('sha256').update(id).digest('hex');
};
