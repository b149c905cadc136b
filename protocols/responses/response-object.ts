import type { ReplyContext } from '../../engine/model/context.ts';
import type { Json, JsonObject } from '../../engine/model/json/json.ts';
import { replyTier } from '../../engine/model/wire/service-tier.ts';
import type { Outcome } from './finish.ts';
import { encodeUsage } from './usage.ts';

/** The reply's members in a response object. */
interface Answer {
  readonly id: string;
  readonly model: string;
}

/**
 * The members of a response object that change during a stream, except `output`. Source: OpenAI API reference, "The
 * response object".
 */
export const responseHead = (context: ReplyContext, answer: Answer, outcome: Outcome): JsonObject => ({
  id: responseId(context, answer.id),
  object: 'response',
  created_at: Math.floor(context.startedAtMs / 1000),
  completed_at: outcome.status === 'completed' ? Math.floor(context.nowMs() / 1000) : null,
  status: outcome.status,
  error: outcome.error ?? null,
  incomplete_details: outcome.reason ? { reason: outcome.reason } : null,
  model: answer.model || context.model,
  service_tier: replyTier('responses', outcome.usage?.serviceTier ?? context.request.serviceTier) ?? 'default',
  usage: outcome.usage ? encodeUsage(outcome.usage, context.inputEstimate) : null,
});

/** An upstream of the same protocol may store the reply under its own id, which clients need to continue it. */
const responseId = (context: ReplyContext, id: string): string => (id.startsWith('resp_') ? id : `resp_${context.id}`);

/** The members that repeat the request, with the protocol's defaults. */
export const responseEcho = ({ asked, request }: ReplyContext): JsonObject => ({
  background: false,
  frequency_penalty: numberOr(asked.frequency_penalty, 0),
  instructions: asked.instructions ?? null,
  max_output_tokens: request.maxTokens ?? null,
  max_tool_calls: asked.max_tool_calls ?? null,
  metadata: asked.metadata ?? {},
  parallel_tool_calls: asked.parallel_tool_calls ?? true,
  presence_penalty: numberOr(asked.presence_penalty, 0),
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

const numberOr = (value: Json | undefined, missing: number): number => (typeof value === 'number' ? value : missing);
