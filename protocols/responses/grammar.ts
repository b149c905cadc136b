import { type Check, type Grammar, grammarOf, sumOf, TextSum, valueSum } from '../../engine/model/grammar.ts';
import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json/json.ts';

/*
 * The rules of Responses, whose events are records over HTTP and messages over a WebSocket. Source: OpenAI API reference, "Streaming
 * events", "The response object", "WebSocket mode", as of November 2026; the sources of its client libraries; recorded traffic.
 */

type ResponsesRule =
  /** Records stand in `data:` lines. */
  | 'framing'
  /** A record is a JSON object. */
  | 'json'
  /** The `event:` line is the record's `type`. */
  | 'event-line'
  /** The type is one of the reference. */
  | 'event-type'
  /** `response.created` first, nothing behind the end. */
  | 'order'
  /** `response.in_progress` second, with the same response. */
  | 'begin'
  /** The stream has an end. */
  | 'end'
  /** `sequence_number` counts from 0. */
  | 'numbers'
  /** No other event has an `error`: clients throw. */
  | 'error-member'
  /** `object`, `id`, `model`, `created_at`, `status`, `output`. */
  | 'response'
  /** The response has all members, which repeat the request. */
  | 'response-members'
  /** The last response is the one that was created. */
  | 'same-response'
  /** The last response's status is its event's. */
  | 'status'
  /** There is no `[DONE]`. */
  | 'done-word'
  /** The last `output` is the items that were sent, by type and id. */
  | 'output'
  /** Each of them is as it was sent. */
  | 'output-same'
  | 'usage'
  /** Items are numbered from 0. */
  | 'item-order'
  /** One item is done before the next is added. */
  | 'item-overlap'
  /** An item's members. */
  | 'item'
  /** Ids begin with their type's letters. */
  | 'item-id'
  /** No two items have one id. */
  | 'item-ids'
  /** An item is added empty. */
  | 'item-start'
  /** Events name the item by its id. */
  | 'item-name'
  /** A done item is what its events said. */
  | 'item-whole'
  /** Parts are numbered from 0, one at a time, and done before their item. */
  | 'part-order'
  /** A part's type fits its item and its events. */
  | 'part'
  /** A done text is what its deltas said. */
  | 'text-whole'
  /** No delta is empty. */
  | 'empty-delta'
  | 'delta'
  /** A failure has an `error` event, which says the same, then `response.failed`. */
  | 'failure'
  | 'error';

/** What binds this gateway's answers alone: the reference leaves it open, and each server has ids of its own. */
const own: readonly ResponsesRule[] = [
  'event-type',
  'response-members',
  'item-id',
  'item-overlap',
  'begin',
  'failure',
  'empty-delta',
  'output-same',
];

/** What servers that are merely like OpenAI's are known to break. Source: recorded traffic. */
const narrow: readonly ResponsesRule[] = ['event-line', 'done-word'];

/** Events beside those of hosted tools. */
const known: ReadonlySet<string> = new Set([
  'response.created',
  'response.in_progress',
  'response.queued',
  'response.output_item.added',
  'response.output_item.done',
  'response.content_part.added',
  'response.content_part.done',
  'response.output_text.delta',
  'response.output_text.done',
  'response.output_text.annotation.added',
  'response.refusal.delta',
  'response.refusal.done',
  'response.function_call_arguments.delta',
  'response.function_call_arguments.done',
  'response.custom_tool_call_input.delta',
  'response.custom_tool_call_input.done',
  'response.reasoning_summary_part.added',
  'response.reasoning_summary_part.done',
  'response.reasoning_summary_text.delta',
  'response.reasoning_summary_text.done',
  'response.reasoning_text.delta',
  'response.reasoning_text.done',
  'response.completed',
  'response.incomplete',
  'response.failed',
  'error',
]);

/** Events of hosted tools, by the type of their item. */
const hosted: Readonly<Record<string, readonly string[]>> = {
  web_search_call: ['in_progress', 'searching', 'completed'],
  file_search_call: ['in_progress', 'searching', 'completed'],
  code_interpreter_call: ['in_progress', 'interpreting', 'completed'],
  code_interpreter_call_code: ['delta', 'done'],
  image_generation_call: ['in_progress', 'generating', 'partial_image', 'completed'],
  mcp_list_tools: ['in_progress', 'completed', 'failed'],
  mcp_call: ['in_progress', 'completed', 'failed'],
  mcp_call_arguments: ['delta', 'done'],
};

