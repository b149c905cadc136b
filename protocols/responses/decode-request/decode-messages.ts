import { asJsonObject, isJsonObject } from '../../../engine/model/json/json.ts';
import type { TextPart, ToolItem, Turn } from '../../../engine/model/request.ts';
import { memberPath, reader } from '../../../engine/model/schema.ts';
import { answerPending, type Conversation, type DraftTurn, type Settings } from './conversation.ts';
import { decodeItem, itemTypeOf } from './decode-items.ts';
import type { DecodedTools, ToolList } from './decode-tools.ts';
import { ToolsItem } from './schema-items.ts';

const toolsReader = reader(ToolsItem);

/** The conversation of an `input` list. */
interface DecodedItems {
  /** The leading instructions. */
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly settings: Settings;
}

/**
 * Decodes the `input` list. Consecutive items of the model form one turn, and so do consecutive call outputs; each
 * message is a turn. Throws an `invalid-request` fault that names the item. Source: OpenAI API reference, "Create a
 * model response", `input`.
 */
export const decodeItems = (
  input: readonly object[],
  names: Pick<DecodedTools, 'nameOf' | 'builtInName' | 'namesIn'>,
  stateful: boolean,
): DecodedItems => {
  const items = input.map(asJsonObject);
  const ids = new Set(
    items.flatMap((item) => (typeof item.id === 'string' && itemTypeOf(item) !== 'item_reference' ? [item.id] : [])),
  );
  const state: Conversation = {
    names,
    system: [],
    turns: [],
    ids,
    calls: new Set(),
    hostedCalls: new Set(),
    callIdOfItem: new Map(),
    pending: new Map(),
    late: new Set(),
    stateful,
    callSignatures: new Map(),
    settings: {},
  };
  items.forEach((item, index) => {
    decodeItem(state, item, memberPath('input', index));
  });
  answerPending(state);
  const turns = state.turns.filter(({ parts }) => parts.length > 0).map(toTurn);
  return { system: state.system, turns, settings: state.settings };
};

const toTurn = ({ role, parts, at, extra }: DraftTurn): Turn => ({ role, parts, at, ...(extra && { extra }) });

/** The lists of tools in the items. Throws an `invalid-request` fault for one that can't be read. */
export const toolListsIn = (input: readonly object[]): readonly ToolList[] =>
  toolMembersIn(input).map(({ item, at, itemAt }) => ({
    tools: toolsReader.read(item, itemAt).tools,
    at,
    found: true,
  }));

/** The `tools` of the items that declare some, unread. */
export const toolMembersIn = (input: readonly unknown[]) =>
  input.flatMap((item, index) => {
    if (!isJsonObject(item) || (item.type !== 'additional_tools' && item.type !== 'tool_search_output')) return [];
    const itemAt = memberPath('input', index);
    return [{ item, itemAt, tools: item.tools, at: memberPath(itemAt, 'tools') }];
  });

/** The items that only declare tools. */
export const toolItemsIn = (input: readonly object[]): readonly ToolItem[] =>
  toolMembersIn(input)
    .filter(({ item }) => item.type === 'additional_tools')
    .map(({ item, itemAt }) => ({ wire: 'responses', at: itemAt, raw: item }));
