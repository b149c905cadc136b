import type { JsonObject } from '../../model/json/json.ts';
import type { DemoAnswer, DemoUsage } from './answer.ts';

/** Members that every record of an answer repeats. */
interface DemoFrame {
  /** The completion's id: `chatcmpl-…`. */
  readonly id: string;
  /** Unix time in seconds. */
  readonly created: number;
  readonly model: string;
}

/** Encodes an answer as a single body. Source: OpenAI API reference, "The chat completion object". */
export const encodeCompletion = (answer: DemoAnswer, frame: DemoFrame): JsonObject => ({
  ...frame,
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      message: {
        role: 'assistant',
        content: answer.calls.length > 0 ? null : answer.text,
        refusal: null,
        ...(answer.reasoning !== '' && { reasoning_content: answer.reasoning }),
        ...(answer.calls.length > 0 && {
          tool_calls: answer.calls.map((call, index) => ({
            id: callId(frame, index),
            type: 'function',
            function: { name: call.name, arguments: call.arguments },
          })),
        }),
      },
      finish_reason: answer.finish,
    },
  ],
  usage: encodeUsage(answer.usage),
});

/**
 * Encodes an answer as stream chunks: the role, one chunk per word, the finish reason, and usage if requested. `[DONE]` is not
 * included. Source: OpenAI API reference, "The chat completion chunk object".
 */
export const encodeChunks = (answer: DemoAnswer, frame: DemoFrame, includeUsage: boolean): readonly JsonObject[] => {
  const chunk = (choices: JsonObject[], usage: JsonObject | null = null): JsonObject => ({
    ...frame,
    object: 'chat.completion.chunk',
    choices,
    ...(includeUsage && { usage }),
  });
  const delta = (fields: JsonObject, finish: string | null = null): JsonObject =>
    chunk([{ index: 0, delta: fields, finish_reason: finish }]);
  const toolCalls = answer.calls.flatMap((call, index) => [
    { index, id: callId(frame, index), type: 'function', function: { name: call.name, arguments: '' } },
    ...pieces(call.arguments).map((piece) => ({ index, function: { arguments: piece } })),
  ]);
  return [
    delta({ role: 'assistant', content: answer.calls.length > 0 ? null : '' }),
    ...pieces(answer.reasoning).map((piece) => delta({ reasoning_content: piece })),
    ...pieces(answer.text).map((piece) => delta({ content: piece })),
    ...toolCalls.map((call) => delta({ tool_calls: [call] })),
    delta({}, answer.finish),
    ...(includeUsage ? [chunk([], encodeUsage(answer.usage))] : []),
  ];
};

const callId = ({ id }: DemoFrame, index: number): string => `call_${id.replace(/^chatcmpl-/, '')}_${index}`;

/** Splits a text into words, each with its leading white space; joined, they equal the text. */
const pieces = (text: string): readonly string[] => text.match(/\s*\S+|\s+$/g) ?? [];

const encodeUsage = ({ prompt, completion, reasoning }: DemoUsage): JsonObject => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: reasoning },
});
