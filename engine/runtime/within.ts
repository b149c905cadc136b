/** Calls `act` after so many milliseconds; the result cancels it. */
export type Later = (act: () => void, ms: number) => () => void;

/** By the system's timer. */
export const later: Later = (act, ms) => {
  const timer = setTimeout(act, ms);
  return () => clearTimeout(timer);
};

/** The promise's value; `undefined` if it fails, or takes longer than `ms` milliseconds. `after`: a timer other than the system's. */
export const within = <T>(ms: number, promise: Promise<T>, after: Later = later): Promise<T | undefined> =>
  new Promise((resolve) => {
    // After a long task the answer may be there, unread: it is read before the immediate runs.
    const cancel = after(() => setImmediate(() => resolve(undefined)), ms);
    promise.then(resolve, () => resolve(undefined)).finally(cancel);
  });
