import type { ModelRequest } from '../../engine/model/request.ts';
import { decodeCountRequest } from './decode-request/decode-request.ts';

/** Tokens of the vendor's instructions for tools. Recorded: 518, or 584 with a forced call. */
const toolInstructions = 550;
/** Tokens of the vendor's instructions for thinking. Recorded: 29. */
const thinkingInstructions = 29;

/**
 * Estimates the prompt tokens that no client sees: the vendor counts its own instructions for tools and thinking.
 * Source: the count-tokens recordings; Anthropic documentation, "Tool use", "Pricing".
 */
export const hiddenTokens = ({ tools, reasoning }: ModelRequest): number => {
  const mode = reasoning?.mode;
  const thinks = mode !== undefined && mode !== 'off';
  return (tools.length > 0 ? toolInstructions : 0) + (thinks ? thinkingInstructions : 0);
};

/** Token counting in this protocol. Source: Anthropic API reference, "Count tokens in a Message". */
export const messagesCounting = {
  decodeCount: decodeCountRequest,
  upstream: {
    suffix: '/count_tokens',
    fields: new Set([
      'model',
      'messages',
      'system',
      'tools',
      'tool_choice',
      'thinking',
      'output_config',
      'output_format',
      'cache_control',
      'context_management',
      'mcp_servers',
    ]),
  },
  hidden: { messages: hiddenTokens },
};
