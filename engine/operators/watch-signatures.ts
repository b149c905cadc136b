import { defer, type MonoTypeOperatorFunction, map, tap } from 'rxjs';
import type { Answered } from '../exchange.ts';
import type { Batch, ModelEvent } from '../model/event.ts';
import { isJsonObject, parseJson } from '../model/json/json.ts';
import { Losses } from '../model/loss.ts';
import type { SseRecord } from '../model/protocol.ts';
import { readSseRecords } from '../model/sse.ts';
import type { SignatureCache } from '../reasoning/signature-cache.ts';
import { awaitSign, SignatureWatch } from '../reasoning/signature-watch.ts';

/** Marks payloads with the provider that issued them, and caches those that the client may lose. */
export const watchSignatures =
  (answered: Answered, cache: SignatureCache): MonoTypeOperatorFunction<Batch> =>
  (source) =>
    defer(() => {
      const watch = watchOf(answered, cache);
      return source.pipe(map((batch) => watch.read(batch)));
    });

/** `watchSignatures` for a passed-through answer: decodes a copy of its bytes, if they may hold reasoning. */
export const watchPassThrough =
  (answered: Answered, cache: SignatureCache): MonoTypeOperatorFunction<Uint8Array> =>
  (source) =>
    answered.plan.upstream.mayReason?.(answered.asked)
      ? defer(() =>
          source.pipe(
            tap(upTo(maxBytes, answered.answer.streamed ? readStream(answered, cache) : readWhole(answered, cache))),
          ),
        )
      : source;

const watchOf = ({ resolution, client, context }: Answered, cache: SignatureCache): SignatureWatch =>
  new SignatureWatch(cache, { provider: resolution.provider.name, client: client.wire, request: context.request });

/** The cache holds no more reasoning than this, so longer answers aren't collected. */
const maxBytes = 32 << 20;

/** Receives the chunks of an answer that passes through. */
interface SignatureReader {
  readonly next: (chunk: Uint8Array) => void;
  readonly complete: () => void;
}

/** Drops the reader, and what it has collected, after this many bytes. */
export const upTo = (bytes: number, reader: SignatureReader): SignatureReader => {
  let reading: SignatureReader | undefined = reader;
  let left = bytes;
  return {
    next(chunk) {
      left -= chunk.length;
      if (left < 0) reading = undefined;
      reading?.next(chunk);
    },
    complete: () => reading?.complete(),
  };
};

const readStream = (answered: Answered, cache: SignatureCache): SignatureReader => {
  const { context, plan } = answered;
  // Losses of this side read are not reported: the client receives the original bytes.
  const own = { ...context, losses: new Losses(plan.format.name) };
  const watch = watchOf(answered, cache);
  const records = readSseRecords.start(own);
  const events = plan.upstream.decodeStream.start(own);
  const take = (found: readonly SseRecord[]): void => {
    const out: ModelEvent[] = [];
    for (const record of found) events.step(record, out);
    watch.read(out);
  };
  return {
    next: awaitSign(plan.upstream.reasoningSign, (chunk) => {
      const found: SseRecord[] = [];
      records.step(chunk, found);
      take(found);
    }),
    complete() {
      const found: SseRecord[] = [];
      records.end(found);
      take(found);
      const out: ModelEvent[] = [];
      events.end(out);
      watch.read(out);
    },
  };
};

const readWhole = (answered: Answered, cache: SignatureCache): SignatureReader => {
  const chunks: Uint8Array[] = [];
  return {
    next: (chunk) => chunks.push(chunk),
    complete() {
      const { context, plan } = answered;
      const bytes = Buffer.concat(chunks);
      // Without reasoning there is nothing to cache.
      if (!bytes.includes(plan.upstream.reasoningSign ?? '')) return;
      const body = parseJson(bytes.toString());
      if (!isJsonObject(body)) return;
      const own = { ...context, losses: new Losses(plan.format.name) };
      watchOf(answered, cache).read(plan.upstream.decodeReply(body, own));
    },
  };
};
