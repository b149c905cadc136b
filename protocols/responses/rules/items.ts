import { sumOf, TextSum, valueSum } from '../../../engine/model/grammar.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../engine/model/json/json.ts';
import { type Checking, isKnown } from './rules.ts';

interface Part {
  readonly type: string;
  readonly deltas: TextSum;
  readonly annotations: string[];
  /** Sums of the done text, and of the done part. */
  text: string | undefined;
  whole: string | undefined;
}

interface Item {
  readonly index: number;
  readonly type: string;
  /** Sums of its id, and of what names a call. */
  readonly id: string;
  readonly call: string;
  readonly parts: Part[];
  readonly summary: Part[];
  readonly input: TextSum;
  /** The sum of the done input. */
  inputDone: string | undefined;
}

/** The items of a stream so far. */
export interface Items {
  readonly open: Map<number, Item>;
  /** Sums of all ids. */
  readonly ids: Set<string>;
  added: number;
  /** The done items by their place: type and id, and the sum of all. */
  readonly done: { readonly name: string; readonly whole: string }[];
}

/** Reads an event between the first and the last response. */
export const itemEvent = (state: Items, type: string, data: JsonObject, check: Checking): void => {
  if (type === 'response.output_item.added') {
    addItem(state, data, check);
    return;
  }
  // Of no item: such as the vendor's own notices.
  if (!isKnown(type) && data.output_index === undefined) return;
  const index = check.count(data.output_index, 'item-order', 'output_index');
  const item = state.open.get(index);
  check.must(
    item !== undefined,
    'item-order',
    'output_index',
    'an item that was added and is not done',
    data.output_index,
  );
  if (!item) return;
  if (type === 'response.output_item.done') {
    finishItem(state, item, check.object(data.item, 'item', 'item'), check);
    return;
  }
  check.must(
    valueSum(data.item_id) === item.id,
    'item-name',
    'item_id',
    'the id of the item that was added',
    data.item_id,
  );
  if (type.startsWith('response.reasoning_summary')) partEvent(type, data, item, item.summary, 'summary_index', check);
  else if (type.startsWith('response.content_part') || textTypes.some((text) => type.startsWith(text))) {
    partEvent(type, data, item, item.parts, 'content_index', check);
  } else if (inputTypes.some(([start]) => type.startsWith(start))) inputEvent(type, data, item, check);
  else check.must(type.startsWith(`response.${item.type}`), 'part', 'type', `an event of a ${item.type}`, data.type);
};

const textTypes = ['response.output_text', 'response.refusal', 'response.reasoning_text'];

const inputTypes = [
  ['response.function_call_arguments', 'function_call'],
  ['response.custom_tool_call_input', 'custom_tool_call'],
] as const;

/** Members that are absent when an item is added, by its type. */
const emptyMembers: Readonly<Record<string, readonly string[]>> = {
  message: ['content'],
  reasoning: ['summary'],
  function_call: ['arguments'],
  custom_tool_call: ['input'],
};

const addItem = (state: Items, data: JsonObject, check: Checking): void => {
  check.track();
  const added = check.object(data.item, 'item', 'item');
  check.must(data.output_index === state.added, 'item-order', 'output_index', String(state.added), data.output_index);
  const [before] = state.open.values();
  check.must(
    before === undefined,
    'item-overlap',
    'output_index',
    `response.output_item.done of item ${before?.index}`,
  );
  const index = typeof data.output_index === 'number' ? data.output_index : state.added;
  const { id, type } = checkItem(added, 'item.', check);
  const sum = valueSum(id);
  check.must(!state.ids.has(sum), 'item-ids', 'item.id', 'an id of its own', added.id);
  state.ids.add(sum);
  for (const name of emptyMembers[type] ?? []) {
    const value = added[name];
    const isEmpty = value === '' || (Array.isArray(value) && value.length === 0);
    check.must(isEmpty, 'item-start', `item.${name}`, 'nothing yet', value);
  }
  if (type === 'message') check.must(added.role === 'assistant', 'item', 'item.role', '"assistant"', added.role);
  if (type !== 'reasoning' && Object.hasOwn(emptyMembers, type)) {
    check.must(added.status === 'in_progress', 'item-start', 'item.status', '"in_progress"', added.status);
  }
  state.open.set(index, {
    index,
    type,
    id: sum,
    call: callSum(added),
    parts: [],
    summary: [],
    input: new TextSum(),
    inputDone: undefined,
  });
  state.added = index + 1;
};

