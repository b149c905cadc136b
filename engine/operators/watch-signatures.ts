import { defer, type MonoTypeOperatorFunction, map, tap } from 'rxjs';
import type { Answered } from '../exchange.ts';
import type { ModelEvent } from '../model/event.ts';
import { isJsonObject, parseJson } from '../model/json.ts';
import { Losses } from '../model/loss.ts';
import type { SseRecord } from '../model/protocol.ts';
import { awaitSign } from '../signatures/await-sign.ts';
import type { SignatureMemory } from '../signatures/memory.ts';
import { SignatureWatch } from '../signatures/watch.ts';
import { readSseRecords } from '../sse.ts';
import type { Batch } from './read-events.ts';

/** Marks payloads with the provider that minted them, and keeps in mind what the client may lose of them. */
export const watchSignatures =
  (answered: Answered, memory: SignatureMemory): MonoTypeOperatorFunction<Batch> =>
  (source) =>
    defer(() => {
      const watch = watchOf(answered, memory);
      return source.pipe(map((batch) => watch.read(batch)));
    });

/** The same for an answer that passes through untouched: its bytes are read along, where they may hold reasoning at all. */
export const watchRelayed =
  (answered: Answered, memory: SignatureMemory): MonoTypeOperatorFunction<Uint8Array> =>
  (source) =>
    answered.line.upstream.mayReason?.(answered.asked)
      ? defer(() =>
          source.pipe(tap(answered.answer.streamed ? readStream(answered, memory) : readWhole(answered, memory))),
        )
      : source;

const watchOf = ({ resolution, client, context }: Answered, memory: SignatureMemory): SignatureWatch =>
  new SignatureWatch(memory, { provider: resolution.provider.name, client: client.wire, request: context.request });

interface Reader {
  readonly next: (chunk: Uint8Array) => void;
  readonly complete: () => void;
}

const readStream = (answered: Answered, memory: SignatureMemory): Reader => {
  const { context, line } = answered;
  // What only this reading loses, the client gets.
  const aside = { ...context, losses: new Losses(line.format.name) };
  const watch = watchOf(answered, memory);
  const records = readSseRecords.start(aside);
  const events = line.upstream.decodeStream.start(aside);
  const take = (found: readonly SseRecord[]): void => {
    const out: ModelEvent[] = [];
    for (const record of found) events.step(record, out);
    watch.read(out);
  };
  return {
    next: awaitSign(line.upstream.reasoningSign, (chunk) => {
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

const readWhole = (answered: Answered, memory: SignatureMemory): Reader => {
  const chunks: Uint8Array[] = [];
  return {
    next: (chunk) => chunks.push(chunk),
    complete() {
      const { context, line } = answered;
      const bytes = Buffer.concat(chunks);
      // An answer without reasoning has nothing to keep in mind.
      if (!bytes.includes(line.upstream.reasoningSign ?? '')) return;
      const body = parseJson(bytes.toString());
      if (!isJsonObject(body)) return;
      const aside = { ...context, losses: new Losses(line.format.name) };
      watchOf(answered, memory).read(line.upstream.decodeReply(body, aside));
    },
  };
};
