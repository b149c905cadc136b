/** The status of a request whose client left before the end. No client sees it. */
export const clientGone = 499;

/** Whether a request was answered with an error or broke off; not if its client left. */
export const hasFailed = (status: number, hasFault: boolean): boolean =>
  status !== clientGone && (status >= 400 || hasFault);
