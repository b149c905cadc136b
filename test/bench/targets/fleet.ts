import { fileURLToPath } from 'node:url';
import { junctorIn } from '../../../engine/bench/targets/junctor.ts';

/** This checkout as a member of a fleet, whose store is `BENCH_STORE`: `redis://127.0.0.1:6379`. */
export const target = junctorIn(fileURLToPath(new URL('../../../', import.meta.url)), 'fleet', {
  FLEET: { store: process.env.BENCH_STORE ?? 'redis://127.0.0.1:6379', key: '01'.repeat(32) },
});