const callSum = ({ call_id: id, name, namespace }: JsonObject): string =>
  valueSum([id ?? null, name ?? null, namespace ?? null]);

const prefixes: Readonly<Record<string, string>> = {
  message: 'msg_',
  reasoning: 'rs_',
  function_call: 'fc_',
  custom_tool_call: 'ctc_',
};

export const checkItem = (
  item: JsonObject,
  at: string,
  check: Checking,
): { readonly id: string; readonly type: string } => {
  const type = check.name(item.type, 'item', `${at}type`);
  const id = check.text(item.id, 'item', `${at}id`);
  const prefix = Object.hasOwn(prefixes, type) ? (prefixes[type] ?? '') : '';
  check.must(id.startsWith(prefix), 'item-id', `${at}id`, `an id that begins with ${prefix}`, item.id);
  if (type === 'function_call' || type === 'custom_tool_call') {
    for (const name of ['call_id', 'name']) check.name(item[name], 'item', `${at}${name}`);
    const input = type === 'function_call' ? 'arguments' : 'input';
    check.text(item[input], 'item', `${at}${input}`);
  }
  if (type === 'message') check.list(item.content, 'item', `${at}content`);
  if (type === 'reasoning') check.list(item.summary, 'item', `${at}summary`);
  return { id, type };
};

const finishItem = (state: Items, item: Item, done: JsonObject, check: Checking): void => {
  state.open.delete(item.index);
  state.done[item.index] = { name: nameOf(done), whole: valueSum(done) };
  const { id, type } = checkItem(done, 'item.', check);
  check.must(
    valueSum(id) === item.id && type === item.type,
    'item-whole',
    'item.id',
    'the id and type of its response.output_item.added',
    done.id,
  );
  check.must(done.status !== 'in_progress', 'item-whole', 'item.status', 'a status that is over', done.status);
  const same = (isSame: boolean, name: string): void => {
    check.must(isSame, 'item-whole', `item.${name}`, 'what its events said', done[name]);
  };
  switch (type) {
    case 'message':
      check.must(item.parts.length > 0, 'part-order', 'item.content', 'response.content_part.added before it');
      same(isWhole(item.parts, done.content), 'content');
      return;
    case 'reasoning':
      same(isWhole(item.summary, done.summary), 'summary');
      same(isWhole(item.parts, done.content ?? []), 'content');
      return;
    case 'function_call':
    case 'custom_tool_call': {
      const name = type === 'function_call' ? 'arguments' : 'input';
      check.must(item.inputDone !== undefined, 'item-whole', `item.${name}`, `response.…${name}.done before it`);
      const input = done[name];
      same(typeof input === 'string' && (item.inputDone ?? item.input.value) === sumOf(input), name);
      same(callSum(done) === item.call, 'call_id');
    }
  }
};

const isWhole = (parts: readonly Part[], value: Json | undefined): boolean =>
  Array.isArray(value) &&
  value.length === parts.length &&
  parts.every(({ whole }, at) => whole === valueSum(value[at]));

const partEvents: Readonly<Record<string, string>> = {
  output_text: 'response.output_text',
  refusal: 'response.refusal',
  summary_text: 'response.reasoning_summary_text',
  reasoning_text: 'response.reasoning_text',
};

