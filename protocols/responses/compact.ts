import { packSummary, type SummaryForm } from '../../engine/model/compaction.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import type { ModelRequest } from '../../engine/model/request.ts';
import { decodePartialRequest } from './decode-request/decode-request.ts';
import { itemId } from './encode-reply/output-item.ts';

/** Decodes the body of the compaction endpoint, which never streams. Source: OpenAI API reference, "Compact a response". */
const decodeCompaction = (body: JsonObject): ModelRequest => ({
  ...decodePartialRequest(body),
  stream: false,
  compaction: { at: 'input', byPath: true },
});

/** A compaction item, which a client sends back in place of the conversation. Source: OpenAI API reference, "Compact a response". */
const compactionItem = (contextId: string, payload: string): JsonObject => ({
  id: itemId('cmp', contextId, 0),
  type: 'compaction',
  encrypted_content: payload,
});

/** The form of a summary by a model without compaction in this protocol. */
export const responsesSummary: SummaryForm = {
  wire: 'responses',
  begin: (id) => compactionItem(id, ''),
  complete: (summary, id) => ({
    type: 'response.output_item.done',
    item: compactionItem(id, packSummary(summary)),
  }),
  finish: 'end',
  path: { end: '/compact', decodeRequest: decodeCompaction },
};

/** The members that the compaction endpoint takes. */
const fields: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'previous_response_id',
  'prompt_cache_key',
  'prompt_cache_options',
  'prompt_cache_retention',
  'service_tier',
  'tools',
  'parallel_tool_calls',
  'reasoning',
  'text',
]);

/** A body for the compaction endpoint, which rejects the other members. */
export const compactionBody = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name]) => fields.has(name)));
