/** A prompt, independent of the protocol. */
export interface Prompt {
  readonly model: string;
  readonly system: string;
  readonly text: string;
  readonly stream: boolean;
  /** Max output tokens. */
  readonly maxTokens: number | undefined;
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
