import { type Json, type JsonObject, parseObject } from '../api/json.ts';
import type { Protocol } from '../api/protocols.ts';
import type { ToolDefinition, Turn, TurnPart } from './conversation.ts';

/** A conversation, independent of the protocol. */
interface Source {
  /** Fields of the body, as the protocol spells them. */
  readonly settings: JsonObject;
  readonly maxTokens: Json | undefined;
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolDefinition[];
}

/** Messages has no default for it. */
const plainMaxTokens = 4_096;

const toMessages = ({ settings, maxTokens = plainMaxTokens, system, turns, tools }: Source): JsonObject => ({
  ...settings,
  max_tokens: maxTokens,
  ...(system !== '' && { system }),
  ...(tools.length > 0 && {
    tools: tools.map(({ name, about, schema = {} }) => ({ name, description: about, input_schema: schema })),
  }),
  messages: turns.flatMap(({ role, parts }) => {
    const results = parts.flatMap((part) =>
      part.type === 'tool' && part.result
        ? [{ type: 'tool_result', tool_use_id: part.id, content: textOf(part.result.parts) || '-' }]
        : [],
    );
    const content = contentOf(parts, (part) =>
      part.type === 'tool'
        ? [{ type: 'tool_use', id: part.id, name: part.name, input: parseObject(part.input) ?? {} }]
        : pictureOrText(part, (text) => ({ type: 'text', text }), messagesPicture),
    );
    return [
      ...(content.length > 0 ? [{ role, content }] : []),
      ...(results.length > 0 ? [{ role: 'user', content: results }] : []),
    ];
  }),
});

const messagesPicture = (url: string): JsonObject => {
  const [, media = '', data = ''] = /^data:([^;,]{1,100});base64,(.*)$/s.exec(url) ?? [];
  const source = media === '' ? { type: 'url', url } : { type: 'base64', media_type: media, data };
  return { type: 'image', source };
};

const toChat = ({ settings, maxTokens, system, turns, tools }: Source): JsonObject => ({
  ...settings,
  ...(maxTokens !== undefined && { max_completion_tokens: maxTokens }),
  // Without it, a stream has no token counts.
  ...(settings.stream === true && { stream_options: { include_usage: true } }),
  ...(tools.length > 0 && {
    tools: tools.map(({ name, about, schema = {} }) => ({
      type: 'function',
      function: { name, description: about, parameters: schema },
    })),
  }),
  messages: [
    ...(system === '' ? [] : [{ role: 'system', content: system }]),
    ...turns.flatMap(({ role, parts }): readonly JsonObject[] => {
      if (role !== 'assistant') {
        const content = contentOf(parts, (part) =>
          pictureOrText(
            part,
            (text) => ({ type: 'text', text }),
            (url) => ({ type: 'image_url', image_url: { url } }),
          ),
        );
        return content.length > 0 ? [{ role, content }] : [];
      }
      const calls = parts.filter((part) => part.type === 'tool');
      const message = {
        role,
        content: textOf(parts) || null,
        ...(calls.length > 0 && {
          tool_calls: calls.map(({ id, name, input }) => ({
            id,
            type: 'function',
            function: { name, arguments: input || '{}' },
          })),
        }),
      };
      const results = calls.flatMap(({ id, result }) =>
        result ? [{ role: 'tool', tool_call_id: id, content: textOf(result.parts) }] : [],
      );
      return message.content === null && calls.length === 0 ? [] : [message, ...results];
    }),
  ],
});

const toResponses = ({ settings, maxTokens, system, turns, tools }: Source): JsonObject => ({
  ...settings,
  ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
  ...(system !== '' && { instructions: system }),
  ...(tools.length > 0 && {
    tools: tools.map(({ name, about, schema = {} }) => ({
      type: 'function',
      name,
      description: about,
      parameters: schema,
    })),
  }),
  input: turns.flatMap(({ role, parts }) =>
    callsApart(parts).flatMap((said): readonly JsonObject[] => {
      const [part] = said;
      if (part?.type === 'tool') {
        const { id, name, input, result } = part;
        const call = { type: 'function_call', call_id: id, name, arguments: input || '{}' };
        const output = { type: 'function_call_output', call_id: id, output: textOf(result?.parts ?? []) };
        return result ? [call, output] : [call];
      }
      const kind = role === 'assistant' ? 'output_text' : 'input_text';
      const content = contentOf(said, (one) =>
        pictureOrText(
          one,
          (text) => ({ type: kind, text }),
          (url) => ({ type: 'input_image', image_url: url }),
        ),
      );
      return content.length > 0 ? [{ role, content }] : [];
    }),
  ),
  // The gateway doesn't store responses.
  store: false,
});

const composers: Readonly<Record<Protocol, (source: Source) => JsonObject>> = {
  messages: toMessages,
  chat: toChat,
  responses: toResponses,
};

/** The body of a request. Thinking, files and parts of other kinds are left out. */
export const composeConversation = (protocol: Protocol, source: Source): JsonObject => composers[protocol](source);

/** A list of parts; a text alone stays a text. */
const contentOf = (
  parts: readonly TurnPart[],
  read: (part: TurnPart) => readonly JsonObject[],
): string | readonly JsonObject[] => {
  const [first, ...rest] = parts;
  return first?.type === 'text' && rest.length === 0 ? first.text : parts.flatMap(read);
};

/** Each call by itself, since Responses has it beside the messages. */
const callsApart = (parts: readonly TurnPart[]): readonly (readonly TurnPart[])[] => {
  const runs: TurnPart[][] = [];
  for (const part of parts) {
    const last = runs.at(-1);
    if (part.type === 'tool' || !last || last[0]?.type === 'tool') runs.push([part]);
    else last.push(part);
  }
  return runs;
};

/** A result whose call isn't there is told as text. */
const pictureOrText = (
  part: TurnPart,
  ofText: (text: string) => JsonObject,
  ofPicture: (url: string) => JsonObject,
): readonly JsonObject[] => {
  if (part.type === 'picture') return [ofPicture(part.url)];
  const text = part.type === 'text' ? part.text : part.type === 'result' ? textOf(part.result.parts) : '';
  return text === '' ? [] : [ofText(text)];
};

/** The texts among parts, as lines. */
export const textOf = (parts: readonly TurnPart[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
