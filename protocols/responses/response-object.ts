import type { FinishReason } from '../../engine/model/event.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { ReplyContext } from '../../engine/model/protocol.ts';
import type { Usage } from '../../engine/model/usage.ts';
import { writeUsage } from './usage.ts';

/** How an answer stands. */
export interface Outcome {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed';
  readonly reason?: 'max_output_tokens' | 'content_filter' | undefined;
  readonly error?: { readonly code: string; readonly message: string } | undefined;
  readonly usage?: Usage | undefined;
}

/** What the members of a response object need to know of the answer. */
export interface Answer {
  readonly id: string;
  readonly model: string;
}

/**
 * The members of a response object that change while it grows, but for `output`.
 * Source: OpenAI API reference, "The response object".
 */
export const responseHead = (context: ReplyContext, answer: Answer, outcome: Outcome): JsonObject => ({
  id: responseId(context, answer.id),
  object: 'response',
  created_at: Math.floor(context.startedAtMs / 1000),
  status: outcome.status,
  error: outcome.error ?? null,
  incomplete_details: outcome.reason ? { reason: outcome.reason } : null,
  model: answer.model || context.model,
  service_tier: outcome.usage?.serviceTier ?? context.request.serviceTier ?? 'default',
  usage: outcome.usage ? writeUsage(outcome.usage, context.inputEstimate) : null,
});

/** An upstream of the same protocol may keep the answer under its own id; a client that goes on from there needs that one. */
const responseId = (context: ReplyContext, id: string): string => (id.startsWith('resp_') ? id : `resp_${context.id}`);

/** The members that repeat what was asked; what the client left out stands as the protocol's default. */
export const responseEcho = ({ asked, request }: ReplyContext): JsonObject => ({
  background: false,
  instructions: asked.instructions ?? null,
  max_output_tokens: request.maxTokens ?? null,
  max_tool_calls: asked.max_tool_calls ?? null,
  metadata: asked.metadata ?? {},
  parallel_tool_calls: asked.parallel_tool_calls ?? true,
  previous_response_id: asked.previous_response_id ?? null,
  prompt_cache_key: asked.prompt_cache_key ?? null,
  reasoning: asked.reasoning ?? { effort: null, summary: null },
  safety_identifier: asked.safety_identifier ?? null,
  store: false,
  temperature: asked.temperature ?? 1,
  text: asked.text ?? { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: asked.tool_choice ?? 'auto',
  tools: asked.tools ?? [],
  top_logprobs: asked.top_logprobs ?? 0,
  top_p: asked.top_p ?? 1,
  truncation: asked.truncation ?? 'disabled',
  user: asked.user ?? null,
});

/**
 * How a regular end is told here. A refusal that has been said in words is a complete answer; one without words was cut by a
 * filter.
 */
export const outcomeOf = (finish: FinishReason, refused: boolean, usage: Usage): Outcome => {
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
