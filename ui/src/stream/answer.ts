/** Token counts that an answer told. */
export interface AnswerUsage {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
}

/** A piece of an answer. */
export type AnswerPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  /** A tool call; `input` is JSON text (of a custom tool: any text) that may not be whole yet. */
  | { readonly type: 'tool'; readonly name: string; readonly id: string; readonly input: string }
  /** Something that this page has no picture of, by its name. */
  | { readonly type: 'other'; readonly name: string };

/** What a model has answered so far, in whichever protocol. */
export interface Answer {
  /** The upstream's own word for what answers. */
  readonly model: string | undefined;
  readonly parts: readonly AnswerPart[];
  /** Why it ended, in the protocol's own word. */
  readonly finish: string | undefined;
  readonly usage: AnswerUsage;
  /** What went wrong after the answer had begun. */
  readonly fault: string | undefined;
  /** Pieces of text, thinking or tool input that came. */
  readonly deltas: number;
  /** The protocol's own end was seen. */
  readonly ended: boolean;
}
