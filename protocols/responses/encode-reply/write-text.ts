import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import type { Citation } from '../../../engine/model/request.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { encodeCitation, isPlaced } from '../citations.ts';
import { type ItemStatus, itemId, messageItem, refusalPart, textPart } from './output-item.ts';
import { type DeltaTemplate, deltaTemplate, type Members, members, type StreamWriter } from './stream-writer.ts';

/**
 * Writes a message item. Consecutive text and refusal blocks share one message, each as a content part. Parts and
 * messages start with their first content.
 */
export class MessageWriter {
  readonly #stream: StreamWriter;
  readonly #contextId: string;
  readonly #losses: Losses;
  readonly #parts: JsonObject[] = [];
  #id = '';
  #kind: 'text' | 'refusal' = 'text';
  #open = false;
  #place: Members = '';
  #delta: DeltaTemplate | undefined;
  #pieces: string[] = [];
  #annotations: JsonObject[] = [];
  /** Citations waiting for the length of their text. */
  #unplaced: Citation[] = [];

  constructor(stream: StreamWriter, contextId: string, losses: Losses) {
    this.#stream = stream;
    this.#contextId = contextId;
    this.#losses = losses;
  }

  startBlock(kind: 'text' | 'refusal'): void {
    this.#kind = kind;
  }

  text(piece: string, out: SseRecord[]): void {
    if (!this.#open || this.#delta === undefined) this.#delta = this.#openPart(out);
    this.#pieces.push(piece);
    this.#stream.delta(out, this.#delta, piece);
  }

  cite(citation: Citation, out: SseRecord[]): void {
    if (!this.#open) this.#delta = this.#openPart(out);
    if (isPlaced(citation)) this.#annotate(citation, 0, out);
    else this.#unplaced.push(citation);
  }

  stopBlock(out: SseRecord[]): void {
    if (!this.#open) return;
    this.#open = false;
    const text = this.#pieces.join('');
    for (const citation of this.#unplaced) this.#annotate(citation, text.length, out);
    const refusal = this.#kind === 'refusal';
    const part = refusal ? refusalPart(text) : textPart(text, this.#annotations);
    if (refusal) this.#stream.event(out, 'response.refusal.done', `${this.#place},${members({ refusal: text })}`);
    else this.#stream.event(out, 'response.output_text.done', `${this.#place},${members({ text, logprobs: [] })}`);
    this.#stream.event(out, 'response.content_part.done', `${this.#place},${members({ part })}`);
    this.#parts.push(part);
    this.#pieces = [];
    this.#annotations = [];
    this.#unplaced = [];
  }

  finish(status: ItemStatus, out: SseRecord[]): void {
    if (this.#id !== '') this.#stream.itemDone(out, messageItem(this.#id, status, this.#parts));
  }

  #openPart(out: SseRecord[]): DeltaTemplate {
    const index = this.#stream.nextIndex;
    if (this.#id === '') {
      this.#id = itemId('msg', this.#contextId, index);
      this.#stream.itemAdded(out, messageItem(this.#id, 'in_progress', []));
    }
    this.#open = true;
    this.#place = members({ item_id: this.#id, output_index: index, content_index: this.#parts.length });
    const refusal = this.#kind === 'refusal';
    const part = refusal ? refusalPart('') : textPart('', []);
    this.#stream.event(out, 'response.content_part.added', `${this.#place},${members({ part })}`);
    return refusal
      ? deltaTemplate('response.refusal.delta', this.#place)
      : deltaTemplate('response.output_text.delta', this.#place, '"logprobs":[]');
  }

  #annotate(citation: Citation, length: number, out: SseRecord[]): void {
    const annotation = this.#kind === 'text' ? encodeCitation(citation, length) : undefined;
    if (annotation === undefined) {
      this.#losses.drop('output.content.annotations', 'a citation specific to another protocol');
      return;
    }
    const more = members({ annotation_index: this.#annotations.length, annotation });
    this.#stream.event(out, 'response.output_text.annotation.added', `${this.#place},${more}`);
    this.#annotations.push(annotation);
  }
}
