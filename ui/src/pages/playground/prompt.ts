import type { Turn, TurnPart } from '../../stream/conversation.ts';

/** A prompt, independent of the protocol. */
export interface Prompt {
  readonly model: string;
  readonly system: string;
  /** What was said before; `text` goes on from there. The last one's calls may wait for their results. */
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

/** All that is said, the prompt's own message last. A call without a result is left out: providers reject it. */
export const turnsOf = (
  { turns = [], text }: Pick<Prompt, 'turns' | 'text'>,
  picture: Picture | undefined,
): readonly Turn[] => {
  const image: readonly TurnPart[] = picture
    ? [{ type: 'picture', url: `data:${picture.mediaType};base64,${picture.base64}` }]
    : [];
  const own: Turn = { role: 'user', parts: text === '' ? image : [...image, { type: 'text', text }] };
  return [...turns, own]
    .map(({ role, parts }) => ({ role, parts: parts.filter((part) => part.type !== 'tool' || part.result) }))
    .filter(({ parts }) => parts.length > 0);
};

type ToolPart = Extract<TurnPart, { readonly type: 'tool' }>;

/** A call with the result that was typed; an empty text is none. */
export const withResult = (call: ToolPart, text: string): ToolPart => ({
  ...call,
  result: text === '' ? undefined : { failed: false, parts: [{ type: 'text', text }] },
});
