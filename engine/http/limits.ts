/** What one client may ask of the service. */
export interface HttpLimits {
  /** Bytes of a body as sent. */
  readonly bodyBytes: number;
  /** Bytes of a body after decompression. */
  readonly inflatedBytes: number;
  /** How many times larger than as sent a body may become; not looked at below 1 MiB. */
  readonly inflateRatio: number;
  /** Bytes per second that a body must keep up … */
  readonly bodyBytesPerSecond: number;
  /** … over each span of this length, in milliseconds. */
  readonly bodyWindowMs: number;
  /** Milliseconds for which a client may leave its answer unread before its connection is closed. */
  readonly stallMs: number;
  /** Requests of one client address at work at the same time. */
  readonly activePerAddress: number;
  /** Connections of one client address; further ones are closed at once. */
  readonly connectionsPerAddress: number;
}

/** The limits where the configuration says nothing. */
export const defaultLimits: HttpLimits = {
  bodyBytes: 32 * 1024 * 1024,
  inflatedBytes: 64 * 1024 * 1024,
  inflateRatio: 200,
  bodyBytesPerSecond: 1024,
  bodyWindowMs: 10_000,
  stallMs: 30 * 60_000,
  activePerAddress: 1024,
  connectionsPerAddress: 1024,
};
