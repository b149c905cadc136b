import type { FormatFault } from '../engine/http/endpoint.ts';
import type { FaultKind } from '../engine/model/fault.ts';

/** Statuses of faults in the service's own endpoints; any other kind is a bug (500). */
const statuses: Partial<Record<FaultKind, number>> = {
  'invalid-request': 400,
  unsupported: 400,
  'no-route': 400,
  unauthorized: 401,
  forbidden: 403,
  'not-found': 404,
  'method-not-allowed': 405,
  'upgrade-refused': 426,
  'request-timeout': 408,
  'too-large': 413,
  'unsupported-encoding': 415,
  unavailable: 503,
};

/** Formats a fault for the service's own endpoints. */
export const formatFault: FormatFault = ({ kind, message }) => ({
  status: statuses[kind] ?? 500,
  body: { success: false, message },
});
