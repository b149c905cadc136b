import { fail } from '../engine/model/fault.ts';

/** Throws the `not-found` fault of the logs API. Doesn't tell whether there is a file that isn't a log. */
export const noSuchLog = (): never =>
  fail('not-found', 'There is no such log file; GET /api/logs/files lists those that there are.');
