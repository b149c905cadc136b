import type { FaultKind } from '../fault.ts';

/** The kind of an error by its HTTP status, where its words don't say more. */
export const kindOfStatus = (status: number): FaultKind =>
  kinds[status] ?? (status >= 400 && status < 500 ? 'upstream-invalid' : 'upstream-error');

/** Sources: the vendors' pages on errors; 498, 524 and 529 are those of hosts and of what stands before them. */
const kinds: Readonly<Record<number, FaultKind>> = {
  401: 'upstream-auth',
  402: 'upstream-billing',
  403: 'upstream-forbidden',
  404: 'upstream-not-found',
  408: 'upstream-timeout',
  413: 'upstream-too-large',
  429: 'upstream-rate-limit',
  498: 'upstream-overloaded',
  503: 'upstream-overloaded',
  504: 'upstream-timeout',
  524: 'upstream-timeout',
  529: 'upstream-overloaded',
};
