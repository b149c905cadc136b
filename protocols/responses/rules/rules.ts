import type { Check } from '../../../engine/model/grammar.ts';

/*
 * The rules of Responses, whose events are records over HTTP and messages over a WebSocket. Source: OpenAI API reference, "Streaming
 * events", "The response object", "WebSocket mode", as of November 2026; the sources of its client libraries; recorded traffic.
 */

export type ResponsesRule =
  /** Records stand in `data:` lines. */
  | 'framing'
  /** A record is a JSON object. */
  | 'json'
  /** The `event:` line is the record's `type`. */
  | 'event-line'
  /** The type is one of the reference. */
  | 'event-type'
  /** `response.created` first, nothing behind the end. */
  | 'order'
  /** `response.in_progress` second, with the same response. */
  | 'begin'
  /** The stream has an end. */
  | 'end'
  /** `sequence_number` counts from 0. */
  | 'numbers'
  /** No other event has an `error`: clients throw. */
  | 'error-member'
  /** `object`, `id`, `model`, `created_at`, `status`, `output`. */
  | 'response'
  /** The response has all members, which repeat the request. */
  | 'response-members'
  /** The last response is the one that was created. */
  | 'same-response'
  /** The last response's status is its event's. */
  | 'status'
  /** There is no `[DONE]`. */
  | 'done-word'
  /** The last `output` is the items that were sent, by type and id. */
  | 'output'
  /** Each of them is as it was sent. */
  | 'output-same'
  | 'usage'
  /** Items are numbered from 0. */
  | 'item-order'
  /** One item is done before the next is added. */
  | 'item-overlap'
  /** An item's members. */
  | 'item'
  /** Ids begin with their type's letters. */
  | 'item-id'
  /** No two items have one id. */
  | 'item-ids'
  /** An item is added empty. */
  | 'item-start'
  /** Events name the item by its id. */
  | 'item-name'
  /** A done item is what its events said. */
  | 'item-whole'
  /** Parts are numbered from 0, one at a time, and done before their item. */
  | 'part-order'
  /** A part's type fits its item and its events. */
  | 'part'
  /** A done text is what its deltas said. */
  | 'text-whole'
  /** No delta is empty. */
  | 'empty-delta'
  | 'delta'
  /** A failure has an `error` event, which says the same, then `response.failed`. */
  | 'failure'
  | 'error';

/** Rules for this gateway's answers alone: the reference leaves it open, and each server has ids of its own. */
export const own: readonly ResponsesRule[] = [
  'event-type',
  'response-members',
  'item-id',
  'item-overlap',
  'begin',
  'failure',
  'empty-delta',
  'output-same',
];

/** Rules that servers imitating OpenAI's are known to break. Source: recorded traffic. */
export const narrow: readonly ResponsesRule[] = ['event-line', 'done-word'];

export type Checking = Check<ResponsesRule>;

/** Events beside those of hosted tools. */
const known: ReadonlySet<string> = new Set([
  'response.created',
  'response.in_progress',
  'response.queued',
  'response.output_item.added',
  'response.output_item.done',
  'response.content_part.added',
  'response.content_part.done',
  'response.output_text.delta',
  'response.output_text.done',
  'response.output_text.annotation.added',
  'response.refusal.delta',
  'response.refusal.done',
  'response.function_call_arguments.delta',
  'response.function_call_arguments.done',
  'response.custom_tool_call_input.delta',
  'response.custom_tool_call_input.done',
  'response.reasoning_summary_part.added',
  'response.reasoning_summary_part.done',
  'response.reasoning_summary_text.delta',
  'response.reasoning_summary_text.done',
  'response.reasoning_text.delta',
  'response.reasoning_text.done',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
]);

/** Events of hosted tools, by the type of their item. */
const hosted: Readonly<Record<string, readonly string[]>> = {
  web_search_call: ['in_progress', 'searching', 'completed'],
  file_search_call: ['in_progress', 'searching', 'completed'],
  code_interpreter_call: ['in_progress', 'interpreting', 'completed'],
  code_interpreter_call_code: ['delta', 'done'],
  image_generation_call: ['in_progress', 'generating', 'partial_image', 'completed'],
  mcp_list_tools: ['in_progress', 'completed', 'failed'],
  mcp_call: ['in_progress', 'completed', 'failed'],
  mcp_call_arguments: ['delta', 'done'],
};

export const isKnown = (type: string): boolean => {
  if (known.has(type)) return true;
  const [, item = '', what = ''] = type.split('.');
  return Object.hasOwn(hosted, item) && (hosted[item]?.includes(what) ?? false);
};
