/** The token counts in a response. */
export interface AnswerUsage {
  readonly input?: number;
  readonly output?: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  readonly reasoning?: number;
}

/** A part of a response. */
export type AnswerPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  /** A tool call; `input` is JSON text, maybe incomplete; a custom tool's is any text. */
  | { readonly type: 'tool'; readonly name: string; readonly id: string; readonly input: string }
  /** A part that this page can't render, by its name. */
  | { readonly type: 'other'; readonly name: string };

/** A response so far, independent of the protocol. */
export interface Answer {
  /** The model's name as the upstream gives it. */
  readonly model: string | undefined;
  readonly parts: readonly AnswerPart[];
  /** The finish reason, as the protocol spells it. */
  readonly finish: string | undefined;
  readonly usage: AnswerUsage;
  /** The error that ended the stream. */
  readonly fault: string | undefined;
  /** Number of pieces of text, thinking or tool input. */
  readonly deltas: number;
  /** The protocol's end marker was seen. */
  readonly ended: boolean;
}
