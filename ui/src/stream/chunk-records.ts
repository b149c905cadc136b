import type { Chunk } from '../api/requests/requests.ts';
import { type SseRecord, sseReader } from '../api/requests/sse-records.ts';

/** A stream record. `atMs`: when its last chunk arrived, in milliseconds since the request began. */
export interface TimedRecord extends SseRecord {
  readonly atMs: number;
}

/** The records of a recorded stream. */
export const recordsOf = (chunks: readonly Chunk[]): readonly TimedRecord[] => {
  const read = sseReader();
  const decoder = new TextDecoder();
  return chunks.flatMap((chunk) => read(textIn(chunk, decoder)).map((record) => ({ ...record, atMs: chunk.atMs })));
};

/** A recorded stream as one text. */
export const textOf = (chunks: readonly Chunk[]): string => {
  const decoder = new TextDecoder();
  return chunks.map((chunk) => textIn(chunk, decoder)).join('') + decoder.decode();
};

/** A chunk that ends inside a character comes as bytes; the next one has the rest. */
const textIn = ({ text, base64 }: Chunk, decoder: TextDecoder): string =>
  decoder.decode(base64 === undefined ? new TextEncoder().encode(text ?? '') : bytesOf(base64), { stream: true });

const bytesOf = (base64: string): Uint8Array => Uint8Array.from(window.atob(base64), (char) => char.charCodeAt(0));

/** Whether a response with these headers is a stream of records. */
export const isEventStream = (headers: Readonly<Record<string, string>>): boolean =>
  (headers['content-type'] ?? '').startsWith('text/event-stream');