const partEvent = (
  type: string,
  data: JsonObject,
  item: Item,
  parts: Part[],
  name: 'summary_index' | 'content_index',
  check: Checking,
): void => {
  const index = check.count(data[name], 'part-order', name);
  const before = parts.at(-1);
  if (type.endsWith('part.added')) {
    const isNext = index === parts.length && (before === undefined || before.whole !== undefined);
    check.must(isNext, 'part-order', name, `${parts.length}, once the part before is done`, data[name]);
    parts.push(newPart(item, check.object(data.part, 'part', 'part'), check));
    check.track();
    return;
  }
  const part = parts[index];
  const isOpen = part !== undefined && part.whole === undefined;
  check.must(isOpen, 'part-order', name, 'a part that was added and is not done', data[name]);
  if (!part || !isOpen) return;
  if (type.endsWith('part.done')) {
    finishPart(part, check.object(data.part, 'part', 'part'), check);
    return;
  }
  const fits = type.startsWith(partEvents[part.type] ?? '?');
  check.must(fits, 'part', 'type', `an event of a part of type ${part.type}`, data.type);
  check.must(part.text === undefined, 'part-order', 'type', 'nothing behind the done text', data.type);
  if (type.endsWith('.annotation.added')) {
    const { annotation_index: at } = data;
    const due = part.annotations.length;
    check.must(at === due, 'part-order', 'annotation_index', String(due), at);
    part.annotations.push(valueSum(data.annotation));
    check.track();
  } else if (type.endsWith('.delta')) {
    part.deltas.add(deltaOf(data, check));
  } else {
    const member = data.text === undefined && data.refusal !== undefined ? 'refusal' : 'text';
    part.text = sumOf(check.text(data[member], 'delta', member));
    check.must(part.text === part.deltas.value, 'text-whole', member, 'all of its deltas', data[member]);
  }
};

const newPart = ({ type: home }: Item, part: JsonObject, check: Checking): Part => {
  const type = check.name(part.type, 'part', 'part.type');
  const isOfReasoning = type === 'summary_text' || type === 'reasoning_text';
  const fits = Object.hasOwn(partEvents, type) && home === (isOfReasoning ? 'reasoning' : 'message');
  check.must(fits, 'part', 'part.type', `a type of part that a ${home} has`, part.type);
  check.must(textOf(part) === '', 'item-start', 'part', 'an empty part', part);
  if (type === 'output_text') {
    const isEmpty = Array.isArray(part.annotations) && part.annotations.length === 0;
    check.must(isEmpty, 'item-start', 'part.annotations', 'an empty list', part.annotations);
  }
  return { type, deltas: new TextSum(), annotations: [], text: undefined, whole: undefined };
};

const textOf = (part: JsonObject): Json | undefined => (part.type === 'refusal' ? part.refusal : part.text);

const finishPart = (part: Part, done: JsonObject, check: Checking): void => {
  part.whole = valueSum(done);
  check.must(part.text !== undefined, 'part-order', 'type', 'the done text before its part');
  const text = textOf(done);
  const isSame = typeof text === 'string' && sumOf(text) === (part.text ?? part.deltas.value);
  check.must(isSame, 'text-whole', 'part', 'the text of its events', text);
  check.must(done.type === part.type, 'part', 'part.type', JSON.stringify(part.type), done.type);
  if (part.type !== 'output_text') return;
  const annotations = check.list(done.annotations, 'part', 'part.annotations');
  const areSame =
    annotations.length === part.annotations.length &&
    annotations.every((one, at) => valueSum(one) === part.annotations[at]);
  check.must(areSame, 'text-whole', 'part.annotations', 'those that were sent', annotations);
};

const inputEvent = (type: string, data: JsonObject, item: Item, check: Checking): void => {
  const home = inputTypes.find(([start]) => type.startsWith(start))?.[1];
  check.must(item.type === home, 'part', 'type', `an event of a ${item.type}`, data.type);
  check.must(item.inputDone === undefined, 'part-order', 'type', 'nothing behind the done input', data.type);
  if (type.endsWith('.delta')) {
    item.input.add(deltaOf(data, check));
    return;
  }
  const member = home === 'custom_tool_call' ? 'input' : 'arguments';
  item.inputDone = sumOf(check.text(data[member], 'delta', member));
  check.must(item.inputDone === item.input.value, 'text-whole', member, 'all of its deltas', data[member]);
};

const deltaOf = (data: JsonObject, check: Checking): string => {
  const delta = check.text(data.delta, 'delta', 'delta');
  check.must(delta !== '', 'empty-delta', 'delta', 'a text that is not empty', data.delta);
  return delta;
};

export const nameOf = (item: Json): string => {
  const { type, id } = isJsonObject(item) ? item : {};
  return JSON.stringify([type, id]);
};
