import type { ReplyContext } from '../../engine/model/context.ts';
import type { FinishReason, MessageStop, Usage } from '../../engine/model/event.ts';
import { isJsonObject, type JsonObject } from '../../engine/model/json/json.ts';
import { encodeUsage, withOtherUsage } from './usage.ts';

/** Finish → stop reason. Source: Anthropic API reference, "Handling stop reasons". */
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

/** Finish → `stop_reason`. A reply that holds a refusal ends with `refusal`, unless it calls a tool. */
const encodeFinish = (finish: FinishReason, refused: boolean): string =>
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
 * `stop_reason` → finish; an unknown value is a normal end. A reply with tool calls waits for results, unless it was
 * cut off or filtered.
 */
export const decodeFinish = (word: string, calledTools: boolean): FinishReason => {
  const finish = finishes.get(word) ?? 'end';
  const complete = finish !== 'length' && finish !== 'context-full' && finish !== 'filtered';
  return calledTools && complete ? 'tool-call' : finish;
};

/** The end of a reply by its place in a stream; a whole reply holds all of it at the top level. */
interface WireEnd {
  /** Inside `delta` of the last `message_delta`. */
  readonly delta: JsonObject;
  /** Beside `delta`. */
  readonly beside: JsonObject;
  readonly usage: JsonObject;
}

/** Encodes the end of a reply. `usage` covers the whole reply. */
export const encodeEnd = (
  { finish, stopSequence, extra }: Pick<MessageStop, 'finish' | 'stopSequence' | 'extra'>,
  usage: Usage,
  refused: boolean,
  { inputEstimate, losses }: ReplyContext,
): WireEnd => {
  const delta = {
    stop_reason: encodeFinish(finish, refused),
    stop_sequence: finish === 'stop-sequence' ? (stopSequence ?? null) : null,
  };
  const counts = encodeUsage(usage, inputEstimate);
  if (extra?.wire !== 'messages') {
    for (const name in extra?.fields) losses.drop(name);
    return { delta, beside: {}, usage: counts };
  }
  const { usage: otherUsage, context_management, ...members } = extra.fields;
  return {
    delta: { ...delta, ...members },
    beside: context_management === undefined ? {} : { context_management },
    usage: isJsonObject(otherUsage) ? withOtherUsage(counts, otherUsage) : counts,
  };
};
