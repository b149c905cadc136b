/** One record of a Server-Sent Events stream. */
export interface SseRecord {
  /** The `event:` field; empty when there is none. */
  readonly event: string;
  /** The `data:` lines, joined by line feeds. */
  readonly data: string;
  /**
   * What stands outside the framing, as an error does that a server or a proxy writes into a stream that has begun. `json`: a value in
   * place of a field, which counts as if it were framed. `text`: other words, which say why an answer is broken off. Absent: framed.
   */
  readonly outside?: 'json' | 'text';
}

/** A record of which nothing is decoded yet. */
export interface FramedRecord {
  readonly event: string;
  /** JSON in one line. */
  readonly data: Uint8Array;
}

/** Whole records, from a connection that frames them in its own way. */
export interface FramedRecords {
  readonly records: readonly FramedRecord[];
}

/** A chunk of an answer: bytes at any split, or records. */
export type AnswerChunk = Uint8Array | FramedRecords;
