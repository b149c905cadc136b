import type { Wire } from '../wire.ts';
import { systemText, type Turn, tools } from './turns.ts';

/** What stands before the turns. */
interface HeadOptions {
  readonly streamed: boolean;
  readonly withTools: boolean;
  readonly model: string;
  readonly maxTokens: number;
}

/** How a client of one format writes a conversation. */
interface BodyWriter {
  /** All before the turns. */
  readonly head: (options: HeadOptions) => string;
  /** A turn as elements of the array that `head` leaves open, joined by commas. */
  readonly turn: (turn: Turn) => string;
  readonly tail: string;
}

const joined = (...elements: readonly object[]): string => elements.map((element) => JSON.stringify(element)).join(',');

/** The object's text without its last brace, and an array opened under `name`. */
const opened = (fields: object, name: string): string => `${JSON.stringify(fields).slice(0, -1)},"${name}":[`;

/** The writer of each format. */
export const bodyWriters: Readonly<Record<Wire, BodyWriter>> = {
  messages: {
    head: ({ streamed, withTools, model, maxTokens }) =>
      opened(
        {
          model,
          max_tokens: maxTokens,
          stream: streamed,
          system: [{ type: 'text', text: systemText }],
          ...(withTools && {
            tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
          }),
        },
        'messages',
      ),
    turn(turn) {
      if (turn.type === 'user') return joined({ role: 'user', content: [{ type: 'text', text: turn.text }] });
      if (turn.type === 'assistant') return joined({ role: 'assistant', content: [{ type: 'text', text: turn.text }] });
      const { id, path, result } = turn;
      return joined(
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'read_file', input: { path } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
      );
    },
    tail: ']}',
  },
  chat: {
    head: ({ streamed, withTools, model, maxTokens }) => {
      const turns = opened(
        {
          model,
          max_completion_tokens: maxTokens,
          stream: streamed,
          ...(streamed && { stream_options: { include_usage: true } }),
          ...(withTools && {
            tools: tools.map(({ name, description, schema }) => ({
              type: 'function',
              function: { name, description, parameters: schema },
            })),
          }),
        },
        'messages',
      );
      return `${turns}${joined({ role: 'system', content: systemText })},`;
    },
    turn(turn) {
      if (turn.type !== 'call') return joined({ role: turn.type, content: turn.text });
      const call = { name: 'read_file', arguments: JSON.stringify({ path: turn.path }) };
      return joined(
        { role: 'assistant', content: null, tool_calls: [{ id: turn.id, type: 'function', function: call }] },
        { role: 'tool', tool_call_id: turn.id, content: turn.result },
      );
    },
    tail: ']}',
  },
  responses: {
    head: ({ streamed, withTools, model, maxTokens }) =>
      opened(
        {
          model,
          max_output_tokens: maxTokens,
          stream: streamed,
          store: false,
          instructions: systemText,
          ...(withTools && {
            tools: tools.map(({ name, description, schema }) => ({
              type: 'function',
              name,
              description,
              parameters: schema,
              strict: false,
            })),
          }),
        },
        'input',
      ),
    turn(turn) {
      if (turn.type === 'call') {
        return joined(
          {
            type: 'function_call',
            call_id: turn.id,
            name: 'read_file',
            arguments: JSON.stringify({ path: turn.path }),
          },
          { type: 'function_call_output', call_id: turn.id, output: turn.result },
        );
      }
      const part = { type: turn.type === 'user' ? 'input_text' : 'output_text', text: turn.text };
      return joined({ type: 'message', role: turn.type, content: [part] });
    },
    tail: ']}',
  },
  gemini: {
    head: ({ withTools, maxTokens }) =>
      opened(
        {
          systemInstruction: { parts: [{ text: systemText }] },
          generationConfig: { maxOutputTokens: maxTokens },
          ...(withTools && {
            tools: [
              {
                functionDeclarations: tools.map(({ name, description, schema }) => ({
                  name,
                  description,
                  parametersJsonSchema: schema,
                })),
              },
            ],
          }),
        },
        'contents',
      ),
    turn(turn) {
      if (turn.type === 'user') return joined({ role: 'user', parts: [{ text: turn.text }] });
      if (turn.type === 'assistant') return joined({ role: 'model', parts: [{ text: turn.text }] });
      return joined(
        { role: 'model', parts: [{ functionCall: { name: 'read_file', args: { path: turn.path } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'read_file', response: { output: turn.result } } }] },
      );
    },
    tail: ']}',
  },
};
