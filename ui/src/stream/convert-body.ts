import type { JsonObject } from '../api/json.ts';
import type { Protocol } from '../api/protocols.ts';
import { composeConversation, textOf } from './compose-conversation.ts';
import { readConversation } from './read-conversation.ts';

/**
 * A request's body in another protocol: with its texts, pictures, tools, calls and their results, and the settings that all
 * three protocols have. Thinking, files and anything else are left out.
 */
export const convertBody = (body: JsonObject, from: Protocol, to: Protocol): JsonObject => {
  const { turns, tools, parameters } = readConversation(from, body);
  const { model, stream, temperature, top_p, max_tokens, max_completion_tokens, max_output_tokens } = parameters;
  const shared = { model, stream, temperature, top_p };
  const settings = Object.fromEntries(Object.entries(shared).filter(([, value]) => value !== undefined));
  const system = turns
    .filter(({ role }) => role === 'system')
    .map((turn) => textOf(turn.parts))
    .join('\n\n');
  return composeConversation(to, {
    settings,
    maxTokens: max_tokens ?? max_completion_tokens ?? max_output_tokens,
    system,
    turns: turns.filter(({ role }) => role !== 'system'),
    tools: tools.filter(({ schema }) => schema !== undefined),
  });
};
