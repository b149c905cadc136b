import type { ModelEvent } from '../../../engine/model/event.ts';
import { asJsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { lenientReader } from '../../../engine/model/schema.ts';
import { decodeCitation, decodeCitations } from '../citations.ts';
import { ReplyMessage, type StreamEvent } from '../schema-reply.ts';
import { type BlockQueue, type ItemReader, ReplyItem } from './reply-item.ts';

const messageReader = lenientReader(ReplyMessage);

interface PartState {
  /** UTF-16 units read. */
  length: number;
  citations: number;
}

const textTypes: ReadonlySet<string> = new Set(['output_text', 'text']);

/** Reads a message item: each non-empty content part becomes a text or refusal block. */
export class MessageReader implements ItemReader {
  readonly #item: ReplyItem;
  readonly #losses: Losses;
  readonly #parts = new Map<number, PartState>();
  #current = -1;
  refused = false;

  constructor(line: BlockQueue, losses: Losses) {
    this.#item = new ReplyItem(line);
    this.#losses = losses;
  }

  read(type: string, event: StreamEvent, out: ModelEvent[]): void {
    const index = event.content_index ?? 0;
    switch (type) {
      case 'response.output_text.delta':
        this.#text(index, 'text', event.delta ?? '', out);
        break;
      case 'response.refusal.delta':
        this.#text(index, 'refusal', event.delta ?? '', out);
        break;
      case 'response.output_text.done':
        this.#rest(index, 'text', event.text ?? '', out);
        break;
      case 'response.refusal.done':
        this.#rest(index, 'refusal', event.refusal ?? '', out);
        break;
      case 'response.output_text.annotation.added':
        if (event.annotation) this.#cite(index, [decodeCitation(asJsonObject(event.annotation))], out);
        break;
    }
  }

  finish(item: object | undefined, out: ModelEvent[]): void {
    const content = messageReader.readable(item)?.content ?? [];
    content.forEach((part, index) => {
      if (part.type === 'refusal') this.#rest(index, 'refusal', part.refusal ?? '', out);
      else if (typeof part.text !== 'string' && !textTypes.has(part.type)) {
        this.#losses.drop('reply.content', `a part of the type ${part.type}`);
      } else {
        this.#rest(index, 'text', part.text ?? '', out);
        const known = this.#parts.get(index)?.citations ?? 0;
        this.#cite(index, decodeCitations(part.annotations).slice(known), out);
      }
    });
    this.#item.end(out);
  }

  /** Reads the part of a `done` text that the deltas left out. */
  #rest(index: number, kind: 'text' | 'refusal', whole: string, out: ModelEvent[]): void {
    this.#text(index, kind, whole.slice(this.#parts.get(index)?.length ?? 0), out);
  }

  #text(index: number, kind: 'text' | 'refusal', piece: string, out: ModelEvent[]): void {
    if (piece === '') return;
    const part = this.#part(index, kind, out);
    part.length += piece.length;
    this.#item.text(piece, out);
  }

  #cite(index: number, citations: ReturnType<typeof decodeCitations>, out: ModelEvent[]): void {
    for (const citation of citations) {
      const part = this.#part(index, 'text', out);
      part.citations += 1;
      this.#item.delta({ type: 'citation-delta', index: 0, citation }, out);
    }
  }

  #part(index: number, kind: 'text' | 'refusal', out: ModelEvent[]): PartState {
    let part = this.#parts.get(index);
    if (part === undefined) {
      part = { length: 0, citations: 0 };
      this.#parts.set(index, part);
    }
    if (this.#current !== index || !this.#item.isOpen) {
      this.#current = index;
      if (kind === 'refusal') this.refused = true;
      this.#item.start({ type: kind }, out);
    }
    return part;
  }
}
