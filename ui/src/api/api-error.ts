/** A call that failed, worded for the person who looks at the page. */
export class ApiError extends Error {
  /** The answer's status; 0 when there is no connection, 504 also when an answer takes too long. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
  }
}

/** Whatever was thrown, in words. */
export const wordError = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** The call was canceled, which is no failure. */
export const isAbort = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';
