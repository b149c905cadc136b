import type { JsonObject } from '../../../engine/model/json/json.ts';
import { append, type Conversation } from './conversation.ts';

/** Decodes an item that only this format can hold. `role`: whose it is. */
export const decodeOpaque = (state: Conversation, item: JsonObject, at: string, role = roleOf(item)): void => {
  if (typeof item.call_id === 'string' && role === 'assistant') state.calls.add(item.call_id);
  append(state, role, at, { type: 'opaque', wire: 'responses', raw: item, at });
};

/** Outputs and approvals come from the client. */
const roleOf = ({ type }: JsonObject): 'user' | 'assistant' =>
  typeof type === 'string' && /_(output|response)$/.test(type) ? 'user' : 'assistant';
