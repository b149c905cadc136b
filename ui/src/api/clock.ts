/** How far the gateway's clock is ahead of this machine's, in milliseconds. */
let aheadMs = 0;

/** The gateway's time, by which all its times are: the clock of this machine may be off. */
export const gatewayNowMs = (): number => Date.now() + aheadMs;

/** Learns it from the date of an answer. */
export const noteDate = (date: string | null): void => {
  const atMs = Date.parse(date ?? '');
  if (!Number.isNaN(atMs)) aheadMs = atMs - Date.now();
};
