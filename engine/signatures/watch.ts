import type { ModelEvent } from '../model/event.ts';
import type { ModelRequest, RedactedThinkingPart, ThinkingPart, WireFormat } from '../model/request.ts';
import type { Signature } from '../model/signature.ts';
import { CallKeys } from './call-keys.ts';
import type { CallMemory, SignatureMemory } from './memory.ts';

/** Whose answer is watched, and who gets it. */
export interface Watched {
  /** The name of the provider that answers. */
  readonly provider: string;
  /** The wire format of the client: payloads of the same one reach it as they are. */
  readonly client: WireFormat;
  /** The request as the client wrote it. */
  readonly request: ModelRequest;
}

/** Watches one answer's events for payloads: tells who minted them, and keeps in mind what a client may lose. */
export class SignatureWatch {
  readonly #memory: SignatureMemory;
  readonly #watched: Watched;
  /** Readable reasoning of the open block. */
  #text: string[] = [];
  #thinks = false;
  #seal: Signature | undefined;
  /** Reasoning since the last call. */
  #thinking: (ThinkingPart | RedactedThinkingPart)[] = [];
  /** All calls of the answer; of most there is nothing to keep. */
  readonly #calls: { readonly id: string; readonly call: CallMemory | undefined }[] = [];

  constructor(memory: SignatureMemory, watched: Watched) {
    this.#memory = memory;
    this.#watched = watched;
  }

  /** The batch, its payloads marked with the provider's name; the same array where it holds none. */
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
        this.#seal = this.#mark(event.signature);
        return { ...event, signature: this.#seal };
      case 'block-stop':
        if (this.#thinks) this.#keepThinking();
        return event;
      case 'message-stop':
        this.#remember();
        return event;
      default:
        return event;
    }
  }

  #start(event: Extract<ModelEvent, { type: 'block-start' }>): ModelEvent {
    const { block } = event;
    switch (block.type) {
      case 'thinking':
        this.#thinks = true;
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
    const marked = { ...signature, mint: this.#watched.provider };
    if (marked.format === this.#watched.client) this.#memory.noteMint(marked);
    return marked;
  }

  #keepThinking(): void {
    const text = this.#text.join('');
    const signature = this.#seal;
    if (text !== '' || signature) this.#thinking.push({ type: 'thinking', text, ...(signature && { signature }) });
    this.#text = [];
    this.#thinks = false;
    this.#seal = undefined;
  }

  #keepCall(id: string, signature: Signature | undefined): void {
    const keeps = id !== '' && (signature !== undefined || this.#thinking.length > 0);
    const call = { provider: this.#watched.provider, thinking: this.#thinking, signature };
    this.#calls.push({ id, call: keeps ? call : undefined });
    this.#thinking = [];
  }

  /** Only an answer that came to its end: clients don't keep others. */
  #remember(): void {
    if (!this.#calls.some(({ call }) => call !== undefined)) return;
    const keys = new CallKeys(this.#watched.request).skipHistory();
    for (const { id, call } of this.#calls) {
      const key = keys.next(id);
      if (call) this.#memory.noteCall(key, call);
    }
    this.#calls.length = 0;
  }
}
