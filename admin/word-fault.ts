import type { WordFault } from '../engine/http/endpoint.ts';
import type { FaultKind } from '../engine/model/fault.ts';

/** The status of each fault that a service endpoint can meet; all others are bugs of ours there. */
const statuses: Partial<Record<FaultKind, number>> = {
  'invalid-request': 400,
  unsupported: 400,
  'no-route': 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'request-timeout': 408,
  'too-large': 413,
  'unsupported-encoding': 415,
  unavailable: 503,
};

/** How the service's own endpoints word a fault. */
export const wordFault: WordFault = ({ kind, message }) => ({
  status: statuses[kind] ?? 500,
  body: { success: false, message },
});
