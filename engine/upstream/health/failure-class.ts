import type { Fault, FaultKind } from '../../model/fault.ts';

/**
 * What a fault means for retries.
 * - `transient`: the upstream may succeed in a moment.
 * - `persistent`: the upstream won't succeed within seconds.
 * - `busy`: the upstream has not begun; a retry is allowed, and it isn't a fault of the upstream.
 * - `rateLimited`: this key is over its limit.
 * - `keyRejected`: the upstream doesn't accept this key.
 * - `forbidden`: this key lacks the permission.
 * - `unavailable`: the destination wasn't called and can't be now.
 * - `incompatible`: the destination wasn't called, since the request can't be converted to its format.
 * - `oversized`: the request is larger than this destination takes; another may take it.
 * - `final`: the cause is the request or the gateway itself.
 */
export type FailureClass =
  | 'transient'
  | 'persistent'
  | 'busy'
  | 'rateLimited'
  | 'keyRejected'
  | 'forbidden'
  | 'unavailable'
  | 'incompatible'
  | 'oversized'
  | 'final';

/** The code of a fault of ours: there is no memory for the answer. Another answer to the same request would need as much. */
export const answersFull = 'answers_full';

/** The code of a fault of ours: the command for the provider's key gave none. Another key may do. */
export const noKeyPrinted = 'no_key_printed';

/** Classifies a fault by the upstream's status, else by its kind. */
export const classifyFailure = ({
  kind,
  status,
  retryOtherUpstream,
  countsAgainstHealth,
  code,
}: Fault): FailureClass => {
  // A stage passes the destination over.
  if (countsAgainstHealth === false)
    return retryOtherUpstream && kind === 'upstream-overloaded' ? 'unavailable' : 'busy';
  if (kind === 'unavailable' && code === answersFull) return 'final';
  if (kind === 'misconfigured' && code === noKeyPrinted) return 'keyRejected';
  if (kind === 'upstream-error' || kind === 'upstream-invalid') return byStatus(status, kind);
  // Its client compacts the conversation, if no other destination takes it.
  if (kind === 'upstream-context' && status === 413) return 'oversized';
  const failureClass = byKind[kind];
  return failureClass === 'transient' && retryOtherUpstream ? 'persistent' : failureClass;
};

/** Whether the upstream itself reported the fault. Otherwise the network may be the cause. */
export const isAnswered = ({ status }: Fault): boolean => status !== undefined;

/** 409 and 425 can be retried: both large vendors' SDKs retry a 409, RFC 8470 allows it for a 425. */
const byStatus = (status: number | undefined, kind: FaultKind): FailureClass => {
  if (status === undefined) return kind === 'upstream-error' ? 'transient' : 'final';
  if (status === 408) return 'transient';
  if (status === 409 || status === 425) return 'busy';
  if (status < 500) return 'final';
  return status === 501 || status === 505 ? 'persistent' : 'transient';
};

const byKind: Readonly<Record<FaultKind, FailureClass>> = {
  'invalid-request': 'incompatible',
  unsupported: 'incompatible',
  'no-route': 'final',
  unauthorized: 'final',
  forbidden: 'final',
  'not-found': 'final',
  'read-only': 'final',
  'method-not-allowed': 'final',
  'upgrade-refused': 'final',
  'request-timeout': 'final',
  'too-large': 'final',
  'unsupported-encoding': 'final',
  'rate-limited': 'final',
  'budget-exceeded': 'final',
  unavailable: 'unavailable',
  misconfigured: 'unavailable',
  'stage-failed': 'incompatible',
  'upstream-invalid': 'final',
  'upstream-context': 'final',
  'upstream-auth': 'keyRejected',
  'upstream-billing': 'keyRejected',
  'upstream-forbidden': 'forbidden',
  'upstream-not-found': 'final',
  'upstream-too-large': 'oversized',
  'upstream-rate-limit': 'rateLimited',
  'upstream-overloaded': 'transient',
  'upstream-error': 'transient',
  'upstream-unreachable': 'transient',
  'upstream-garbled': 'persistent',
  'upstream-cut': 'transient',
  'upstream-timeout': 'transient',
  internal: 'final',
};
