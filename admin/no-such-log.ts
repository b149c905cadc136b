import { fail } from '../engine/model/fault.ts';

/** Throws the `not-found` fault of the logs API. The same for files that aren't logs, so that their existence isn't revealed. */
export const noSuchLog = (): never =>
  fail('not-found', 'There is no such log file; GET /api/logs/files lists those that there are.');
