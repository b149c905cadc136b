import type { JsonObject } from '../../api/json.ts';
import type { Protocol } from '../../api/protocols.ts';
import { composeConversation } from '../../stream/compose-conversation.ts';
import type { ToolDefinition } from '../../stream/conversation.ts';
import { type Picture, type Prompt, turnsOf } from './prompt.ts';

/** The thinking budget in tokens; the least that the Messages protocol accepts. */
const thinkingTokens = 1_024;

/** The default limit in tokens: the Messages protocol requires one. */
const plainMaxTokens = 1_024;

const tool: ToolDefinition = {
  name: 'get_weather',
  about: 'Returns the weather in a city.',
  schema: {
    type: 'object',
    properties: { city: { type: 'string', description: 'City name' } },
    required: ['city'],
  },
};

/** The request body in a client's protocol. */
export const composeBody = (protocol: Protocol, prompt: Prompt, picture: Picture | undefined): JsonObject => {
  const { model, system, stream, temperature, withTool } = prompt;
  const turns = turnsOf(prompt, picture);
  const hasCall = turns.some(({ parts }) => parts.some(({ type }) => type === 'tool'));
  return composeConversation(protocol, {
    settings: {
      model,
      ...(stream && { stream }),
      ...(temperature !== undefined && { temperature }),
      ...reasoningIn[protocol](prompt),
    },
    maxTokens: protocol === 'messages' ? messagesMaxTokens(prompt) : prompt.maxTokens,
    system,
    turns,
    // Providers reject a call of a tool that isn't declared.
    tools: withTool || hasCall ? [tool] : [],
  });
};

/** The limit covers thinking and answer. */
const messagesMaxTokens = ({ maxTokens = plainMaxTokens, thinking }: Prompt): number =>
  thinking ? maxTokens + thinkingTokens : maxTokens;

/** These protocols ask for thinking by an effort. */
const effortOf = ({ effort, thinking }: Prompt): string | undefined => effort || (thinking ? 'medium' : undefined);

const reasoningIn: Readonly<Record<Protocol, (prompt: Prompt) => JsonObject>> = {
  messages: ({ effort, thinking }) => ({
    ...(effort && { output_config: { effort } }),
    ...(thinking && { thinking: { type: 'enabled', budget_tokens: thinkingTokens } }),
  }),
  chat(prompt) {
    const effort = effortOf(prompt);
    return effort ? { reasoning_effort: effort } : {};
  },
  responses(prompt) {
    const effort = effortOf(prompt);
    return effort ? { reasoning: { effort, ...(prompt.thinking && { summary: 'auto' }) } } : {};
  },
};
