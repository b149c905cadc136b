/** What goes out to a client, in order: a whole answer at once, or a head and then data until the stream completes. */
export type ReplyPart = WholeReply | ReplyHead | ReplyData;

export interface WholeReply {
  readonly type: 'whole';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** Opens a streamed answer; it reaches the client with the first data. Until then a whole answer may take its place. */
export interface ReplyHead {
  readonly type: 'head';
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ReplyData {
  readonly type: 'data';
  readonly data: string | Uint8Array;
}
