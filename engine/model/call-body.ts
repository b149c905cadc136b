import { Buffer } from 'node:buffer';

/** The body of an upstream call. */
export type CallBody = string | Uint8Array | BytePieces;

/** Bytes that are sent one piece after the other, without a copy that joins them. */
export class BytePieces {
  readonly pieces: readonly Uint8Array[];
  /** In bytes. */
  readonly length: number;

  constructor(pieces: readonly Uint8Array[]) {
    this.pieces = pieces;
    this.length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  }
}

/** A body's bytes; those of pieces are joined. */
export const bodyBytes = (body: CallBody): Buffer => {
  if (typeof body === 'string') return Buffer.from(body);
  if (body instanceof BytePieces) return Buffer.concat(body.pieces, body.length);
  return Buffer.from(body.buffer, body.byteOffset, body.length);
};

/** A body as text. */
export const bodyText = (body: CallBody): string => (typeof body === 'string' ? body : bodyBytes(body).toString());
