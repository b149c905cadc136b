import type { ModelEvent } from '../../../engine/model/event.ts';
import { lenientReader } from '../../../engine/model/schema.ts';
import { ReplyReasoning, type StreamEvent } from '../schema-reply.ts';
import { type BlockQueue, type ItemReader, ReplyItem } from './reply-item.ts';

const reasoningReader = lenientReader(ReplyReasoning);

/**
 * Reads a reasoning item: summary and text form one thinking block, with an empty line between parts. The payload is
 * that of the whole item, since the first event's differs. Without text it is redacted thinking.
 */
export class ReasoningReader implements ItemReader {
  readonly #item: ReplyItem;
  /** UTF-16 units read of each part, by its list and index. */
  readonly #lengths = new Map<string, number>();
  #last = '';

  constructor(line: BlockQueue) {
    this.#item = new ReplyItem(line);
  }

  read(type: string, event: StreamEvent, out: ModelEvent[]): void {
    switch (type) {
      case 'response.reasoning_summary_text.delta':
        this.#text(`s${event.summary_index ?? 0}`, event.delta ?? '', out);
        break;
      case 'response.reasoning_text.delta':
        this.#text(`c${event.content_index ?? 0}`, event.delta ?? '', out);
        break;
      case 'response.reasoning_summary_text.done':
        this.#rest(`s${event.summary_index ?? 0}`, event.text ?? '', out);
        break;
      case 'response.reasoning_text.done':
        this.#rest(`c${event.content_index ?? 0}`, event.text ?? '', out);
        break;
    }
  }

  finish(item: object | undefined, out: ModelEvent[]): void {
    const whole = reasoningReader.readable(item) ?? {};
    whole.summary?.forEach(({ text }, index) => {
      this.#rest(`s${index}`, text ?? '', out);
    });
    whole.content?.forEach(({ text }, index) => {
      this.#rest(`c${index}`, text ?? '', out);
    });
    const signature = { format: 'responses', data: whole.encrypted_content ?? '' };
    if (this.#item.isOpen) this.#item.delta({ type: 'signature-delta', index: 0, signature }, out);
    else if (signature.data !== '') this.#item.start({ type: 'redacted-thinking', signature }, out);
    this.#item.end(out);
  }

  #rest(part: string, whole: string, out: ModelEvent[]): void {
    this.#text(part, whole.slice(this.#lengths.get(part) ?? 0), out);
  }

  #text(part: string, piece: string, out: ModelEvent[]): void {
    if (piece === '') return;
    if (!this.#item.isOpen) this.#item.start({ type: 'thinking' }, out);
    else if (this.#last !== part) this.#item.thinking('\n\n', out);
    this.#last = part;
    this.#lengths.set(part, (this.#lengths.get(part) ?? 0) + piece.length);
    this.#item.thinking(piece, out);
  }
}
