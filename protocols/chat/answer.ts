import { AlikeRecords } from '../../engine/model/alike-records.ts';
import type { Block, ModelEvent } from '../../engine/model/event.ts';
import type { Fault } from '../../engine/model/fault.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { ReplyContext } from '../../engine/model/protocol.ts';
import type { Usage } from '../../engine/model/usage.ts';
import type { Calls } from './calls.ts';
import { signatureOfEntry, wireFormat } from './reasoning-details.ts';
import type { Chunk } from './schema-reply.ts';
import type { ThinkingState } from './thinking.ts';

/** An answer as far as it has come. */
export interface Answer {
  readonly context: ReplyContext;
  /** The chunks that bring nothing but a delta. */
  readonly alike: AlikeRecords<JsonObject & Chunk>;
  started: boolean;
  /** The answer has stopped or failed; nothing counts any more. */
  done: boolean;
  /** Blocks opened so far. */
  blocks: number;
  /** What the open block holds; `undefined` between blocks. */
  open: Block['type'] | undefined;
  readonly thinking: ThinkingState;
  readonly calls: Calls;
  refusal: boolean;
  /** The first `finish_reason`; servers may repeat it. */
  finish: string | undefined;
  usage: Usage;
}

export const newAnswer = (context: ReplyContext): Answer => ({
  context,
  alike: new AlikeRecords(),
  started: false,
  done: false,
  blocks: 0,
  open: undefined,
  thinking: { key: '', entry: undefined },
  calls: { all: [], closed: 0 },
  refusal: false,
  finish: undefined,
  usage: {},
});

/** Ends the answer with a fault. */
export const failAnswer = (answer: Answer, fault: Fault, out: ModelEvent[]): void => {
  answer.done = true;
  out.push({ type: 'error', fault });
};

/** Opens a block once the one before is closed. */
export const openBlock = (answer: Answer, block: Block, out: ModelEvent[]): void => {
  closeBlock(answer, out);
  answer.open = block.type;
  out.push({ type: 'block-start', index: answer.blocks, block });
  answer.blocks += 1;
};

/** Closes the open block, if there is one. */
export const closeBlock = (answer: Answer, out: ModelEvent[]): void => {
  if (answer.open === undefined) return;
  if (answer.open === 'thinking') sealThinking(answer, out);
  answer.open = undefined;
  out.push({ type: 'block-stop', index: answer.blocks - 1 });
};

/** The payload of the thinking block that closes: empty where the reasoning came without any. */
const sealThinking = ({ thinking, blocks }: Answer, out: ModelEvent[]): void => {
  const signature = thinking.entry ? signatureOfEntry(thinking.entry) : { format: wireFormat, data: '' };
  out.push({ type: 'signature-delta', index: blocks - 1, signature });
};
