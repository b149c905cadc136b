import type { ModelRequest } from '../../engine/model/request.ts';

/** Instructions that the vendor puts before tool definitions. Recorded: 518 and, with a choice that forces a call, 584 more. */
const toolInstructions = 550;
/** Instructions for thinking. Recorded: 29 more than without. */
const thinkingInstructions = 29;

/**
 * Tokens of a prompt that no client sees: the vendor writes instructions of its own beside tools and thinking and counts them.
 * Source: the count-tokens recordings; Anthropic documentation, "Tool use", "Pricing".
 */
export const hiddenTokens = ({ tools, reasoning }: ModelRequest): number => {
  const mode = reasoning?.mode;
  const thinks = mode !== undefined && mode !== 'off';
  return (tools.length > 0 ? toolInstructions : 0) + (thinks ? thinkingInstructions : 0);
};
