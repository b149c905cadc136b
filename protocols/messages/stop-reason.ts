import type { FinishReason } from '../../engine/model/event.ts';

/** Stop reasons both ways. Source: Anthropic API reference, "Handling stop reasons". */
const reasons = {
  end: 'end_turn',
  'stop-sequence': 'stop_sequence',
  length: 'max_tokens',
  'context-full': 'model_context_window_exceeded',
  'tool-call': 'tool_use',
  filtered: 'refusal',
  pause: 'pause_turn',
  compaction: 'compaction',
} as const satisfies Record<FinishReason, string>;

/** The wire's word for why an answer ended. An answer in which the model declined is a refusal, unless it calls a tool. */
export const encodeStopReason = (finish: FinishReason, refused: boolean): string =>
  refused && finish === 'end' ? reasons.filtered : reasons[finish];

const finishes = new Map<string, FinishReason>([
  ['end_turn', 'end'],
  ['stop_sequence', 'stop-sequence'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context-full'],
  ['tool_use', 'tool-call'],
  ['refusal', 'filtered'],
  ['pause_turn', 'pause'],
  ['compaction', 'compaction'],
]);

/**
 * The model's word; one that is newer than this is a regular end. An answer with tool calls waits for their results, unless
 * it was cut off or refused.
 */
export const decodeStopReason = (word: string, calledTools: boolean): FinishReason => {
  const finish = finishes.get(word) ?? 'end';
  const complete = finish !== 'length' && finish !== 'context-full' && finish !== 'filtered';
  return calledTools && complete ? 'tool-call' : finish;
};
