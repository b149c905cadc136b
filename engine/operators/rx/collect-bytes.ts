import type { OperatorFunction } from 'rxjs';
import { operate } from './operate.ts';

/** How a body is collected. */
interface CollectOptions<O> {
  /** Stops reading after this many bytes. */
  readonly maxBytes?: number;
  /** Replaces the error of a body that breaks off; if absent, the error passes. */
  readonly failed?: (error: unknown) => O;
}

/** Collects a body into one array and emits what `make` returns for it. */
export const collectBytes = <O>(
  make: (body: Uint8Array) => O,
  { maxBytes = Number.POSITIVE_INFINITY, failed }: CollectOptions<O> = {},
): OperatorFunction<Uint8Array, O> =>
  operate((last) => {
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