const isKnown = (type: string): boolean => {
  if (known.has(type)) return true;
  const [, item = '', what = ''] = type.split('.');
  return Object.hasOwn(hosted, item) && (hosted[item]?.includes(what) ?? false);
};

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

interface State {
  phase: 'new' | 'created' | 'open' | 'over';
  created: JsonObject | undefined;
  createdSum: string;
  next: number;
  readonly open: Map<number, Item>;
  /** Sums of all ids. */
  readonly ids: Set<string>;
  added: number;
  /** The done items by their place: type and id, and the sum of all. */
  readonly done: { readonly name: string; readonly whole: string }[];
  raised: JsonObject | undefined;
}

type Checking = Check<ResponsesRule>;

const record = (state: State, data: JsonObject, event: string, check: Checking): void => {
  const type = check.name(data.type, 'event-line', 'type');
  check.must(type === event, 'event-line', 'type', `the type of the event line, ${JSON.stringify(event)}`, data.type);
  check.must(isKnown(type), 'event-type', 'type', 'a type of the reference', data.type);
  check.must(state.phase !== 'over', 'order', 'type', 'nothing behind the end', data.type);
  checkNumber(state, data, check);
  const isError = type === 'error';
  check.must(isError || !data.error, 'error-member', 'error', 'no error', data.error);
  const follows = state.raised === undefined || type === 'response.failed';
  check.must(follows, 'failure', 'type', '"response.failed" behind an error', data.type);
  if (isError) {
    check.must(state.phase === 'open', 'failure', 'type', 'no error before the answer has begun', data.type);
    state.raised = checkError(data, check);
    return;
  }
  const isCreated = type === 'response.created';
  if (state.phase === 'new' || isCreated) {
    const isFirst = state.phase === 'new' && isCreated;
    check.must(isFirst, 'order', 'type', isCreated ? 'one response.created' : '"response.created" first', data.type);
    if (isFirst) {
      begin(state, data, check);
      return;
    }
  }
  if (state.phase === 'created') {
    const isSecond = type === 'response.in_progress';
    check.must(isSecond, 'begin', 'type', '"response.in_progress"', data.type);
    if (isSecond) {
      const isSame = valueSum(data.response) === state.createdSum;
      check.must(isSame, 'begin', 'response', 'the response of response.created');
    }
  }
  if (state.phase !== 'over') state.phase = 'open';
  if (type === 'response.in_progress' || type === 'response.queued' || isCreated) return;
  if (terminals.has(type)) end(state, type, data, check);
  else itemEvent(state, type, data, check);
};

const terminals: ReadonlySet<string> = new Set([
  'response.completed',
  'response.incomplete',
  'response.failed',
  'response.cancelled',
]);

const checkNumber = (state: State, { sequence_number: number }: JsonObject, check: Checking): void => {
  check.must(number === state.next, 'numbers', 'sequence_number', String(state.next), number);
  state.next = (typeof number === 'number' && Number.isInteger(number) ? number : state.next) + 1;
};

const begin = (state: State, data: JsonObject, check: Checking): void => {
  const response = check.object(data.response, 'response', 'response');
  state.phase = 'created';
  state.created = response;
  state.createdSum = valueSum(response);
  checkResponse(response, 'response.', check);
  const { status } = response;
  const isOpen = status === 'in_progress' || status === 'queued';
  check.must(isOpen, 'status', 'response.status', '"in_progress"', status);
  const isEmpty = Array.isArray(response.output) && response.output.length === 0;
  check.must(isEmpty, 'response', 'response.output', 'an empty list', response.output);
  check.must((response.usage ?? null) === null, 'usage', 'response.usage', 'null', response.usage);
};

/** Members that any response has, also as null. */
const always = [
  'error',
  'incomplete_details',
  'instructions',
  'max_output_tokens',
  'previous_response_id',
  'usage',
  'temperature',
  'top_p',
  'reasoning',
  'truncation',
  'user',
  'completed_at',
] as const;

