import type { FinishReason } from '../../engine/model/event.ts';

/** What a reply turned out to hold, which says more than the upstream's own word. */
export interface Held {
  readonly calls: boolean;
  readonly refusal: boolean;
}

/**
 * `finish_reason` → finish. Calls make it `tool-call` whatever the word, since servers also say `stop` there; a call cut off
 * at the limit stays `length`. Source: OpenAI API reference, "The chat completion object".
 */
export const decodeFinish = (word: string, held: Held): FinishReason => {
  if (word === 'length') return 'length';
  if (held.calls) return 'tool-call';
  return word === 'content_filter' || held.refusal ? 'filtered' : 'end';
};

/** Finish → `finish_reason`. A refusal in words is a regular end on this wire. */
export const encodeFinish = (finish: FinishReason, refused: boolean): string => {
  switch (finish) {
    case 'length':
    case 'context-full':
      return 'length';
    case 'tool-call':
      return 'tool_calls';
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

/** Whether the wire has no word for this finish, so that the client takes it for a regular end. */
export const finishIsLost = (finish: FinishReason): boolean => finish === 'pause' || finish === 'compaction';
