import type { ReplyContext } from '../../../engine/model/context.ts';
import type { ModelEvent } from '../../../engine/model/event.ts';
import { DeltaParser } from '../../../engine/model/json/delta-parser.ts';
import { asJsonObject, type JsonObject } from '../../../engine/model/json/json.ts';
import type { StreamEvent } from '../schema-reply.ts';
import { HostedReader } from './read-hosted-tools.ts';
import { ReasoningReader } from './read-reasoning.ts';
import { MessageReader } from './read-text.ts';
import { CallReader } from './read-tool-calls.ts';
import { BlockQueue, type ItemReader } from './reply-item.ts';

interface Entry {
  readonly reader: ItemReader;
  done: boolean;
}

/** The state of a reply while it is decoded. */
export interface ReplyState {
  readonly context: ReplyContext;
  /** Parser for the events that hold a single delta. */
  readonly deltaParser: DeltaParser<JsonObject & StreamEvent>;
  readonly line: BlockQueue;
  /** The items by output index. Item ids aren't reliable: some providers change them between events. */
  readonly items: Map<number, Entry>;
  /** The output index of the first item with each id. */
  readonly indexById: Map<string, number>;
  started: boolean;
  /** The reply is complete or has failed; later input is ignored. */
  done: boolean;
  /** Text outside the framing since the last event. */
  said: string;
  webSearches: number;
}

export const newReplyState = (context: ReplyContext): ReplyState => ({
  context,
  deltaParser: new DeltaParser(),
  line: new BlockQueue(),
  items: new Map(),
  indexById: new Map(),
  started: false,
  done: false,
  said: '',
  webSearches: 0,
});

/** Starts an item. */
export const openItem = (
  state: ReplyState,
  index: number,
  item: { readonly type: string },
  out: ModelEvent[],
): Entry => {
  const id = 'id' in item && typeof item.id === 'string' ? item.id : undefined;
  const entry: Entry = { reader: newReader(state, index, item, out), done: false };
  state.items.set(index, entry);
  if (id && !state.indexById.has(id)) state.indexById.set(id, index);
  return entry;
};

const newReader = (
  state: ReplyState,
  index: number,
  item: { readonly type: string },
  out: ModelEvent[],
): ItemReader => {
  switch (item.type) {
    case 'message':
      return new MessageReader(state.line, state.context.losses);
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

/** Ends an item; a new one starts and ends here. A second `done` is ignored. */
export const finishItem = (
  state: ReplyState,
  index: number,
  item: { readonly type: string } | undefined,
  out: ModelEvent[],
): void => {
  const entry = state.items.get(index) ?? (item && openItem(state, index, item, out));
  if (!entry || entry.done) return;
  entry.done = true;
  entry.reader.finish(item, out);
};
