import { performance } from 'node:perf_hooks';

/** Milliseconds since 1970 by a clock that is never set: spans that were measured with it stay true. */
export const steadyNowMs = (): number => performance.timeOrigin + performance.now();
