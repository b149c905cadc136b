import type { ReplyContext } from '../../../engine/model/context.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Reply } from '../../../engine/model/reply.ts';
import { encodeUsage } from '../reply-end.ts';
import { itemId } from './output-item.ts';
import { responseId } from './response-object.ts';

/**
 * The compaction endpoint's reply: the user's messages, then the compaction item. `output`: the answer's items. Source: OpenAI API
 * reference, "Compact a response".
 */
export const compactedObject = (reply: Reply, output: readonly JsonObject[], context: ReplyContext): JsonObject => ({
  id: responseId(context, reply.id),
  object: 'response.compaction',
  created_at: Math.floor(context.startedAtMs / 1000),
  output: [...userMessages(context), ...output],
  usage: encodeUsage(reply.usage, context.inputEstimate),
});

const userMessages = ({ clientBody: { input }, id }: ReplyContext): readonly JsonObject[] => {
  if (typeof input === 'string') return input === '' ? [] : [userMessage({ content: input }, itemId('msg', id, 0))];
  const items = Array.isArray(input) ? input.filter(isJsonObject) : [];
  return items.filter(isUsers).map((item, index) => userMessage(item, itemId('msg', id, index)));
};

const isUsers = ({ type, role }: JsonObject): boolean => role === 'user' && (type ?? 'message') === 'message';

const userMessage = ({ content, ...item }: JsonObject, id: string): JsonObject => ({
  id,
  ...item,
  type: 'message',
  status: 'completed',
  role: 'user',
  content: typeof content === 'string' ? [{ type: 'input_text', text: content }] : (content ?? []),
});
