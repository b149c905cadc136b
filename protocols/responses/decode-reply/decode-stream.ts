import { type FinishReason, isSingleDelta, type ModelEvent, type Usage } from '../../../engine/model/event.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../../engine/model/json/json.ts';
import { machine } from '../../../engine/model/machine.ts';
import { recordTransformations } from '../../../engine/model/record-losses.ts';
import { cutOffAfter } from '../../../engine/model/reply.ts';
import { lenientReader } from '../../../engine/model/schema.ts';
import { errorIn } from '../../../engine/model/upstream-error/error-in.ts';
import { isBlank } from '../../../engine/model/wire/sse.ts';
import type { SseRecord } from '../../../engine/model/wire/sse-record.ts';
import { decodeReportedFault } from '../decode-fault.ts';
import { decodeFinish, decodeUsage } from '../reply-end.ts';
import { ResponseObject, StreamEvent } from '../schema-reply.ts';
import { MessageReader } from './read-text.ts';
import { CallReader } from './read-tool-calls.ts';
import { finishItem, newReplyState, openItem, type ReplyState } from './reply-state.ts';

/**
 * Decodes the `response.…` events of the vendor and of compatible servers. Source: OpenAI API reference, "Streaming
 * events".
 */
export const decodeStream = machine<ReplyState, SseRecord, ModelEvent>({
  initial: newReplyState,
  step(state, { event, data, outside }, out) {
    if (state.done || data === '[DONE]') return;
    if (outside === 'text') {
      state.said = data;
      return;
    }
    state.said = '';
    const known = state.deltaParser.read(data);
    const value = known ?? parseJson(data);
    if (isBlank(value)) return;
    if (!isJsonObject(value)) {
      failGarbled(state, out, 'The upstream sent a record that is not a JSON object.');
      return;
    }
    const item = known ?? (eventReader.matches(value) ? value : undefined);
    const before = out.length;
    const type = typeof value.type === 'string' ? value.type : event;
    readEvent(state, type, value, item ?? eventReader.readable(value), out);
    if (item && !known && isSingleDelta(out, before)) state.deltaParser.learn(data, item);
  },
  end(state, out) {
    if (!state.done) out.push({ type: 'error', fault: cutOffAfter(state.said, decodeReportedFault) });
  },
});

const responseReader = lenientReader(ResponseObject);

/** Ends the reply with a fault, since it can't be read. */
export const failGarbled = (state: ReplyState, out: ModelEvent[], message: string): void => {
  state.done = true;
  out.push({ type: 'error', fault: { kind: 'upstream-garbled', message } });
};

/** Validates the events of items. */
const eventReader = lenientReader(StreamEvent);

/** Reads one event of this type. `item` is the same value if it is valid as an item's event. */
const readEvent = (
  state: ReplyState,
  type: string,
  value: JsonObject,
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
      out.push({ type: 'error', fault: decodeReportedFault(value) });
      break;
    default:
      // An error may have no type; other unknown events are skipped.
      if (type.startsWith('response.')) readItemEvent(state, type, item, out);
      else if (errorIn(value, 'response') !== undefined) {
        state.done = true;
        out.push({ type: 'error', fault: decodeReportedFault(value) });
      }
  }
};

const responseOf = ({ response }: JsonObject): ResponseObject | undefined => responseReader.readable(response);

const start = (state: ReplyState, response: ResponseObject | undefined, out: ModelEvent[]): void => {
  if (state.started) return;
  state.started = true;
  out.push({ type: 'message-start', id: response?.id ?? '', model: response?.model ?? '' });
};

const readItemEvent = (state: ReplyState, type: string, value: StreamEvent | undefined, out: ModelEvent[]): void => {
  if (!value) {
    // A hosted tool's events have any shape; its item follows complete.
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

/** The event's output index; without one, that of its item id, or else of the last item. */
const indexOf = (state: ReplyState, event: StreamEvent): number => {
  if (typeof event.output_index === 'number') return event.output_index;
  const id = event.item_id ?? event.item?.id;
  const known = id ? state.indexById.get(id) : undefined;
  if (known !== undefined) return known;
  return event.item ? state.items.size : state.items.size - 1;
};

/** Reads the event that ends a reply, or a whole reply. */
export const readTerminal = (state: ReplyState, type: string, response: ResponseObject, out: ModelEvent[]): void => {
  start(state, response, out);
  state.done = true;
  if (type === 'response.failed' || type === 'response.cancelled' || response.status === 'failed') {
    out.push({ type: 'error', fault: decodeReportedFault(response) });
    return;
  }
  recordTransformations(response.input_transformations, state.context.losses);
  finishAll(state, response.output ?? [], out);
  if (callsOf(state).some(({ nameless }) => nameless)) {
    failGarbled(state, out, 'The upstream called a tool without naming it.');
    return;
  }
  const usage = usageOf(response, state.webSearches);
  out.push({ type: 'message-stop', finish: finishReason(state, type, response), usage });
};

/** The usage in the record that ends a stream; `undefined` in any other. */
export const usageIn = (body: JsonObject): Usage | undefined => {
  const response = responseOf(body);
  const searches = response?.output?.filter(({ type }) => type === 'web_search_call').length ?? 0;
  return response?.usage ? usageOf(response, searches) : undefined;
};

const usageOf = ({ usage, service_tier: serviceTier }: ResponseObject, webSearches: number): Usage => ({
  ...decodeUsage(usage),
  ...(webSearches > 0 && { webSearches }),
  ...(serviceTier && { serviceTier }),
});

/** Ends the open items. Items without events of their own are taken from the whole. */
const finishAll = (state: ReplyState, output: readonly { readonly type: string }[], out: ModelEvent[]): void => {
  for (const [index, entry] of state.items) {
    const whole = output[index];
    if (!entry.done) finishItem(state, index, whole, out);
  }
  if (state.items.size >= output.length) return;
  output.forEach((item, index) => {
    finishItem(state, index, item, out);
  });
};

const callsOf = (state: ReplyState): readonly CallReader[] =>
  [...state.items.values()].map((entry) => entry.reader).filter((one) => one instanceof CallReader);

const finishReason = (
  state: ReplyState,
  type: string,
  { status, incomplete_details: details }: ResponseObject,
): FinishReason => {
  const refusal = [...state.items.values()].some(({ reader }) => reader instanceof MessageReader && reader.refused);
  const incomplete = type === 'response.incomplete' || status === 'incomplete';
  return decodeFinish(incomplete, details?.reason, { calls: callsOf(state).length > 0, refusal });
};
