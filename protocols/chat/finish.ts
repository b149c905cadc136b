import type { FinishReason } from '../../engine/model/event.ts';

/** A reply's contents, which say more than the upstream's finish reason. */
interface Held {
  readonly calls: boolean;
  readonly refusal: boolean;
}

/**
 * `finish_reason` → finish. Calls mean `tool-call` whatever the value, since some servers send `stop`; a call cut off
 * at the limit stays `length`. Source: OpenAI API reference, "The chat completion object".
 */
export const decodeFinish = (word: string, held: Held): FinishReason => {
  if (word === 'length') return 'length';
  if (held.calls) return 'tool-call';
  return word === 'content_filter' || held.refusal ? 'filtered' : 'end';
};

/**
 * Finish → `finish_reason`. A refusal with text is a normal end in this format. `legacy`: the client reads calls in
 * the older format.
 */
export const encodeFinish = (finish: FinishReason, refused: boolean, legacy: boolean): string => {
  switch (finish) {
    case 'length':
    case 'context-full':
      return 'length';
    case 'tool-call':
      return legacy ? 'function_call' : 'tool_calls';
    case 'filtered':
      return refused ? 'stop' : 'content_filter';
    case 'end':
    case 'stop-sequence':
    case 'pause':
    case 'compaction':
      return 'stop';
    default:
      return finish satisfies never;
  }
};

/** Whether this format has no value for the finish, so that clients see a normal end. */
export const finishIsLost = (finish: FinishReason): boolean => finish === 'pause' || finish === 'compaction';
