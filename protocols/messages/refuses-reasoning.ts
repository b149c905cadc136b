import type { Fault } from '../../engine/model/fault.ts';

/**
 * Whether the vendor refuses the thinking in the history: it was issued in another conversation, or by another vendor. Source:
 * Anthropic documentation, "Preserved thinking"; recorded errors.
 */
export const refusesReasoning = ({ kind, message }: Fault): boolean =>
  kind === 'upstream-invalid' && refusals.some((words) => message.includes(words));

const refusals: readonly string[] = [
  'bound to a different conversation',
  'not created in this conversation',
  'Invalid `signature` in `thinking` block',
];
