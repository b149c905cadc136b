import type { FinishReason, Usage } from '../../engine/model/event.ts';

/** A reply's contents, which say more than the status. */
interface Held {
  readonly calls: boolean;
  readonly refusal: boolean;
}

/**
 * Status → finish. `reason` is that of `incomplete_details`; only `content_filter` differs from the token limit.
 * Source: OpenAI API reference, "The response object".
 */
export const decodeFinish = (incomplete: boolean, reason: string | null | undefined, held: Held): FinishReason => {
  if (incomplete && reason !== 'content_filter') return 'length';
  if (held.calls) return 'tool-call';
  return incomplete || held.refusal ? 'filtered' : 'end';
};

/** A response's status, and the members that depend on it. */
export interface Outcome {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly reason?: 'max_output_tokens' | 'content_filter' | undefined;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  readonly usage?: Usage | undefined;
}

/** Finish → outcome. A refusal with text is a complete reply; without text, a filter cut it off. */
export const encodeFinish = (finish: FinishReason, refused: boolean, usage: Usage): Outcome => {
  switch (finish) {
    case 'length':
    case 'context-full':
      return { status: 'incomplete', reason: 'max_output_tokens', usage };
    case 'filtered':
      return refused ? { status: 'completed', usage } : { status: 'incomplete', reason: 'content_filter', usage };
    case 'end':
    case 'stop-sequence':
    case 'tool-call':
    case 'pause':
    case 'compaction':
      return { status: 'completed', usage };
    default:
      return finish satisfies never;
  }
};
