import type { OperatorFunction } from 'rxjs';
import { each } from './each.ts';

/** How a body is collected. */
export interface Collecting<O> {
  /** What lies past so many bytes isn't read. */
  readonly maxBytes?: number;
  /** Comes in place of the error of a body that breaks off; absent: that error passes. */
  readonly failed?: (error: unknown) => O;
}

/** What `make` makes of all of a body as one array, once it has ended. */
export const collectBytes = <O>(
  make: (body: Uint8Array) => O,
  { maxBytes = Number.POSITIVE_INFINITY, failed }: Collecting<O> = {},
): OperatorFunction<Uint8Array, O> =>
  each((last) => {
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    return {
      next(chunk) {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes < maxBytes) return undefined;
        last();
        return make(joinBytes(chunks));
      },
      end: () => make(joinBytes(chunks)),
      ...(failed && { failed }),
    };
  });

const joinBytes = (chunks: readonly Uint8Array[]): Uint8Array => {
  const only = chunks.length === 1 ? chunks[0] : undefined;
  return only ?? Buffer.concat(chunks);
};
