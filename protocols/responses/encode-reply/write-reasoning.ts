import type { Signature } from '../../../engine/model/reasoning/signature.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { encodeSignature, itemId, reasoningItem, summaryPart } from './output-item.ts';
import { type DeltaTemplate, deltaTemplate, type Members, members, type StreamWriter } from './stream-writer.ts';

/** Writes a reasoning item: readable reasoning becomes the summary, the signature `encrypted_content`. */
export class ReasoningWriter {
  readonly #stream: StreamWriter;
  readonly #contextId: string;
  readonly #pieces: string[] = [];
  #id = '';
  #place: Members = '';
  #delta: DeltaTemplate | undefined;
  #summary: string[] = [];
  #payload: string | undefined;

  constructor(stream: StreamWriter, contextId: string) {
    this.#stream = stream;
    this.#contextId = contextId;
  }

  text(piece: string, out: SseRecord[]): void {
    this.#delta ??= this.#openPart(out);
    this.#pieces.push(piece);
    this.#stream.delta(out, this.#delta, piece);
  }

  sign(signature: Signature): void {
    this.#payload = encodeSignature(signature);
  }

  stopBlock(out: SseRecord[]): void {
    // A signature without text still gets an empty summary, so that it returns as reasoning, not as redacted
    // reasoning.
    if (this.#delta === undefined && this.#payload !== undefined) this.#delta = this.#openPart(out);
    if (this.#delta === undefined) return;
    const text = this.#pieces.join('');
    this.#stream.event(out, 'response.reasoning_summary_text.done', `${this.#place},${members({ text })}`);
    this.#stream.event(
      out,
      'response.reasoning_summary_part.done',
      `${this.#place},${members({ part: summaryPart(text) })}`,
    );
    this.#summary = [text];
  }

  finish(out: SseRecord[]): void {
    if (this.#id !== '') this.#stream.itemDone(out, reasoningItem(this.#id, this.#summary, this.#payload));
  }

  #openPart(out: SseRecord[]): DeltaTemplate {
    const index = this.#stream.nextIndex;
    this.#id = itemId('rs', this.#contextId, index);
    this.#stream.itemAdded(out, reasoningItem(this.#id, [], undefined));
    this.#place = members({ item_id: this.#id, output_index: index, summary_index: 0 });
    this.#stream.event(
      out,
      'response.reasoning_summary_part.added',
      `${this.#place},${members({ part: summaryPart('') })}`,
    );
    return deltaTemplate('response.reasoning_summary_text.delta', this.#place);
  }
}

/** Writes a redacted reasoning item. */
export const writeRedacted = (stream: StreamWriter, contextId: string, payload: string, out: SseRecord[]): void => {
  const id = itemId('rs', contextId, stream.nextIndex);
  stream.itemAdded(out, reasoningItem(id, [], undefined));
  stream.itemDone(out, reasoningItem(id, [], payload));
};
