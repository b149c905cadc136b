import type { BlockStart, MessageStart, MessageStop, ModelEvent } from '../model/event.ts';
import type { Fault } from '../model/fault.ts';
import type { Usage } from '../model/usage.ts';
import type { Batch } from './read-events.ts';

/**
 * Mends what no client could make sense of, whatever an upstream says: each tool call gets an id of its own (some upstreams use
 * one for several, the tool's name, say), an answer doesn't end in calls that it hasn't, and tokens are whole numbers. A call of
 * no tool can't be mended and becomes an `error`. `ids` are those of the calls that the answer has had; it gets those of this batch.
 */
export const mendEvents = (batch: Batch, ids: Set<string>): Batch =>
  batch.some(mayNeedMending) ? batch.map((event) => mend(event, ids)) : batch;

const mayNeedMending = ({ type }: ModelEvent): boolean =>
  type === 'block-start' || type === 'message-start' || type === 'message-stop';

const mend = (event: ModelEvent, ids: Set<string>): ModelEvent => {
  if (event.type === 'block-start') return ownId(event, ids);
  return event.type === 'message-start' || event.type === 'message-stop' ? plausibleEnd(event, ids.size > 0) : event;
};

const nameless: Fault = { kind: 'upstream-garbled', message: 'The upstream called a tool without its name.' };

const ownId = (event: BlockStart, ids: Set<string>): ModelEvent => {
  if (event.block.type !== 'tool-call') return event;
  const { id, name } = event.block;
  if (name === '') return { type: 'error', fault: nameless };
  let own = id || 'call_1';
  for (let count = 2; ids.has(own); count += 1) own = `${id || 'call'}_${count}`;
  ids.add(own);
  return own === id ? event : { ...event, block: { ...event.block, id: own } };
};

const plausibleEnd = (event: MessageStart | MessageStop, hasCalls: boolean): MessageStart | MessageStop => {
  const { usage } = event;
  const mended = usage && !Object.values(usage).every(isCount) ? { ...event, usage: countsOf(usage) } : event;
  return mended.type === 'message-stop' && mended.finish === 'tool-call' && !hasCalls
    ? { ...mended, finish: 'end' }
    : mended;
};

const isCount = (value: unknown): boolean => typeof value !== 'number' || (Number.isSafeInteger(value) && value >= 0);

/** Without the numbers that can't be a count of anything. */
const countsOf = (usage: Usage): Usage =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => isCount(value)));