const checkResponse = (response: JsonObject, at: string, check: Checking): void => {
  check.must(response.object === 'response', 'response', `${at}object`, '"response"', response.object);
  const id = check.name(response.id, 'response', `${at}id`);
  check.must(id.startsWith('resp_') && id.length > 5, 'item-id', `${at}id`, 'an id that begins with resp_', id);
  check.name(response.model, 'response', `${at}model`);
  const isTime = typeof response.created_at === 'number';
  check.must(isTime, 'response', `${at}created_at`, 'a number of seconds', response.created_at);
  const demand = (isKept: boolean, name: string, expected: string): void => {
    check.must(isKept, 'response-members', `${at}${name}`, expected, response[name]);
  };
  demand(Number.isInteger(response.created_at), 'created_at', 'a whole number of seconds');
  demand(!('output_text' in response), 'output_text', 'nothing: it is no member of the wire');
  demand(typeof response.parallel_tool_calls === 'boolean', 'parallel_tool_calls', 'true or false');
  demand(response.store === false, 'store', 'false');
  for (const name of ['presence_penalty', 'frequency_penalty'])
    demand(typeof response[name] === 'number', name, 'a number');
  demand(Array.isArray(response.tools), 'tools', 'a list');
  for (const name of ['text', 'metadata']) check.object(response[name], 'response-members', `${at}${name}`);
  demand(['string', 'object'].includes(typeof response.tool_choice), 'tool_choice', 'a text or an object');
  for (const name of always) demand(name in response, name, 'a value or null');
};

const repeated = ['id', 'model', 'created_at'] as const;
const repeatedMembers = ['tools', 'instructions', 'tool_choice'] as const;

const end = (state: State, type: string, data: JsonObject, check: Checking): void => {
  state.phase = 'over';
  const response = check.object(data.response, 'response', 'response');
  const { status, output } = response;
  checkResponse(response, 'response.', check);
  check.must(type === `response.${status}`, 'status', 'response.status', JSON.stringify(type.slice(9)), status);
  const same = (name: string, rule: ResponsesRule): void => {
    const isSame = !state.created || valueSum(response[name]) === valueSum(state.created[name]);
    check.must(isSame, rule, `response.${name}`, 'as in response.created', response[name]);
  };
  for (const name of repeated) same(name, 'same-response');
  for (const name of repeatedMembers) same(name, 'response-members');
  checkOutcome(response, 'response.', check);
  const failed = status === 'failed' || status === 'cancelled';
  const [open] = state.open.values();
  check.must(failed || !open, 'item-whole', 'response', `response.output_item.done of item ${open?.index}`);
  // OpenAI's own servers leave out what a failed response had. Source: recorded traffic.
  if (!failed || (Array.isArray(output) && output.length > 0)) checkOutput(state.done, output, check);
  if (!failed) checkUsage(response.usage, 'response.', check);
  checkRaised(response, state.raised, check);
};

const checkOutcome = (response: JsonObject, at: string, check: Checking): void => {
  const { status, error = null, incomplete_details: why = null } = response;
  check.must(
    (status === 'failed') === (error !== null),
    'status',
    `${at}error`,
    status === 'failed' ? 'an error' : 'null',
    error,
  );
  const isCut = status === 'incomplete';
  check.must(isCut === (why !== null), 'status', `${at}incomplete_details`, isCut ? 'an object' : 'null', why);
  if (error !== null) checkErrorBody(check.object(error, 'error', `${at}error`), `${at}error.`, check);
};

const checkOutput = (done: State['done'], output: Json | undefined, check: Checking): void => {
  const items = check.list(output, 'output', 'response.output');
  const isWhole = check.must(
    items.length === done.length,
    'output',
    'response.output',
    `the ${done.length} items that were sent`,
    items.length,
  );
  if (!isWhole) return;
  for (const [index, item] of items.entries()) {
    const sent = done[index];
    const at = `response.output[${index}]`;
    check.must(
      sent === undefined || nameOf(item) === sent.name,
      'output',
      at,
      'the item of its response.output_item.done',
      item,
    );
    check.must(sent === undefined || valueSum(item) === sent.whole, 'output-same', at, 'the item as it was sent', item);
  }
};

const nameOf = (item: Json): string => {
  const { type, id } = isJsonObject(item) ? item : {};
  return JSON.stringify([type, id]);
};

/** Client libraries throw at the `error` event alone, so a failure has one, and both say the same. */
const checkRaised = (response: JsonObject, raised: JsonObject | undefined, check: Checking): void => {
  const failed = response.status === 'failed';
  check.must(
    failed === (raised !== undefined),
    'failure',
    '',
    failed ? 'an error event before it' : 'response.failed behind an error',
  );
  if (!raised || !failed) return;
  const { code, message } = check.object(response.error, 'error', 'response.error');
  check.must(
    raised.message === message,
    'failure',
    'response.error.message',
    'the message of the error event',
    message,
  );
  const isSame = (raised.code ?? null) === null || raised.code === code;
  check.must(isSame, 'failure', 'response.error.code', 'the code of the error event', code);
};

