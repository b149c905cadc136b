import type { ReplyContext } from '../../../engine/model/context.ts';
import { type Block, boundBlocks, type ModelEvent, type Usage } from '../../../engine/model/event.ts';
import type { Fault } from '../../../engine/model/fault.ts';
import { DeltaParser } from '../../../engine/model/json/delta-parser.ts';
import type { JsonDraft, JsonObject } from '../../../engine/model/json/json.ts';
import { signatureOfEntry, wireFormat } from '../reasoning-details.ts';
import type { Chunk } from '../schema-reply.ts';
import type { ObjectEnd } from './object-end.ts';

/** The state of a reply while it is decoded. */
export interface ReplyState {
  readonly context: ReplyContext;
  /** Parser for the chunks that hold a single delta. */
  readonly deltaParser: DeltaParser<JsonObject & Chunk>;
  started: boolean;
  /** The reply has stopped or failed; later input is ignored. */
  done: boolean;
  /** Blocks opened so far. */
  blocks: number;
  /** The open block's type; `undefined` between blocks. */
  open: Block['type'] | undefined;
  readonly thinking: ThinkingState;
  readonly calls: Calls;
  refusal: boolean;
  /** What was said outside the framing since the last chunk. */
  said: string;
  /** The first `finish_reason`; servers may repeat it. */
  finish: string | undefined;
  usage: Usage;
}

export const newReplyState = (context: ReplyContext): ReplyState => ({
  context,
  deltaParser: new DeltaParser(),
  started: false,
  done: false,
  blocks: 0,
  open: undefined,
  thinking: { key: '', entry: undefined },
  calls: newCalls(),
  refusal: false,
  said: '',
  finish: undefined,
  usage: {},
});

/** Ends the reply with a fault. */
export const failReply = (state: ReplyState, fault: Fault, out: ModelEvent[]): void => {
  state.done = true;
  out.push({ type: 'error', fault });
};

/** Closes the open block, then opens this one. */
export const openBlock = (state: ReplyState, block: Block, out: ModelEvent[]): void => {
  boundBlocks(state.blocks);
  closeBlock(state, out);
  state.open = block.type;
  out.push({ type: 'block-start', index: state.blocks, block });
  state.blocks += 1;
};

/** Closes the open block, if any. */
export const closeBlock = (state: ReplyState, out: ModelEvent[]): void => {
  if (state.open === undefined) return;
  if (state.open === 'thinking') writeSignature(state, out);
  state.open = undefined;
  out.push({ type: 'block-stop', index: state.blocks - 1 });
};

/** The signature of the closing thinking block; empty without one. */
const writeSignature = ({ thinking, blocks }: ReplyState, out: ModelEvent[]): void => {
  const signature = thinking.entry ? signatureOfEntry(thinking.entry) : { format: wireFormat, data: '' };
  out.push({ type: 'signature-delta', index: blocks - 1, signature });
};

/**
 * The calls of a reply, in order of their start. Blocks can't overlap: the first open call streams live, and
 * fragments of later calls wait.
 */
export interface Calls {
  readonly all: Call[];
  /** Number of closed calls; the next one is live. */
  closed: number;
  /** The last call of each key: a reply may hold as many calls as fragments. Created with the first call. */
  byKey: Map<string, Call> | undefined;
}

export interface Call {
  /** Its position among all calls. */
  readonly place: number;
  /** The wire's `index`; `undefined` if the server sends none. */
  readonly index: number | undefined;
  id: string;
  name: string;
  /** A custom tool's call: its pieces are free text, not JSON. */
  readonly custom: boolean;
  /** Its members that this format doesn't know. */
  members: JsonObject | undefined;
  readonly pieces: string[];
  readonly end: ObjectEnd;
  /** Number of pieces sent. */
  sent: number;
  open: boolean;
  /** Its block is closed. */
  isClosed: boolean;
}

/** The open thinking block. */
export interface ThinkingState {
  /** Type and index of its entry; empty for plain text. */
  key: string;
  /** The entry without its readable text, joined from its fragments. */
  entry: JsonDraft | undefined;
}

const newCalls = (): Calls => ({ all: [], closed: 0, byKey: undefined });
