import type { TextContent } from './shapes.ts';

const stopReasons: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
};

/** Why a chat completion ended, in the words of Messages. */
export const stopReasonOf = (finish: string | undefined): string => stopReasons[finish ?? ''] ?? 'end_turn';

/** The text of content that is a string or blocks of text. */
export const textOf = (content: TextContent): string =>
  typeof content === 'string' ? content : content.map((block) => block.text ?? '').join('');

/** A tool of the chat format. */
export const chatTool = (name: string, description: string | undefined, parameters: object | undefined): object => ({
  type: 'function',
  function: { name, description, parameters },
});

/** A call in a turn of the chat format. */
export const chatCall = (id: string, name: string, input: string): object => ({
  id,
  type: 'function',
  function: { name, arguments: input },
});
