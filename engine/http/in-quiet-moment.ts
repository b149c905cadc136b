import { performance } from 'node:perf_hooks';

/** From one phase of the event loop to the next, when nothing happens in between. In milliseconds. */
const quietMs = 0.03;
/** Time between two looks. */
const pauseMs = 2;
/** How long to wait for such a moment, in milliseconds. */
const patienceMs = 5_000;

/**
 * Calls `act` right after the event loop has looked for new connections and found little to do; after five seconds in any case.
 * For closing a listening socket: connections that the kernel has taken but that nobody has accepted yet are reset then. While
 * the loop is busy they gather, and in a moment like this there are none.
 */
export const inQuietMoment = (act: () => void): Promise<void> =>
  new Promise((resolve) => {
    const startedAtMs = performance.now();
    const look = (): void => {
      const beforeMs = performance.now();
      // Comes after the phase in which the loop accepts connections.
      setImmediate(() => {
        const nowMs = performance.now();
        if (nowMs - beforeMs > quietMs && nowMs - startedAtMs < patienceMs) {
          setTimeout(look, pauseMs);
          return;
        }
        act();
        resolve();
      });
    };
    look();
  });