const itemEvent = (state: State, type: string, data: JsonObject, check: Checking): void => {
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

/** What an item is added without, by its type. */
const emptyMembers: Readonly<Record<string, readonly string[]>> = {
  message: ['content'],
  reasoning: ['summary'],
  function_call: ['arguments'],
  custom_tool_call: ['input'],
};

const addItem = (state: State, data: JsonObject, check: Checking): void => {
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

const checkItem = (item: JsonObject, at: string, check: Checking): { readonly id: string; readonly type: string } => {
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

const finishItem = (state: State, item: Item, done: JsonObject, check: Checking): void => {
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

/** OpenAI's error event has its members beside `type`; its client libraries read them inside `error`, too. */
const checkError = (data: JsonObject, check: Checking): JsonObject => {
  const inner = data.error !== undefined;
  const error = inner ? check.object(data.error, 'error', 'error') : data;
  const at = inner ? 'error.' : '';
  check.must(inner, 'failure', 'error', 'an object', data.error);
  check.name(error.type, 'error', `${at}type`);
  check.must('param' in error, 'failure', `${at}param`, 'a text or null');
  check.text(error.message, 'error', `${at}message`);
  return error;
};

const checkErrorBody = (error: JsonObject, at: string, check: Checking): void => {
  check.name(error.code, 'error', `${at}code`);
  check.text(error.message, 'error', `${at}message`);
};

const checkUsage = (value: Json | undefined, at: string, check: Checking): void => {
  const usage = check.object(value, 'usage', `${at}usage`);
  const count = (name: string): number => check.count(usage[name], 'usage', `${at}usage.${name}`);
  const [input, output, total] = [count('input_tokens'), count('output_tokens'), count('total_tokens')];
  check.must(total === input + output, 'usage', `${at}usage.total_tokens`, String(input + output), total);
  const details = (name: string, members: readonly string[]): number[] => {
    const held = check.object(usage[name], 'usage', `${at}usage.${name}`);
    return members.map((member) =>
      member === 'cache_write_tokens' && (held[member] ?? null) === null
        ? 0
        : check.count(held[member], 'usage', `${at}usage.${name}.${member}`),
    );
  };
  const [read = 0, written = 0] = details('input_tokens_details', ['cached_tokens', 'cache_write_tokens']);
  details('output_tokens_details', ['reasoning_tokens']);
  check.must(
    read + written <= input,
    'usage',
    `${at}usage.input_tokens_details`,
    `at most ${input} together`,
    read + written,
  );
};

const reply = (body: JsonObject, check: Checking): void => {
  if (body.object !== 'response' && (body.error ?? null) !== null) {
    check.text(check.object(body.error, 'error', 'error').message, 'error', 'error.message');
    return;
  }
  checkResponse(body, '', check);
  const { status } = body;
  const isOver = terminals.has(`response.${status}`);
  check.must(isOver, 'status', 'status', 'a status that is over', status);
  checkOutcome(body, '', check);
  if (status !== 'failed' && (body.usage ?? null) !== null) checkUsage(body.usage, '', check);
  for (const [index, item] of check.list(body.output, 'output', 'output').entries()) {
    check.track();
    checkItem(check.object(item, 'item', `output[${index}]`), `output[${index}].`, check);
  }
};

const grammar = (left: readonly ResponsesRule[]): Grammar =>
  grammarOf<ResponsesRule, State>(
    {
      initial: () => ({
        phase: 'new',
        created: undefined,
        createdSum: '',
        next: 0,
        open: new Map(),
        ids: new Set(),
        added: 0,
        done: [],
        raised: undefined,
      }),
      record(state, sse, check) {
        if (sse.data === '[DONE]') {
          check.must(false, 'done-word', '', 'no [DONE]', sse.data);
          return;
        }
        const data = check.data(sse, 'framing', 'json');
        if (data) record(state, data, sse.event, check);
      },
      end: ({ phase, raised }, check) =>
        void check.must(phase === 'over' || raised !== undefined, 'end', '', 'response.completed, or another end'),
      reply,
    },
    left,
  );

/** What a client must get. */
export const responsesClientGrammar = grammar([]);

/** What a server of the format sends: one that follows all of it, or one that is like it. */
export const responsesServerGrammar = (server: 'full' | 'narrow'): Grammar => servers[server];

const servers = { full: grammar(own), narrow: grammar([...own, ...narrow]) };
