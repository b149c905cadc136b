/** Receives the parts of a tagged text. Pieces are never empty. */
interface TaggedTextSink {
  readonly thinking: (text: string) => void;
  /** Called after the closing tag. */
  readonly thought: () => void;
  readonly text: (text: string) => void;
}

/**
 * Splits text that arrives in arbitrary pieces at `<tag>…</tag>`, for any of several tags. A tag only counts at the start of the text or after a closing
 * tag, white space ignored: later the answer probably mentions the tag. White space around tags and blank tagged parts are
 * dropped. An unclosed tag is thinking to the end.
 */
export class TaggedText {
  readonly #tags: readonly string[];
  /** Of the tag that was opened last. */
  #close = '';
  readonly #sink: TaggedTextSink;
  #position: 'start' | 'thinking' | 'after' | 'text' = 'start';
  /** Leading white space: text if no tag follows, else dropped. */
  #space = '';
  /** The start of a possible tag. */
  #buffered = '';
  #hasThinking = false;

  constructor(tags: readonly string[], sink: TaggedTextSink) {
    this.#tags = tags;
    this.#sink = sink;
  }

  /** Whether the text is between an opening and a closing tag. */
  get inside(): boolean {
    return this.#position === 'thinking';
  }

  /** Whether the text has begun, after which no tag counts. */
  get plain(): boolean {
    return this.#position === 'text';
  }

  /** `start`: the beginning of the piece, which decides alone if no tag can begin there. */
  push(piece: string, start = piece): void {
    if (start !== piece && this.#position === 'start' && this.#buffered === '' && this.#isPlain(start)) {
      this.#position = 'text';
      this.#sink.text(this.#space + piece);
      this.#space = '';
      return;
    }
    let rest = this.#buffered + piece;
    this.#buffered = '';
    while (rest !== '') {
      if (this.#position === 'text') {
        this.#sink.text(rest);
        return;
      }
      rest = this.#position === 'thinking' ? this.#readThinking(rest) : this.#readStart(rest);
    }
  }

  /** Ends the text: a buffered partial tag is text. */
  end(): void {
    const buffered = this.#buffered;
    this.#buffered = '';
    if (this.#position === 'thinking') this.#emitThinking(buffered);
    else if (this.#position === 'start') this.#emitText(this.#space + buffered);
    else this.#emitText(buffered);
    this.#space = '';
  }

  /** Whether no tag begins here. */
  #isPlain(start: string): boolean {
    const rest = start.trimStart();
    if (rest !== '' && !rest.startsWith('<')) return true;
    return !this.#tags.some((name) => rest.startsWith(`<${name}>`) || `<${name}>`.startsWith(rest));
  }

  /** Returns the rest of the text for the next position. */
  #readStart(text: string): string {
    const rest = text.trimStart();
    if (this.#position === 'start') this.#space += text.slice(0, text.length - rest.length);
    if (this.#isPlain(rest)) {
      const space = this.#space;
      this.#position = 'text';
      this.#space = '';
      return space + rest;
    }
    const tag = this.#tags.find((name) => rest.startsWith(`<${name}>`));
    if (tag !== undefined) {
      this.#close = `</${tag}>`;
      this.#position = 'thinking';
      this.#space = '';
      this.#hasThinking = false;
      return rest.slice(tag.length + 2);
    }
    this.#buffered = rest;
    return '';
  }

  #readThinking(text: string): string {
    const at = text.indexOf(this.#close);
    if (at < 0) {
      const kept = text.length - partialTagLength(text, this.#close);
      this.#buffered = text.slice(kept);
      this.#emitThinking(text.slice(0, kept));
      return '';
    }
    this.#emitThinking(text.slice(0, at));
    if (this.#hasThinking) this.#sink.thought();
    this.#position = 'after';
    return text.slice(at + this.#close.length);
  }

  #emitThinking(text: string): void {
    const shown = this.#hasThinking ? text : text.trimStart();
    if (shown === '') return;
    this.#hasThinking = true;
    this.#sink.thinking(shown);
  }

  #emitText(text: string): void {
    if (text !== '') this.#sink.text(text);
  }
}

/** Length of the longest suffix of the text that is a prefix of the tag. */
const partialTagLength = (text: string, tag: string): number => {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
};
