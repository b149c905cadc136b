import { defer, type MonoTypeOperatorFunction, map, type OperatorFunction, takeWhile, toArray } from 'rxjs';

/** All of a body as one array, once it has ended. What lies past `maxBytes` isn't read. */
export const collectBytes =
  (maxBytes?: number): OperatorFunction<Uint8Array, Uint8Array> =>
  (source) =>
    (maxBytes === undefined ? source : source.pipe(takeBytes(maxBytes))).pipe(toArray(), map(joinBytes));

const takeBytes =
  (maxBytes: number): MonoTypeOperatorFunction<Uint8Array> =>
  (source) =>
    defer(() => {
      let bytes = 0;
      const fits = (chunk: Uint8Array): boolean => {
        bytes += chunk.length;
        return bytes < maxBytes;
      };
      return source.pipe(takeWhile(fits, true));
    });

const joinBytes = (chunks: readonly Uint8Array[]): Uint8Array => {
  const only = chunks.length === 1 ? chunks[0] : undefined;
  return only ?? Buffer.concat(chunks);
};
