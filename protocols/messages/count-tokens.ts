import { decodeCountRequest } from './decode-request.ts';
import { hiddenTokens } from './hidden-tokens.ts';

/** How tokens are counted in this protocol. Source: Anthropic API reference, "Count tokens in a Message". */
export const messagesCounting = {
  decodeCount: decodeCountRequest,
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
  hidden: { messages: hiddenTokens },
};
