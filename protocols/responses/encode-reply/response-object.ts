import type { ReplyContext } from '../../../engine/model/context.ts';
import { replyTier } from '../../../engine/model/event.ts';
import type { Json, JsonObject } from '../../../engine/model/json/json.ts';
import { encodeUsage, type Outcome } from '../reply-end.ts';

/** The reply's members in a response object. */
interface Answer {
  readonly id: string;
  readonly model: string;
}

/**
 * The members of a response object that change during a stream, except `output`. Source: OpenAI API reference, "The
 * response object".
 */
export const responseHead = (context: ReplyContext, answer: Answer, outcome: Outcome) => ({
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

/** A whole response object. Its first members are named: spread from another object, they would make it ten times as slow to build and write. */
export const responseObject = (
  context: ReplyContext,
  answer: Answer,
  outcome: Outcome,
  output: readonly JsonObject[],
): JsonObject => {
  const head = responseHead(context, answer, outcome);
  return {
    id: head.id,
    object: head.object,
    created_at: head.created_at,
    completed_at: head.completed_at,
    status: head.status,
    error: head.error,
    incomplete_details: head.incomplete_details,
    model: head.model,
    service_tier: head.service_tier,
    usage: head.usage,
    output,
    ...responseEcho(context),
  };
};

/** An upstream of the same protocol may store the reply under its own id, which clients need to continue it. */
export const responseId = (context: ReplyContext, id: string): string =>
  /^resp_./.test(id) ? id : `resp_${context.id}`;

/** The members that repeat the request, with the protocol's defaults. */
export const responseEcho = ({ clientBody, request }: ReplyContext): JsonObject => ({
  background: false,
  frequency_penalty: numberOr(clientBody.frequency_penalty, 0),
  instructions: clientBody.instructions ?? null,
  max_output_tokens: request.maxTokens ?? null,
  max_tool_calls: clientBody.max_tool_calls ?? null,
  metadata: clientBody.metadata ?? {},
  parallel_tool_calls: clientBody.parallel_tool_calls ?? true,
  presence_penalty: numberOr(clientBody.presence_penalty, 0),
  previous_response_id: clientBody.previous_response_id ?? null,
  prompt_cache_key: clientBody.prompt_cache_key ?? null,
  reasoning: clientBody.reasoning ?? { effort: null, summary: null },
  safety_identifier: clientBody.safety_identifier ?? null,
  store: false,
  temperature: clientBody.temperature ?? 1,
  text: clientBody.text ?? { format: { type: 'text' }, verbosity: 'medium' },
  tool_choice: clientBody.tool_choice ?? 'auto',
  tools: clientBody.tools ?? [],
  top_logprobs: clientBody.top_logprobs ?? 0,
  top_p: clientBody.top_p ?? 1,
  truncation: clientBody.truncation ?? 'disabled',
  user: clientBody.user ?? null,
});

const numberOr = (value: Json | undefined, missing: number): number => (typeof value === 'number' ? value : missing);
