import { openSummary } from '../../../engine/model/compaction.ts';
import { fail } from '../../../engine/model/fault.ts';
import { isJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import type { OwnWireField } from '../../../engine/model/protocol.ts';
import { memberPath, reader } from '../../../engine/model/schema.ts';
import type { Conversation } from './conversation.ts';
import {
  decodeAgentMessage,
  decodeConfiguration,
  decodeMcpCall,
  decodeSummary,
  unreadablePart,
} from './decode-agent-items.ts';
import { decodeMessage } from './decode-message.ts';
import { decodeOpaque } from './decode-opaque.ts';
import { decodeReasoning } from './decode-reasoning.ts';
import {
  decodeBuiltInCall,
  decodeBuiltInOutput,
  decodeCustomCall,
  decodeFunctionCall,
  decodeOutput,
  decodeSearchCall,
  decodeSearchOutput,
} from './decode-tool-calls.ts';
import type { ItemType } from './schema-items.ts';
import { ReferenceItem } from './schema-request.ts';

const referenceReader = reader(ReferenceItem);

interface ItemKind {
  /** Adds the item to the conversation. */
  readonly decode: (state: Conversation, item: JsonObject, at: string) => void;
  /** Whether upstreams of other formats can't be asked with this item. `pending`: it ends the input. Absent: they can. */
  readonly refuse?: (item: JsonObject, at: string, pending: boolean) => OwnWireField | undefined;
}

/** An item of a tool that the vendor ran: other formats lose it, and its answer is in the model's later words. */
const dropped: ItemKind = { decode: decodeOpaque };

/** An item that only the vendor can read or go on with. */
const own = (why: string): ItemKind => ({ decode: decodeOpaque, refuse: (_, at) => ({ path: at, why }) });

/** An item that waits for the vendor at the end of the input, and is history before. */
const pending = (why: string): ItemKind => ({
  decode: decodeOpaque,
  refuse: (_, at, isPending) => (isPending ? { path: at, why } : undefined),
});

/** A summary that the gateway has packed is text for all; only its vendor can open another one. */
const summary: ItemKind = {
  decode: decodeSummary,
  refuse: ({ encrypted_content: payload }, at) =>
    openSummary(payload) === undefined ? { path: at, why: compacted } : undefined,
};

const compacted = "its vendor alone can read the conversation's past in it";
const program = 'its vendor alone runs programs that call tools';
const screen = 'its vendor alone has the tool of this screenshot';
const agents = 'its vendor alone runs these agents';
const approval = 'its vendor alone waits for this approval';

/**
 * Each type of item: how it is decoded, and whether only an upstream of this format can be asked with it. Types that aren't here
 * are refused elsewhere too, since they may be the request.
 */
const kinds: Readonly<Record<ItemType, ItemKind>> = {
  message: { decode: decodeMessage },
  reasoning: { decode: decodeReasoning },
  function_call: { decode: decodeFunctionCall },
  function_call_output: { decode: decodeOutput },
  custom_tool_call: { decode: decodeCustomCall },
  custom_tool_call_output: { decode: decodeOutput },
  // Its tools are declared before the conversation is decoded.
  additional_tools: { decode() {} },
  tool_search_call: { decode: decodeSearchCall },
  tool_search_output: { decode: decodeSearchOutput },
  local_shell_call: { decode: decodeBuiltInCall('local_shell') },
  local_shell_call_output: { decode: decodeBuiltInOutput },
  shell_call: { decode: decodeBuiltInCall('shell') },
  shell_call_output: { decode: decodeBuiltInOutput },
  apply_patch_call: { decode: decodeBuiltInCall('apply_patch') },
  apply_patch_call_output: { decode: decodeBuiltInOutput },
  computer_call: own(screen),
  computer_call_output: own(screen),
  configuration_update: { decode: decodeConfiguration },
  agent_message: {
    decode: decodeAgentMessage,
    refuse(item, at) {
      const path = unreadablePart(item, at);
      return path === undefined ? undefined : { path, why: 'its vendor alone can read this part of the task' };
    },
  },
  multi_agent_call: pending(agents),
  multi_agent_call_output: pending(agents),
  compaction: summary,
  compaction_summary: summary,
  // As the last item, it is no part of the conversation: the request asks for a summary.
  compaction_trigger: {
    decode: decodeOpaque,
    refuse: (_, at, isLast) => (isLast ? undefined : { path: at, why: 'it asks for a summary only as the last item' }),
  },
  item_reference: { decode: checkReference },
  program: own(program),
  program_output: own(program),
  web_search_call: dropped,
  file_search_call: dropped,
  code_interpreter_call: dropped,
  image_generation_call: dropped,
  mcp_list_tools: dropped,
  mcp_call: { decode: decodeMcpCall },
  mcp_approval_request: pending(approval),
  mcp_approval_response: pending(approval),
};

const isKnown = (type: unknown): type is ItemType => typeof type === 'string' && Object.hasOwn(kinds, type);

/** A reference to an item of the input adds nothing. */
function checkReference(state: Conversation, item: JsonObject, at: string): void {
  const { id } = referenceReader.read(item, at);
  if (state.ids.has(id)) return;
  const param = memberPath(at, 'id');
  fail('invalid-request', `${param}: item '${id}' is not in the input, and no items are kept here.`, { param });
}

/** The item's type; messages and references may have none. */
export const itemTypeOf = (item: JsonObject): unknown => {
  if ((item.type ?? null) !== null) return item.type;
  return !('role' in item) && 'id' in item ? 'item_reference' : 'message';
};

/** Adds an item to the conversation. Throws an `invalid-request` fault that names the member at fault. */
export const decodeItem = (state: Conversation, item: JsonObject, at: string): void => {
  const type = itemTypeOf(item);
  if (isKnown(type)) kinds[type].decode(state, item, at);
  else if (typeof type === 'string') decodeOpaque(state, item, at);
  else fail('invalid-request', `${at}.type must be string.`, { param: memberPath(at, 'type') });
};

/** The first item with which only an upstream of this format can be asked. */
export const refusedItem = (input: readonly unknown[]): OwnWireField | undefined => {
  for (const [index, item] of input.entries()) {
    if (!isJsonObject(item)) continue;
    const at = memberPath('input', index);
    const type = itemTypeOf(item);
    const refusal = isKnown(type)
      ? kinds[type].refuse?.(item, at, index === input.length - 1)
      : { path: at, why: `other formats have nothing like the item type '${type}'` };
    if (refusal) return refusal;
  }
  return undefined;
};
