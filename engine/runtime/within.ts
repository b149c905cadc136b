/** The promise's value; `undefined` if it fails, or takes longer than `ms` milliseconds. */
export const within = <T>(ms: number, promise: Promise<T>): Promise<T | undefined> =>
  new Promise((resolve) => {
    // After a long task the answer may be there, unread: it is read before the immediate runs.
    const timer = setTimeout(() => setImmediate(() => resolve(undefined)), ms);
    promise.then(resolve, () => resolve(undefined)).finally(() => clearTimeout(timer));
  });
