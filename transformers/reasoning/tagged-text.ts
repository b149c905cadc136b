/** Takes the two kinds of text that a tagged one is made of. Never gets an empty piece. */
export interface TaggedTextSink {
  readonly thinking: (text: string) => void;
  /** The thinking has ended with its tag. */
  readonly thought: () => void;
  readonly text: (text: string) => void;
}

/**
 * Splits a text that comes in pieces, cut anywhere, at `<tag>…</tag>`. The tag counts at the text's beginning alone, white space
 * aside, and behind a closed one: further on it's more likely that the answer speaks of the tag. White space around a tag goes
 * with it, and with it a tagged part that holds nothing else. What is never closed is thinking to the end.
 */
export class TaggedText {
  readonly #open: string;
  readonly #close: string;
  readonly #sink: TaggedTextSink;
  #place: 'start' | 'thinking' | 'behind' | 'text' = 'start';
  /** Leading white space that is text, should no tag follow; or that is dropped, should nothing but the closing tag follow. */
  #space = '';
  /** The beginning of what may be a tag. */
  #held = '';
  #begun = false;

  constructor(tag: string, sink: TaggedTextSink) {
    this.#open = `<${tag}>`;
    this.#close = `</${tag}>`;
    this.#sink = sink;
  }

  /** The opening tag has come, the closing one hasn't. */
  get inside(): boolean {
    return this.#place === 'thinking';
  }

  push(piece: string): void {
    let rest = this.#held + piece;
    this.#held = '';
    while (rest !== '') {
      if (this.#place === 'text') {
        this.#sink.text(rest);
        return;
      }
      rest = this.#place === 'thinking' ? this.#readThinking(rest) : this.#readStart(rest);
    }
  }

  /** The text has ended: what was held is no tag. */
  end(): void {
    const held = this.#held;
    this.#held = '';
    if (this.#place === 'thinking') this.#think(held);
    else if (this.#place === 'start') this.#say(this.#space + held);
    else this.#say(held);
    this.#space = '';
  }

  /** What is left for the next place. */
  #readStart(text: string): string {
    const rest = text.trimStart();
    if (this.#place === 'start') this.#space += text.slice(0, text.length - rest.length);
    if (rest.startsWith(this.#open)) {
      this.#place = 'thinking';
      this.#space = '';
      this.#begun = false;
      return rest.slice(this.#open.length);
    }
    if (this.#open.startsWith(rest)) {
      this.#held = rest;
      return '';
    }
    const space = this.#space;
    this.#place = 'text';
    this.#space = '';
    return space + rest;
  }

  #readThinking(text: string): string {
    const at = text.indexOf(this.#close);
    if (at < 0) {
      const kept = text.length - beginningAtEnd(text, this.#close);
      this.#held = text.slice(kept);
      this.#think(text.slice(0, kept));
      return '';
    }
    this.#think(text.slice(0, at));
    if (this.#begun) this.#sink.thought();
    this.#place = 'behind';
    return text.slice(at + this.#close.length);
  }

  #think(text: string): void {
    const said = this.#begun ? text : text.trimStart();
    if (said === '') return;
    this.#begun = true;
    this.#sink.thinking(said);
  }

  #say(text: string): void {
    if (text !== '') this.#sink.text(text);
  }
}

/** How many of the text's last characters are the tag's first. */
const beginningAtEnd = (text: string, tag: string): number => {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
};
