import type { Fault, FaultKind } from '../model/fault.ts';

/**
 * What a fault says about asking again.
 * - `passing`: the upstream may do better in a moment.
 * - `lasting`: the upstream can't, and won't within seconds.
 * - `busy`: it has not begun and may be asked again, but nothing is wrong with it.
 * - `limited`: this key has had enough for now.
 * - `refused`: this key isn't taken at all.
 * - `forbidden`: this key may not do this, or nobody may.
 * - `absent`: the destination wasn't asked, and can't be just now.
 * - `unfit`: the destination wasn't asked, since the request can't be brought into its form.
 * - `final`: it lies in the request, or in ourselves.
 */
export type Verdict =
  | 'passing'
  | 'lasting'
  | 'busy'
  | 'limited'
  | 'refused'
  | 'forbidden'
  | 'absent'
  | 'unfit'
  | 'final';

/** Judges a fault by the status that the upstream gave, else by its kind. */
export const verdictOf = ({ kind, status, elsewhere }: Fault): Verdict => {
  if (kind === 'upstream-error' || kind === 'upstream-invalid') return byStatus(status, kind);
  const verdict = byKind[kind];
  return verdict === 'passing' && elsewhere ? 'lasting' : verdict;
};

/** 409 and 425 aren't the client's fault: both vendors' clients ask again after the one, RFC 8470 allows it after the other. */
const byStatus = (status: number | undefined, kind: FaultKind): Verdict => {
  if (status === undefined) return kind === 'upstream-error' ? 'passing' : 'final';
  if (status === 408) return 'passing';
  if (status === 409 || status === 425) return 'busy';
  if (status < 500) return 'final';
  return status === 501 || status === 505 ? 'lasting' : 'passing';
};

const byKind: Readonly<Record<FaultKind, Verdict>> = {
  'invalid-request': 'unfit',
  unsupported: 'unfit',
  'no-route': 'final',
  unauthorized: 'final',
  forbidden: 'final',
  'not-found': 'final',
  'method-not-allowed': 'final',
  'request-timeout': 'final',
  'too-large': 'final',
  'unsupported-encoding': 'final',
  unavailable: 'absent',
  misconfigured: 'absent',
  'stage-failed': 'unfit',
  'upstream-invalid': 'final',
  'upstream-context': 'final',
  'upstream-auth': 'refused',
  'upstream-billing': 'refused',
  'upstream-forbidden': 'forbidden',
  'upstream-not-found': 'final',
  'upstream-too-large': 'final',
  'upstream-rate-limit': 'limited',
  'upstream-overloaded': 'passing',
  'upstream-error': 'passing',
  'upstream-unreachable': 'passing',
  'upstream-garbled': 'lasting',
  'upstream-cut': 'passing',
  'upstream-timeout': 'passing',
  internal: 'final',
};
