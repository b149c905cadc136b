/** Where a run says what. */
export interface BenchOutput {
  readonly print: (line: string) => void;
  /** Notices, to standard error. */
  readonly warn: (line: string) => void;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Fires when the user interrupts the run. */
  readonly interrupted: AbortSignal;
  /** Whether the system tells the processor time of other processes; absent: as it does. */
  readonly tells?: boolean;
}

/** What was begun goes on until the process that does it is stopped. */
export const untilInterrupted = <T>(signal: AbortSignal, work: Promise<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
