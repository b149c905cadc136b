/** Writes one stream in the client's words. */
export interface StreamConversion {
  /** The data of one record of the upstream's; gives the client's text, often empty. */
  readonly record: (data: string) => string;
  /** What is still owed once the upstream's stream has ended. */
  readonly end: () => string;
}

/** Writes an event in the client's framing. */
export type EventWriter = (type: string, data?: object) => string;

/** A request in the upstream's words. */
interface Converted {
  readonly path: string;
  readonly body: object;
  readonly streamed: boolean;
}

/**
 * The least that it takes to serve one pair: what a competent engineer writes by hand, without validation. The gateway is
 * measured against that.
 */
export interface Conversion {
  readonly request: (body: string) => Converted;
  readonly reply: (body: string) => object;
  /** `write`: how a client of Responses gets its events; absent: as records of Server-Sent Events. */
  readonly stream: (write?: EventWriter) => StreamConversion;
}

/** A named event of Server-Sent Events; its type is in its data too. */
export const namedEvent = (type: string, data: object = {}): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
