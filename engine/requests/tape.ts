import { Buffer } from 'node:buffer';

/** One piece of a recorded stream. */
export interface TapeChunk {
  /** Since the request's beginning, in milliseconds. */
  readonly atMs: number;
  readonly bytes: Buffer;
}

/** What one piece takes beside its bytes. */
const overheadBytes = 64;

/** A recorded stream of bounded size. */
export class Tape {
  readonly chunks: TapeChunk[] = [];
  /** Something didn't fit; nothing that came after it was kept either. */
  truncated = false;
  #room: number;

  constructor(maxBytes: number) {
    this.#room = maxBytes;
  }

  add(atMs: number, data: string | Uint8Array): void {
    if (this.truncated) return;
    const bytes = Buffer.from(data);
    const room = this.#room - overheadBytes;
    this.#room = room - bytes.length;
    if (this.#room < 0) this.truncated = true;
    if (room > 0) this.chunks.push({ atMs, bytes: bytes.subarray(0, room) });
  }
}
