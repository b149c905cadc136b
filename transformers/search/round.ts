import { inputObject, type ModelEvent, type Part } from 'junctor/transformer';
import type { Client } from './client.ts';
import { citationOf } from './forms.ts';
import { listIn, textIn } from './json.ts';
import { linksIn } from './links.ts';
import type { Page } from './outcome.ts';

/** A call of the search function by the model. */
export interface SearchCall {
  /** Empty: it names none. */
  readonly query: string;
  /** Its part of the conversation, without an id. */
  readonly signature: Extract<Part, { readonly type: 'tool-call' }>['signature'];
}

type Stop = Extract<ModelEvent, { readonly type: 'message-stop' }>;
type Start = Extract<ModelEvent, { readonly type: 'block-start' }>;

/** A longer text isn't searched for links. */
const maxLinkedText = 1 << 20;

/**
 * Reads one answer of the model: takes its searches out, and passes on the rest as it comes, as blocks of the client's one answer. Keeps
 * what the model has said, for the conversation to go on.
 */
export class Round {
  /** The model's words so far, with a placeholder for each search. */
  readonly parts: (Part | SearchCall)[] = [];
  readonly #client: Client;
  readonly #name: string;
  readonly #pages: ReadonlyMap<string, Page>;
  stop: Stop | undefined;
  #start: Start['block'] | undefined;
  #index = 0;
  #pieces: string[] = [];
  #length = 0;
  #isPlain = true;
  #signature: Extract<ModelEvent, { readonly type: 'signature-delta' }>['signature'] | undefined;

  constructor(client: Client, name: string, pages: ReadonlyMap<string, Page>) {
    this.#client = client;
    this.#name = name;
    this.#pages = pages;
  }

  get searches(): readonly SearchCall[] {
    return this.parts.filter(isSearch);
  }

  /** The first call of a function of the client's. */
  get clientCall(): string | undefined {
    return this.parts.flatMap((part) => (!isSearch(part) && part.type === 'tool-call' ? [part.id] : []))[0];
  }

  take(event: ModelEvent, out: ModelEvent[]): void {
    switch (event.type) {
      case 'message-start':
        if (!this.#client.begun) out.push(event);
        this.#client.begun = true;
        return;
      case 'message-stop':
        this.stop = event;
        return;
      case 'error':
        out.push(event);
        return;
      case 'block-start':
        this.#begin(event, out);
        return;
      case 'block-stop':
        this.#end(out);
        return;
      case 'text-delta':
      case 'thinking-delta':
        this.#keep(event.text);
        break;
      case 'input-delta':
        this.#keep(event.json);
        break;
      case 'signature-delta':
        this.#signature = event.signature;
        break;
      case 'opaque-delta':
        this.#isPlain = false;
        break;
      case 'citation-delta':
        break;
      default:
        event satisfies never;
    }
    if (!this.#isOwn) out.push(event.index === this.#index ? event : { ...event, index: this.#index });
  }

  get #isOwn(): boolean {
    return this.#start?.type === 'tool-call' && this.#start.name === this.#name;
  }

  #keep(piece: string): void {
    this.#pieces.push(piece);
    this.#length += piece.length;
  }

  #begin({ block }: Start, out: ModelEvent[]): void {
    this.#start = block;
    this.#pieces = [];
    this.#length = 0;
    this.#isPlain = true;
    this.#signature = undefined;
    if (this.#isOwn) return;
    this.#index = this.#client.place();
    out.push({ type: 'block-start', index: this.#index, block });
  }

  #end(out: ModelEvent[]): void {
    const text = this.#pieces.join('');
    const block = this.#start;
    this.#start = undefined;
    if (!block) return;
    if (block.type === 'tool-call' && block.name === this.#name) {
      this.parts.push({ query: queryIn(text), signature: block.signature });
      return;
    }
    const part = this.#partOf(block, text);
    if (part) this.parts.push(part);
    if (block.type === 'text') this.#cite(text, out);
    out.push({ type: 'block-stop', index: this.#index });
  }

  #partOf(block: Start['block'], text: string): Part | undefined {
    switch (block.type) {
      case 'text':
      case 'refusal':
        return text === '' ? undefined : { type: block.type, text };
      case 'thinking':
        return { type: 'thinking', text, ...(this.#signature && { signature: this.#signature }) };
      case 'redacted-thinking':
        return block;
      case 'tool-call': {
        const { id, name, signature } = block;
        return { type: 'tool-call', id, name, input: text, ...(signature && { signature }) };
      }
      case 'opaque':
        return this.#isPlain ? { type: 'opaque', wire: block.wire, raw: block.raw } : undefined;
      default:
        return block satisfies never;
    }
  }

  /** Cites the pages that a text links to. */
  #cite(text: string, out: ModelEvent[]): void {
    const { wire, text: before } = this.#client;
    // Chat Completions counts in the whole message, the others in the block.
    const offset = wire === 'chat' ? before : 0;
    this.#client.text += text.length;
    if (this.#pages.size === 0 || text.length > maxLinkedText) return;
    for (const { page, start, end } of linksIn(text, this.#pages)) {
      const citation = citationOf(page, { start: offset + start, end: offset + end }, wire);
      out.push({ type: 'citation-delta', index: this.#index, citation });
    }
  }
}

export const isSearch = (part: Part | SearchCall): part is SearchCall => 'query' in part;

/** The query of a call; models that know other search functions name it otherwise. */
const queryIn = (input: string): string => {
  const { query, q, queries } = inputObject(input) ?? {};
  return (textIn(query) || textIn(q) || textIn(listIn(queries)[0])).trim();
};
