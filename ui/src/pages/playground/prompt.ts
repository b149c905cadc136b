/** An earlier message of a conversation. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly text: string;
}

/** A prompt, independent of the protocol. */
export interface Prompt {
  readonly model: string;
  readonly system: string;
  /** What was said before; `text` goes on from there. */
  readonly turns?: readonly Turn[] | undefined;
  readonly text: string;
  readonly stream: boolean;
  /** Max output tokens. */
  readonly maxTokens: number | undefined;
  readonly temperature?: number | undefined;
  /** The reasoning effort by its name; empty: not set. */
  readonly effort?: string | undefined;
  /** Declares a sample tool. */
  readonly withTool: boolean;
  /** Asks for the model's thinking. */
  readonly thinking: boolean;
}

/** An image sent with the text. */
export interface Picture {
  readonly name: string;
  /** `image/png`. */
  readonly mediaType: string;
  readonly base64: string;
  /** In bytes. */
  readonly size: number;
}
