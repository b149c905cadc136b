import { isJsonObject, type Json, type JsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { itemsIn, type JsonMember, memberBytes, memberNamed, membersIn } from '../../../engine/model/json/members.ts';
import { callReader } from './read-tool-calls.ts';

/**
 * What tells the usage of a whole answer of the usual form, as an event that ends a stream has it. Texts aren't parsed: of the answer only
 * its status, usage and tier are, and of its items the type. `undefined` for any other answer, and for one with reasoning to keep.
 */
export const plainReply = (reply: Uint8Array, mayReason: boolean): JsonObject | undefined => {
  const bytes = Buffer.from(reply.buffer, reply.byteOffset, reply.byteLength);
  const members = membersIn(bytes) ?? [];
  const [status, usage, tier] = ['status', 'usage', 'service_tier'].map((name) => valueIn(bytes, members, name));
  const output = memberNamed(members, 'output');
  const list = output && memberBytes(bytes, output);
  const items = list && itemsIn(list);
  if (!items || !isJsonObject(usage) || (status !== 'completed' && status !== 'incomplete')) return undefined;
  const searches: JsonObject[] = [];
  for (const span of items) {
    const item = memberBytes(list, span);
    const type = valueIn(item, membersIn(item) ?? [], 'type');
    switch (type) {
      case 'message':
        break;
      case 'web_search_call':
        searches.push({ type });
        break;
      case 'function_call':
      case 'custom_tool_call':
        // A call without a tool's name is a failure.
        if (!callReader.readable(parseJson(item.toString()))?.name) return undefined;
        break;
      case 'reasoning':
        if (mayReason) return undefined;
        break;
      default:
        return undefined;
    }
  }
  return { response: { status, output: searches, usage, service_tier: tier } };
};

const valueIn = (bytes: Buffer, members: readonly JsonMember[], name: string): Json | undefined => {
  const member = memberNamed(members, name);
  return member && parseJson(memberBytes(bytes, member).toString());
};
