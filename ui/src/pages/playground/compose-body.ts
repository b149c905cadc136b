import type { JsonObject } from '../../api/json.ts';
import type { Protocol } from '../../api/protocols.ts';
import type { Picture, Prompt } from './prompt.ts';

/** The thinking budget in tokens; the least that the Messages protocol accepts. */
const thinkingTokens = 1_024;

/** The default limit in tokens: the Messages protocol requires one. */
const plainMaxTokens = 1_024;

const tool = {
  name: 'get_weather',
  description: 'Returns the weather in a city.',
  parameters: {
    type: 'object',
    properties: { city: { type: 'string', description: 'City name' } },
    required: ['city'],
  },
};

/** The request body in a client's protocol. */
export const composeBody = (protocol: Protocol, prompt: Prompt, picture: Picture | undefined): JsonObject =>
  composers[protocol](prompt, picture);

type Compose = (prompt: Prompt, picture: Picture | undefined) => JsonObject;

const composeMessages: Compose = (prompt, picture) => {
  const {
    model,
    system,
    turns,
    text,
    stream,
    maxTokens = plainMaxTokens,
    temperature,
    effort,
    withTool,
    thinking,
  } = prompt;
  const source = picture && { type: 'base64', media_type: picture.mediaType, data: picture.base64 };
  return {
    model,
    // The limit covers thinking and answer.
    max_tokens: thinking ? maxTokens + thinkingTokens : maxTokens,
    ...(temperature !== undefined && { temperature }),
    ...(effort && { output_config: { effort } }),
    ...(stream && { stream }),
    ...(system !== '' && { system }),
    ...(thinking && { thinking: { type: 'enabled', budget_tokens: thinkingTokens } }),
    ...(withTool && {
      tools: [{ name: tool.name, description: tool.description, input_schema: tool.parameters }],
    }),
    messages: [
      ...messagesOf(turns),
      {
        role: 'user',
        content: source
          ? [
              { type: 'image', source },
              { type: 'text', text },
            ]
          : text,
      },
    ],
  };
};

const composeChat: Compose = (prompt, picture) => {
  const { model, system, turns, text, stream, maxTokens, temperature, withTool } = prompt;
  const effort = effortOf(prompt);
  const image = picture && { type: 'image_url', image_url: { url: dataUrl(picture) } };
  return {
    model,
    ...(maxTokens !== undefined && { max_completion_tokens: maxTokens }),
    // Without it, a stream has no token counts.
    ...(stream && { stream, stream_options: { include_usage: true } }),
    ...(temperature !== undefined && { temperature }),
    ...(effort && { reasoning_effort: effort }),
    ...(withTool && { tools: [{ type: 'function', function: tool }] }),
    messages: [
      ...(system === '' ? [] : [{ role: 'system', content: system }]),
      ...messagesOf(turns),
      { role: 'user', content: image ? [{ type: 'text', text }, image] : text },
    ],
  };
};

const composeResponses: Compose = (prompt, picture) => {
  const { model, system, turns = [], text, stream, maxTokens, temperature, withTool, thinking } = prompt;
  const effort = effortOf(prompt);
  const image = picture && { type: 'input_image', image_url: dataUrl(picture) };
  return {
    model,
    ...(maxTokens !== undefined && { max_output_tokens: maxTokens }),
    ...(stream && { stream }),
    ...(system !== '' && { instructions: system }),
    ...(temperature !== undefined && { temperature }),
    ...(effort && { reasoning: { effort, ...(thinking && { summary: 'auto' }) } }),
    ...(withTool && { tools: [{ type: 'function', ...tool }] }),
    input:
      image || turns.length > 0
        ? [...messagesOf(turns), { role: 'user', content: image ? [{ type: 'input_text', text }, image] : text }]
        : text,
    // The gateway doesn't store responses.
    store: false,
  };
};

const messagesOf = (turns: Prompt['turns'] = []): readonly JsonObject[] =>
  turns.map(({ role, text }) => ({ role, content: text }));

/** These protocols ask for thinking by an effort. */
const effortOf = ({ effort, thinking }: Prompt): string | undefined => effort || (thinking ? 'medium' : undefined);

const composers: Readonly<Record<Protocol, Compose>> = {
  messages: composeMessages,
  chat: composeChat,
  responses: composeResponses,
};

const dataUrl = ({ mediaType, base64 }: Picture): string => `data:${mediaType};base64,${base64}`;
