import type { OperatorFunction } from 'rxjs';
import { type Handlers, operate } from './stages.ts';

/** Collects a body into one array and emits what `make` returns for it. */
export const collectBytes = <O>(
  make: (body: Uint8Array) => O,
  { maxBytes = Number.POSITIVE_INFINITY }: { readonly maxBytes?: number } = {},
): OperatorFunction<Uint8Array, O> =>
  operate((control) => {
    const collected = collectedBytes(make);
    let bytes = 0;
    return {
      ...collected,
      next(chunk) {
        bytes += chunk.length;
        if (bytes >= maxBytes) control.complete();
        return collected.next(chunk);
      },
    };
  });

/** The handlers that collect a body. `failed` replaces the error of a body that breaks off; if absent, the error passes. */
export const collectedBytes = <O>(
  make: (body: Uint8Array) => O,
  { failed }: Pick<Handlers<Uint8Array, O>, 'failed'> = {},
): Handlers<Uint8Array, O> => {
  const chunks: Uint8Array[] = [];
  return {
    next(chunk) {
      chunks.push(chunk);
      return undefined;
    },
    end: () => make(joinBytes(chunks)),
    ...(failed && { failed }),
  };
};

const joinBytes = (chunks: readonly Uint8Array[]): Uint8Array => {
  const only = chunks.length === 1 ? chunks[0] : undefined;
  return only ?? Buffer.concat(chunks);
};
