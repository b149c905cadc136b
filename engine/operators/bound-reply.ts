import { Buffer } from 'node:buffer';
import type { Limits } from '../config/schema.ts';
import type { Answered } from '../exchange.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { FaultError } from '../model/fault.ts';
import type { StreamStage } from './rx/stages.ts';

/**
 * Counts the bytes of the stream's current, incomplete record. A record ends in an empty line; lines end in LF, CRLF or CR.
 * Searches chunks with native functions, which cost far less than a loop over bytes. Source: HTML standard, "Server-sent events".
 */
export class RecordBound {
  /** Bytes since the last empty line. */
  pendingBytes = 0;
  /** The bytes so far end in a line end; a further line end makes an empty line. */
  #afterLineEnd = false;
  /** The last byte was CR; a following LF belongs to the same line end. */
  #afterCr = false;

  add(chunk: Uint8Array): void {
    const { length } = chunk;
    // Most chunks end with their last record.
    if (chunk[length - 1] === lineFeed && chunk[length - 2] === lineFeed) {
      this.pendingBytes = 0;
      this.#afterLineEnd = true;
      this.#afterCr = false;
      return;
    }
    // Skips the LF of a CRLF that is split between two chunks.
    const from = this.#afterCr && chunk[0] === lineFeed ? 1 : 0;
    this.#afterCr = chunk[length - 1] === carriageReturn;
    if (from === length) {
      this.pendingBytes += length;
      return;
    }
    const gap = lastGap(chunk, this.#afterLineEnd ? from : -1);
    this.pendingBytes = gap < 0 ? this.pendingBytes + length : length - gap;
    this.#afterLineEnd = isLineEnd(chunk[length - 1]);
  }
}

export const lineFeed = 10;
export const carriageReturn = 13;

export const isLineEnd = (byte: number | undefined): boolean => byte === lineFeed || byte === carriageReturn;

const doubleLf = Buffer.from('\n\n');
/** The start of an empty line where lines end in CRLF. */
const lfCr = Buffer.from('\n\r');
const doubleCr = Buffer.from('\r\r');

/** The offset after the last empty line, else -1. `lineStart`: offset at which a line begins, else -1. */
const lastGap = (chunk: Uint8Array, lineStart: number): number => {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  const hasCr = bytes.includes(carriageReturn);
  const at = Math.max(
    bytes.lastIndexOf(doubleLf),
    hasCr ? bytes.lastIndexOf(lfCr) : -1,
    hasCr ? bytes.lastIndexOf(doubleCr) : -1,
  );
  if (at >= 0) return at + 2;
  return lineStart >= 0 && isLineEnd(chunk[lineStart]) ? lineStart + 1 : -1;
};

/**
 * Bounds what later steps collect of an answer. The bounds hold for each record of a stream, and for an answer that becomes one
 * whole reply. Throws `upstream-garbled` beyond a bound, which ends the upstream call.
 */
export const boundReply =
  ({
    recordBytes,
    replyBytes,
  }: Pick<Limits, 'recordBytes' | 'replyBytes'>): StreamStage<Answered, Uint8Array, Uint8Array> =>
  ({ answer: { streamed }, progress: { streaming } }) => {
    const record = streamed ? new RecordBound() : undefined;
    // A client that doesn't stream gets one whole reply, even if the upstream streams.
    const collected = !streamed || !streaming;
    let bytes = 0;
    return {
      next(chunk) {
        bytes += chunk.length;
        if (collected && bytes > replyBytes) throw tooLarge("The upstream's answer", replyBytes, 'replyBytes');
        record?.add(chunk);
        if (record && record.pendingBytes > recordBytes) {
          throw tooLarge("A record of the upstream's stream", recordBytes, 'recordBytes');
        }
        return chunk;
      },
    };
  };

/**
 * Bounds the content of a converted stream. Stages buffer tool calls and some client formats repeat the whole text at the end,
 * so all of it may be in memory. Beyond the bound, an `error` event replaces the batch.
 */
export const boundContent =
  ({ replyBytes }: Pick<Limits, 'replyBytes'>): StreamStage<Answered, Batch, Batch> =>
  () => {
    let left = replyBytes;
    return {
      next(batch) {
        for (const event of batch) left -= contentLength(event);
        if (left >= 0) return batch;
        const { fault } = tooLarge("The content of the upstream's stream", replyBytes, 'replyBytes');
        return [{ type: 'error', fault }];
      },
    };
  };

/** The length of an event's content in characters; for the rarer kinds, that of its JSON. */
const contentLength = (event: ModelEvent): number => {
  switch (event.type) {
    case 'text-delta':
    case 'thinking-delta':
      return event.text.length;
    case 'input-delta':
      return event.json.length;
    case 'block-stop':
    case 'error':
      return 0;
    case 'message-start':
    case 'block-start':
    case 'signature-delta':
    case 'citation-delta':
    case 'opaque-delta':
    case 'message-stop':
      return JSON.stringify(event).length;
  }
};

const tooLarge = (what: string, bytes: number, setting: keyof Limits): FaultError =>
  new FaultError({
    kind: 'upstream-garbled',
    message: `${what} is larger than ${bytes} bytes. LIMITS.${setting} in the configuration sets the limit.`,
  });
