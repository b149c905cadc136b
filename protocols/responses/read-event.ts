import type { FinishReason, ModelEvent } from '../../engine/model/event.ts';
import { reader } from '../../engine/model/schema.ts';
import { type AnswerState, finishItem, openItem } from './answer-items.ts';
import { CallReader } from './call-reader.ts';
import { faultInReply } from './faults.ts';
import { MessageReader } from './message-reader.ts';
import { ResponseObject, StreamEvent } from './reply-schema.ts';
import { readUsage } from './usage.ts';

const responseReader = reader(ResponseObject);

/** Ends the answer with a fault of the upstream's: it can't be read. */
export const failGarbled = (state: AnswerState, out: ModelEvent[], message: string): void => {
  state.done = true;
  out.push({ type: 'error', fault: { kind: 'upstream-garbled', message } });
};

/** What any event of a stream that is told of an item looks like. */
export const eventReader = reader(StreamEvent);

/** One event of a stream, of this type; `item` is the same value once more, if it can be read as an item's event. */
export const readEvent = (
  state: AnswerState,
  type: string,
  value: object,
  item: StreamEvent | undefined,
  out: ModelEvent[],
): void => {
  switch (type) {
    case 'response.created':
    case 'response.in_progress':
    case 'response.queued':
      start(state, responseOf(value), out);
      break;
    case 'response.completed':
    case 'response.incomplete':
    case 'response.failed':
    case 'response.cancelled':
      readTerminal(state, type, responseOf(value) ?? {}, out);
      break;
    case 'error':
      state.done = true;
      out.push({ type: 'error', fault: faultInReply(value) });
      break;
    default:
      // An error can also come without a type; any other event of an unknown kind is skipped.
      if (type.startsWith('response.')) readItemEvent(state, type, item, out);
      else if ('error' in value && value.error) {
        state.done = true;
        out.push({ type: 'error', fault: faultInReply(value) });
      }
  }
};

const responseOf = (value: object): ResponseObject | undefined =>
  'response' in value && responseReader.matches(value.response) ? value.response : undefined;

const start = (state: AnswerState, response: ResponseObject | undefined, out: ModelEvent[]): void => {
  if (state.started) return;
  state.started = true;
  out.push({ type: 'message-start', id: response?.id ?? '', model: response?.model ?? '' });
};

const readItemEvent = (state: AnswerState, type: string, value: StreamEvent | undefined, out: ModelEvent[]): void => {
  if (!value) {
    // A hosted tool's own events may look like anything; its item comes whole in the end.
    if (essential.test(type)) failGarbled(state, out, `The upstream sent a '${type}' event that can't be read.`);
    return;
  }
  start(state, undefined, out);
  const index = indexOf(state, value);
  if (type === 'response.output_item.added') {
    if (value.item && !state.items.has(index)) openItem(state, index, value.item, out);
  } else if (type === 'response.output_item.done') {
    if (value.item) finishItem(state, index, value.item, out);
  } else {
    const entry = state.items.get(index);
    if (entry && !entry.done) entry.reader.read(type, value, out);
  }
};

const essential = /^response\.(output_|refusal|function_call|custom_tool|reasoning)/;

/** The event's output index; by its item's id where the provider leaves that out, else the last item's. */
const indexOf = (state: AnswerState, event: StreamEvent): number => {
  if (typeof event.output_index === 'number') return event.output_index;
  const id = event.item_id ?? event.item?.id;
  for (const [index, entry] of state.items) if (id && entry.id === id) return index;
  return event.item ? state.items.size : state.items.size - 1;
};

/** The event that ends an answer, or a whole answer by itself. */
export const readTerminal = (state: AnswerState, type: string, response: ResponseObject, out: ModelEvent[]): void => {
  start(state, response, out);
  state.done = true;
  if (type === 'response.failed' || type === 'response.cancelled' || response.status === 'failed') {
    out.push({ type: 'error', fault: faultInReply(response) });
    return;
  }
  finishAll(state, response.output ?? [], out);
  if (callsOf(state).some(({ nameless }) => nameless)) {
    failGarbled(state, out, 'The upstream called a tool without naming it.');
    return;
  }
  const { webSearches } = state;
  const serviceTier = response.service_tier ?? undefined;
  const usage = {
    ...readUsage(response.usage),
    ...(webSearches > 0 && { webSearches }),
    ...(serviceTier && { serviceTier }),
  };
  out.push({ type: 'message-stop', finish: finishReason(state, type, response), usage });
};

/** Items that are still open end with the answer. Those that the stream never told are taken from the whole. */
const finishAll = (state: AnswerState, output: readonly { readonly type: string }[], out: ModelEvent[]): void => {
  for (const [index, entry] of state.items) {
    const whole = output[index];
    if (!entry.done) finishItem(state, index, whole, out);
  }
  if (state.items.size >= output.length) return;
  output.forEach((item, index) => {
    finishItem(state, index, item, out);
  });
};

const callsOf = (state: AnswerState): readonly CallReader[] =>
  [...state.items.values()].map((entry) => entry.reader).filter((one) => one instanceof CallReader);

const finishReason = (
  state: AnswerState,
  type: string,
  { status, incomplete_details: why }: ResponseObject,
): FinishReason => {
  const incomplete = type === 'response.incomplete' || status === 'incomplete';
  if (incomplete && why?.reason !== 'content_filter') return 'length';
  if (callsOf(state).length > 0) return 'tool-call';
  const refused = [...state.items.values()].some(
    (entry) => entry.reader instanceof MessageReader && entry.reader.refused,
  );
  return incomplete || refused ? 'filtered' : 'end';
};
