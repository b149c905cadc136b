import type { ModelEvent } from '../model/event.ts';
import type { Signature } from '../model/reasoning/signature.ts';
import type { ModelRequest, RedactedThinkingPart, ThinkingPart, WireFormat } from '../model/request.ts';
import { CallKeys } from './call-keys.ts';
import type { CallSignatures, SignatureCache } from './signature-cache.ts';

/** The provider, client and request of the watched answer. */
interface Watched {
  /** The provider's name. */
  readonly provider: string;
  /** The client's wire format. Payloads in the same format reach the client unchanged. */
  readonly client: WireFormat;
  /** The request as the client sent it. */
  readonly request: ModelRequest;
}

/** Watches one answer's events for payloads. Marks who issued them and caches what the client may lose. */
export class SignatureWatch {
  readonly #cache: SignatureCache;
  readonly #watched: Watched;
  /** Reasoning text of the open block. */
  #text: string[] = [];
  #isThinking = false;
  #signature: Signature | undefined;
  /** Reasoning since the previous call. */
  #thinking: (ThinkingPart | RedactedThinkingPart)[] = [];
  /** All calls of the answer; `call` is present if there is something to cache. */
  readonly #calls: { readonly id: string; readonly call: CallSignatures | undefined }[] = [];

  constructor(cache: SignatureCache, watched: Watched) {
    this.#cache = cache;
    this.#watched = watched;
  }

  /** The batch with its payloads marked with the provider's name; the same array if it holds none. */
  read(batch: readonly ModelEvent[]): readonly ModelEvent[] {
    let marked: ModelEvent[] | undefined;
    for (let index = 0; index < batch.length; index += 1) {
      const event = batch[index];
      if (event === undefined) continue;
      const read = this.#read(event);
      if (read === event) continue;
      marked ??= [...batch];
      marked[index] = read;
    }
    return marked ?? batch;
  }

  #read(event: ModelEvent): ModelEvent {
    switch (event.type) {
      case 'block-start':
        return this.#start(event);
      case 'thinking-delta':
        this.#text.push(event.text);
        return event;
      case 'signature-delta':
        this.#signature = this.#mark(event.signature);
        return { ...event, signature: this.#signature };
      case 'block-stop':
        if (this.#isThinking) this.#keepThinking();
        return event;
      case 'message-stop':
        this.#storeCalls();
        return event;
      default:
        return event;
    }
  }

  #start(event: Extract<ModelEvent, { type: 'block-start' }>): ModelEvent {
    const { block } = event;
    switch (block.type) {
      case 'thinking':
        this.#isThinking = true;
        return event;
      case 'redacted-thinking': {
        const marked = { ...block, signature: this.#mark(block.signature) };
        this.#thinking.push(marked);
        return { ...event, block: marked };
      }
      case 'tool-call': {
        const signature = block.signature && this.#mark(block.signature);
        this.#keepCall(block.id, signature);
        return signature ? { ...event, block: { ...block, signature } } : event;
      }
      default:
        return event;
    }
  }

  #mark(signature: Signature): Signature {
    const marked = { ...signature, issuer: this.#watched.provider };
    if (marked.format === this.#watched.client) this.#cache.storeIssuer(marked);
    return marked;
  }

  #keepThinking(): void {
    const text = this.#text.join('');
    const signature = this.#signature;
    if (text !== '' || signature) this.#thinking.push({ type: 'thinking', text, ...(signature && { signature }) });
    this.#text = [];
    this.#isThinking = false;
    this.#signature = undefined;
  }

  #keepCall(id: string, signature: Signature | undefined): void {
    const keeps = id !== '' && (signature !== undefined || this.#thinking.length > 0);
    const call = { provider: this.#watched.provider, thinking: this.#thinking, signature };
    this.#calls.push({ id, call: keeps ? call : undefined });
    this.#thinking = [];
  }

  /** Called only for complete answers: clients don't keep others. */
  #storeCalls(): void {
    if (!this.#calls.some(({ call }) => call !== undefined)) return;
    const keys = new CallKeys(this.#watched.request).skipHistory();
    for (const { id, call } of this.#calls) {
      const key = keys.next(id);
      if (call) this.#cache.storeCall(key, call);
    }
    this.#calls.length = 0;
  }
}

/** Bytes of a stream that are held while waiting for a marker of reasoning. */
const maxHeldBytes = 64 << 10;

/**
 * Passes chunks on from the first that holds `marker`, with those before it. If the marker doesn't occur in the first
 * `maxHeldBytes`, nothing passes: reasoning comes first in an answer. Without a `marker` all chunks pass.
 */
export const awaitMarker = (
  marker: string | undefined,
  pass: (chunk: Uint8Array) => void,
): ((chunk: Uint8Array) => void) => {
  if (marker === undefined) return pass;
  const needle = Buffer.from(marker);
  let held: Uint8Array[] = [];
  let heldBytes = 0;
  let found = false;
  let tail: Uint8Array = new Uint8Array(0);
  return (chunk) => {
    if (found) return pass(chunk);
    if (heldBytes > maxHeldBytes) return;
    held.push(chunk);
    heldBytes += chunk.length;
    const seam = Buffer.concat([tail, chunk.subarray(0, needle.length)]);
    found = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).includes(needle) || seam.includes(needle);
    tail = Buffer.concat([tail, chunk.subarray(-needle.length)]).subarray(-needle.length);
    if (found) for (const one of held) pass(one);
    if (found || heldBytes > maxHeldBytes) held = [];
  };
};
