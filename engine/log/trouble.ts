/** Tells that writing `path` failed with `error`. */
export type Trouble = (path: string, error: unknown) => void;

const quietMs = 3_600_000;

/**
 * Words what keeps logs from being written, once per kind of trouble and hour: a full disk hits every log at every attempt,
 * and is worth one warning. The kind is the system's error code.
 */
export const seldom = (onTrouble: (message: string) => void, nowMs: () => number = Date.now): Trouble => {
  const toldAtMs = new Map<string, number>();
  return (path, error) => {
    const kind = kindOf(error);
    const now = nowMs();
    const before = toldAtMs.get(kind);
    if (before !== undefined && now - before < quietMs) return;
    toldAtMs.set(kind, now);
    const reason = error instanceof Error ? error.message : String(error);
    onTrouble(
      `Can't write the log ${path} (${reason}). Requests are served all the same; some log records may be lost.`,
    );
  };
};

const kindOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return 'code' in error && typeof error.code === 'string' ? error.code : error.message;
};
