import { AlikeRecords } from '../../engine/model/alike-records.ts';
import type { ModelEvent } from '../../engine/model/event.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { ReplyContext } from '../../engine/model/protocol.ts';
import { CallReader } from './call-reader.ts';
import { HostedReader } from './hosted-reader.ts';
import type { ItemReader } from './item-reader.ts';
import { MessageReader } from './message-reader.ts';
import { ReasoningReader } from './reasoning-reader.ts';
import { BlockLine } from './reply-item.ts';
import type { StreamEvent } from './reply-schema.ts';
import { asJsonObject } from './unread.ts';

interface Entry {
  readonly id: string | undefined;
  readonly reader: ItemReader;
  done: boolean;
}

/** What is known of an answer while it is read. */
export interface AnswerState {
  readonly context: ReplyContext;
  /** The events that bring nothing but a delta. */
  readonly alike: AlikeRecords<JsonObject & StreamEvent>;
  readonly line: BlockLine;
  /** The items by output index, which alone is reliable: some providers change an item's id between its events. */
  readonly items: Map<number, Entry>;
  started: boolean;
  /** The answer is complete or has failed; what still comes doesn't count. */
  done: boolean;
  webSearches: number;
}

/** The state before anything has come. */
export const newAnswer = (context: ReplyContext): AnswerState => ({
  context,
  alike: new AlikeRecords(),
  line: new BlockLine(),
  items: new Map(),
  started: false,
  done: false,
  webSearches: 0,
});

/** Begins to read an item. */
export const openItem = (
  state: AnswerState,
  index: number,
  item: { readonly type: string },
  out: ModelEvent[],
): Entry => {
  const id = 'id' in item && typeof item.id === 'string' ? item.id : undefined;
  const entry: Entry = { id, reader: newReader(state, index, item, out), done: false };
  state.items.set(index, entry);
  return entry;
};

const newReader = (
  state: AnswerState,
  index: number,
  item: { readonly type: string },
  out: ModelEvent[],
): ItemReader => {
  switch (item.type) {
    case 'message':
      return new MessageReader(state.line);
    case 'reasoning':
      return new ReasoningReader(state.line);
    case 'function_call':
    case 'custom_tool_call':
      return new CallReader(state.line, state.context, index, item, out);
    default:
      if (item.type === 'web_search_call') state.webSearches += 1;
      return new HostedReader(state.line, asJsonObject(item), out);
  }
};

/** An item is done; one that is new begins and ends with this. A second `done` says nothing. */
export const finishItem = (
  state: AnswerState,
  index: number,
  item: { readonly type: string } | undefined,
  out: ModelEvent[],
): void => {
  const entry = state.items.get(index) ?? (item && openItem(state, index, item, out));
  if (!entry || entry.done) return;
  entry.done = true;
  entry.reader.finish(item, out);
};
