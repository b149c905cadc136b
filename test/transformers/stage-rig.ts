import type { ReplyContext } from '../../engine/model/context.ts';
import type { FinishReason, ModelEvent } from '../../engine/model/event.ts';
import type { Losses } from '../../engine/model/loss.ts';
import { runWhole } from '../../engine/model/machine.ts';
import { foldReply, isFault } from '../../engine/model/reply.ts';
import type { FunctionTool, ModelRequest } from '../../engine/model/request.ts';
import type { Stage, Transformer } from '../../engine/model/transformer.ts';
import { plainRequest, replyContext } from '../support/context.ts';
import { checkEvents } from '../support/events.ts';

/** A block of an answer, its content in the pieces in which it comes. */
export type Block = readonly [type: 'text' | 'thinking' | 'refusal', ...pieces: string[]] | Call;
export type Call = readonly [type: 'call', name: string, ...pieces: string[]];

/** An answer of these blocks. */
export const answer = (blocks: readonly Block[], finish: FinishReason = 'end'): ModelEvent[] => [
  { type: 'message-start', id: 'a', model: 'm' },
  ...blocks.flatMap(blockEvents),
  { type: 'message-stop', finish, usage: { output: 7 } },
];

const blockEvents = (block: Block, index: number): ModelEvent[] => {
  const stop: ModelEvent = { type: 'block-stop', index };
  if (block[0] === 'call') {
    const [, name, ...pieces] = block;
    const start: ModelEvent = { type: 'block-start', index, block: { type: 'tool-call', id: `id${index}`, name } };
    return [start, ...pieces.map((json): ModelEvent => ({ type: 'input-delta', index, json })), stop];
  }
  const [type, ...pieces] = block;
  const kind = type === 'thinking' ? 'thinking-delta' : 'text-delta';
  const deltas = pieces.map((text): ModelEvent => ({ type: kind, index, text }));
  return [{ type: 'block-start', index, block: { type } }, ...deltas, stop];
};

export const tool = (name: string, parameters?: FunctionTool['parameters']): FunctionTool => ({
  type: 'function',
  name,
  parameters,
});

export const requestWith = (over: Partial<ModelRequest>): ModelRequest => ({ ...plainRequest, ...over });

export const stageOf = (transformer: Transformer, options: unknown = {}): Stage => transformer.configure(options);

/** The events behind the stage; throws when they break the order of events. */
export const through = (stage: Stage, events: readonly ModelEvent[], context: ReplyContext = replyContext()) => {
  const out = stage.events ? runWhole(stage.events, context, events) : [...events];
  checkEvents(out);
  return out;
};

/** An answer in a few words: `thinking(hm) text(hello) call f({"a":1}) end`. */
export const brief = (events: readonly ModelEvent[]): string => {
  const reply = foldReply(events);
  if (isFault(reply)) return reply.kind;
  const blocks = reply.blocks.map((block) => {
    switch (block.type) {
      case 'tool-call':
        return `call ${block.name}(${block.json})`;
      case 'redacted-thinking':
      case 'opaque':
        return block.type;
      default:
        return `${block.type}(${block.text})`;
    }
  });
  return [...blocks, reply.finish].join(' ');
};

/** The same events with deltas cut into pieces of these lengths, again and again. */
export const recut = (events: readonly ModelEvent[], lengths: readonly number[]): ModelEvent[] => {
  let turn = 0;
  const cut = (text: string): string[] => {
    const pieces: string[] = [];
    for (let from = 0; from < text.length; ) {
      const length = lengths[turn++ % lengths.length] ?? 1;
      pieces.push(text.slice(from, from + length));
      from += length;
    }
    return pieces;
  };
  return events.flatMap((event): ModelEvent[] => {
    if (event.type === 'text-delta' || event.type === 'thinking-delta') {
      return cut(event.text).map((text) => ({ ...event, text }));
    }
    return event.type === 'input-delta' ? cut(event.json).map((json) => ({ ...event, json })) : [event];
  });
};

/** The losses as `path: note`. */
export const notes = (losses: Losses): string[] => losses.list.map(({ path, note }) => `${path}: ${note ?? ''}`);
