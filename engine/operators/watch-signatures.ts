import type { Answered } from '../exchange.ts';
import type { Batch } from '../model/event.ts';
import type { SignatureCache } from '../reasoning/signature-cache.ts';
import { SignatureWatch } from '../reasoning/signature-watch.ts';
import type { StreamStage } from './rx/stages.ts';

/** Marks payloads with the provider that issued them, and caches those that the client may lose. */
export const watchSignatures =
  (cache: SignatureCache): StreamStage<Answered, Batch, Batch> =>
  (answered) => {
    const watch = watchOf(answered, cache);
    return { next: (batch) => watch.read(batch) };
  };

export const watchOf = ({ resolution, client, context }: Answered, cache: SignatureCache): SignatureWatch =>
  new SignatureWatch(cache, { provider: resolution.provider.name, client: client.wire, request: context.request });
