import { isDeepStrictEqual } from 'node:util';
import { recordsOf } from '../events.ts';
import { type FactCall, type Facts, type FactUsage, GrammarError, must } from '../facts.ts';

/** Everything a stream of this protocol may hold. Source: OpenAI API reference, "Streaming events". */
const known = new Set([
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

const hosted = new RegExp(
  `^response\\.(${[
    '(web_search|file_search)_call\\.(in_progress|searching|completed)',
    'code_interpreter_call\\.(in_progress|interpreting|completed)',
    'code_interpreter_call_code\\.(delta|done)',
    'image_generation_call\\.(in_progress|generating|partial_image|completed)',
    'mcp_(list_tools|call)\\.(in_progress|completed|failed)',
    'mcp_call_arguments\\.(delta|done)',
  ].join('|')})$`,
);

type Members = Record<string, unknown>;

interface PartTrack {
  readonly type: string;
  readonly deltas: string[];
  readonly annotations: unknown[];
  text: string | undefined;
  whole: Members | undefined;
}

interface ItemTrack {
  readonly id: string;
  readonly type: string;
  readonly added: Members;
  readonly parts: PartTrack[];
  readonly summary: PartTrack[];
  readonly input: string[];
  inputDone: string | undefined;
  done: Members | undefined;
}

/**
 * Reads a Responses stream as a strict client does. Throws a `GrammarError` for whatever breaks the protocol's rules: names,
 * numbering, order, ids, and wholes that differ from their pieces.
 */
export const readResponsesStream = (text: string): Facts => {
  const items: ItemTrack[] = [];
  let count = 0;
  let created: Members | undefined;
  let terminal: Members | undefined;
  let raised: Members | undefined;
  for (const record of recordsOf(new TextEncoder().encode(text))) {
    const event = objectOf(JSON.parse(record.data), 'an event');
    const type = textOf(event.type, 'type');
    must(type === record.event, `event line '${record.event}' over type '${type}'`);
    must(known.has(type) || hosted.test(type), `unknown event '${type}'`);
    must(terminal === undefined, `${type} after the end`);
    must(event.sequence_number === count, `sequence number ${event.sequence_number} where ${count} was due`);
    must(type === 'error' || !event.error, 'an event with an error member makes clients throw');
    must(raised === undefined || type === 'response.failed', `${type} between an error and response.failed`);
    if (type === 'error') {
      must(count > 1, 'an error before the answer has begun');
      raised = objectOf(event.error, 'error');
    } else if (count === 0) {
      must(type === 'response.created', `the stream begins with ${type}`);
      created = objectOf(event.response, 'response');
      checkBegun(created);
    } else if (count === 1) {
      must(type === 'response.in_progress', `${type} where response.in_progress was due`);
      must(isDeepStrictEqual(event.response, created), 'created and in_progress differ');
    } else if (isTerminal(type)) {
      terminal = objectOf(event.response, 'response');
      checkTerminal(type, terminal, created, items);
      checkRaised(terminal, raised);
    } else {
      readItemEvent(type, event, items);
    }
    count += 1;
  }
  must(terminal !== undefined, 'no terminal event');
  return factsOf(terminal ?? {});
};

/** Reads a whole response object; throws a `GrammarError` when it isn't one. */
export const readResponsesReply = (body: unknown): Facts => {
  const response = objectOf(body, 'the body');
  checkResponse(response);
  must(isTerminal(`response.${response.status}`), `status ${response.status} in a whole reply`);
  for (const item of listOf(response.output, 'output')) checkItem(objectOf(item, 'an item'));
  return factsOf(response);
};

const isTerminal = (type: string): boolean => /^response\.(completed|incomplete|failed)$/.test(type);

const checkBegun = (response: Members): void => {
  checkResponse(response);
  must(response.status === 'in_progress', `begins with status ${response.status}`);
  must(listOf(response.output, 'output').length === 0, 'begins with output');
  must(response.usage === null, 'begins with usage');
};

const nullable = ['error', 'incomplete_details', 'instructions', 'max_output_tokens', 'previous_response_id', 'usage'];

const checkResponse = (response: Members): void => {
  must(response.object === 'response', `object ${response.object}`);
  must(/^resp_./.test(textOf(response.id, 'id')), `id ${response.id}`);
  must(textOf(response.model, 'model') !== '', 'no model');
  must(Number.isInteger(response.created_at), 'created_at is no whole number of seconds');
  must(!('output_text' in response), 'output_text is no member of the wire');
  must(typeof response.parallel_tool_calls === 'boolean', 'parallel_tool_calls');
  must(response.store === false, 'store');
  for (const member of ['presence_penalty', 'frequency_penalty']) must(typeof response[member] === 'number', member);
  listOf(response.tools, 'tools');
  objectOf(response.text, 'text');
  objectOf(response.metadata, 'metadata');
  must(['string', 'object'].includes(typeof response.tool_choice), 'tool_choice');
  for (const member of nullable) must(member in response, `no ${member}`);
  for (const member of ['temperature', 'top_p', 'reasoning', 'truncation', 'user', 'completed_at'])
    must(member in response, `no ${member}`);
};

const checkTerminal = (type: string, response: Members, created: Members | undefined, items: ItemTrack[]): void => {
  checkResponse(response);
  must(type === `response.${response.status}`, `${type} with status ${response.status}`);
  for (const member of ['id', 'model', 'created_at', 'tools', 'instructions', 'tool_choice']) {
    must(isDeepStrictEqual(response[member], created?.[member]), `${member} changed on the way`);
  }
  const failed = response.status === 'failed';
  must(failed === (response.error !== null), `status ${response.status} with error ${JSON.stringify(response.error)}`);
  must((response.status === 'incomplete') === (response.incomplete_details !== null), 'incomplete_details');
  must(failed || items.every(({ done }) => done !== undefined), 'an item is not done');
  const sent = items.flatMap(({ done }) => (done ? [done] : []));
  must(isDeepStrictEqual(response.output, sent), 'the terminal output differs from the items sent');
  if (!failed) must(response.usage !== null, 'no usage at the end');
};

/** Client libraries raise on the `error` event alone, so a failure has one, and both say the same. */
const checkRaised = (terminal: Members, raised: Members | undefined): void => {
  must(
    (terminal.status === 'failed') === (raised !== undefined),
    'a failure without an error event, or one without a failure',
  );
  if (!raised) return;
  const { code, message } = objectOf(terminal.error, 'error');
  must(raised.message === message, 'the error event and response.failed differ in their message');
  must(raised.code === null || raised.code === code, 'the error event and response.failed differ in their code');
  must(textOf(raised.type, 'error.type') !== '' && 'param' in raised, 'an error without type or param');
};

const readItemEvent = (type: string, event: Members, items: ItemTrack[]): void => {
  if (type === 'response.output_item.added') {
    must(event.output_index === items.length, `item ${event.output_index} where ${items.length} was due`);
    const before = items.at(-1);
    must(before === undefined || before.done !== undefined, 'items overlap');
    items.push(newItem(objectOf(event.item, 'item'), items));
    return;
  }
  must(Number.isInteger(event.output_index), `${type} without output_index`);
  const item = items[Number(event.output_index)];
  if (item === undefined) throw fault(`${type} for an item that was not added`);
  must(item.done === undefined, `${type} after its item was done`);
  if (type === 'response.output_item.done') {
    item.done = objectOf(event.item, 'item');
    checkDone(item, item.done);
    return;
  }
  must(event.item_id === item.id, `item_id ${event.item_id} is not ${item.id}`);
  if (type.startsWith('response.reasoning_summary')) readPartEvent(type, event, item, item.summary, 'summary_index');
  else if (type.startsWith('response.content_part') || /_text|refusal/.test(type)) {
    readPartEvent(type, event, item, item.parts, 'content_index');
  } else if (/function_call_arguments|custom_tool_call_input/.test(type)) readInputEvent(type, event, item);
  else must(type.startsWith(`response.${item.type}`), `${type} in a ${item.type}`);
};

const newItem = (added: Members, items: readonly ItemTrack[]): ItemTrack => {
  const id = textOf(added.id, 'item.id');
  const type = textOf(added.type, 'item.type');
  must(
    items.every((item) => item.id !== id),
    `item id ${id} repeated`,
  );
  checkItem(added);
  if (type === 'message') {
    must(listOf(added.content, 'content').length === 0, 'a message is added with content');
    must(added.role === 'assistant', `role ${added.role}`);
  }
  if (type === 'reasoning') must(listOf(added.summary, 'summary').length === 0, 'reasoning is added with a summary');
  if (type === 'function_call') must(added.arguments === '', 'a call is added with arguments');
  if (type === 'custom_tool_call') must(added.input === '', 'a call is added with input');
  if (/^(message|function_call|custom_tool_call)$/.test(type)) {
    must(added.status === 'in_progress', `added with status ${added.status}`);
  }
  return { id, type, added, parts: [], summary: [], input: [], inputDone: undefined, done: undefined };
};

const prefixes: Readonly<Record<string, string>> = {
  message: 'msg_',
  reasoning: 'rs_',
  function_call: 'fc_',
  custom_tool_call: 'ctc_',
};

const checkItem = (item: Members): void => {
  const type = textOf(item.type, 'item.type');
  const id = textOf(item.id, 'item.id');
  must(id.startsWith(prefixes[type] ?? ''), `${type} with the id ${id}`);
  if (type === 'function_call' || type === 'custom_tool_call') {
    must(textOf(item.call_id, 'call_id') !== '', 'no call_id');
    must(textOf(item.name, 'name') !== '', 'no name');
    textOf(type === 'function_call' ? item.arguments : item.input, 'input');
  }
  if (type === 'message') listOf(item.content, 'content');
  if (type === 'reasoning') listOf(item.summary, 'summary');
};

const readPartEvent = (
  type: string,
  event: Members,
  item: ItemTrack,
  parts: PartTrack[],
  indexName: 'summary_index' | 'content_index',
): void => {
  const index = event[indexName];
  must(Number.isInteger(index), `${type} without ${indexName}`);
  if (type.endsWith('part.added')) {
    must(index === parts.length, `part ${index} where ${parts.length} was due`);
    const before = parts.at(-1);
    must(before === undefined || before.whole !== undefined, 'parts overlap');
    parts.push(newPart(item, objectOf(event.part, 'part')));
    return;
  }
  const part = parts[Number(index)];
  if (part === undefined) throw fault(`${type} before its part was added`);
  must(part.whole === undefined, `${type} after its part was done`);
  if (type.endsWith('part.done')) {
    part.whole = objectOf(event.part, 'part');
    must(part.text !== undefined, 'a part is done before its text');
    must(textOfPart(part.whole) === part.text, 'the part differs from its text');
    must(part.whole.type === part.type, 'the part changed its type');
    if (part.type === 'output_text') {
      must(isDeepStrictEqual(part.whole.annotations, part.annotations), 'annotations differ from those sent');
    }
    return;
  }
  must(part.text === undefined, `${type} after its text was done`);
  must(type.startsWith(partEvents[part.type] ?? '?'), `${type} in a part of type ${part.type}`);
  if (type.endsWith('.annotation.added')) {
    must(event.annotation_index === part.annotations.length, `annotation ${event.annotation_index}`);
    part.annotations.push(event.annotation);
  } else if (type.endsWith('.delta')) {
    part.deltas.push(deltaOf(event));
  } else {
    part.text = textOf(event.text ?? event.refusal, `${type}.text`);
    must(part.text === part.deltas.join(''), `${type} differs from its deltas`);
  }
};

const partEvents: Readonly<Record<string, string>> = {
  output_text: 'response.output_text',
  refusal: 'response.refusal',
  summary_text: 'response.reasoning_summary_text',
  reasoning_text: 'response.reasoning_text',
};

const newPart = (item: ItemTrack, part: Members): PartTrack => {
  const type = textOf(part.type, 'part.type');
  must(type in partEvents, `part of type ${type}`);
  const home = type === 'summary_text' || type === 'reasoning_text' ? 'reasoning' : 'message';
  must(item.type === home, `${type} in a ${item.type}`);
  must(textOfPart(part) === '', 'a part is added with text');
  if (type === 'output_text') must(listOf(part.annotations, 'annotations').length === 0, 'added with annotations');
  return { type, deltas: [], annotations: [], text: undefined, whole: undefined };
};

const textOfPart = (part: Members): string => textOf(part.type === 'refusal' ? part.refusal : part.text, 'part text');

const readInputEvent = (type: string, event: Members, item: ItemTrack): void => {
  const home = type.startsWith('response.function_call') ? 'function_call' : 'custom_tool_call';
  must(item.type === home, `${type} in a ${item.type}`);
  must(item.inputDone === undefined, `${type} after its input was done`);
  if (type.endsWith('.delta')) item.input.push(deltaOf(event));
  else {
    item.inputDone = textOf(event.arguments ?? event.input, 'input');
    must(item.inputDone === item.input.join(''), `${type} differs from its deltas`);
  }
};

const deltaOf = (event: Members): string => {
  const delta = textOf(event.delta, 'delta');
  must(delta !== '', 'an empty delta');
  return delta;
};

const checkDone = ({ added, id, type, parts, summary, inputDone }: ItemTrack, done: Members): void => {
  checkItem(done);
  must(done.id === id && done.type === type, 'an item changed its id or type');
  must(done.status !== 'in_progress', 'done in progress');
  const wholes = (tracks: readonly PartTrack[]) => tracks.map(({ whole }) => whole);
  switch (type) {
    case 'message':
      must(parts.length > 0, 'a message without content');
      must(isDeepStrictEqual(done.content, wholes(parts)), 'the message differs from its parts');
      break;
    case 'reasoning':
      must(isDeepStrictEqual(done.summary, wholes(summary)), 'the summary differs from its parts');
      must(isDeepStrictEqual(done.content ?? [], wholes(parts)), 'the reasoning differs from its parts');
      break;
    case 'function_call':
    case 'custom_tool_call':
      must(inputDone !== undefined, 'a call is done before its input');
      must((type === 'function_call' ? done.arguments : done.input) === inputDone, 'the call differs from its input');
      for (const member of ['call_id', 'name', 'namespace']) must(done[member] === added[member], `${member} changed`);
  }
};

const factsOf = (response: Members): Facts => {
  const items = listOf(response.output, 'output').map((item) => objectOf(item, 'an item'));
  const content = items
    .filter(({ type }) => type === 'message')
    .flatMap((item) => listOf(item.content, 'content').map((part) => objectOf(part, 'a part')));
  const reasoning = items.filter(({ type }) => type === 'reasoning');
  const thoughts = reasoning
    .flatMap((item) => [...listOf(item.summary, 'summary'), ...listOf(item.content ?? [], 'content')])
    .map((part) => textOfPart(objectOf(part, 'a part')));
  const why = response.incomplete_details === null ? undefined : objectOf(response.incomplete_details, 'why');
  return {
    text: content.flatMap((part) => (part.type === 'output_text' ? [textOfPart(part)] : [])).join(''),
    reasoning: thoughts.join(''),
    refusal: content.flatMap((part) => (part.type === 'refusal' ? [textOfPart(part)] : [])).join(''),
    toolCalls: items.flatMap(callOf),
    stop: textOf(why?.reason ?? response.status, 'stop'),
    usage: usageOf(response.usage),
    signatures: reasoning.flatMap((item) =>
      typeof item.encrypted_content === 'string' ? [item.encrypted_content] : [],
    ),
    model: textOf(response.model, 'model'),
    id: textOf(response.id, 'id'),
    error: response.error === null ? undefined : errorOf(objectOf(response.error, 'error')),
  };
};

const callOf = (item: Members): readonly FactCall[] => {
  if (item.type !== 'function_call' && item.type !== 'custom_tool_call') return [];
  const input = textOf(item.arguments ?? item.input, 'input');
  return [
    {
      id: textOf(item.call_id, 'call_id'),
      name: textOf(item.name, 'name'),
      input: item.type === 'function_call' ? parsed(input) : input,
    },
  ];
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

const errorOf = (error: Members): string => {
  must(textOf(error.code, 'error.code') !== '', 'an error without code');
  return textOf(error.message, 'error.message');
};

const usageOf = (value: unknown): FactUsage | undefined => {
  if (value === null) return undefined;
  const usage = objectOf(value, 'usage');
  const input = objectOf(usage.input_tokens_details, 'input_tokens_details');
  const output = objectOf(usage.output_tokens_details, 'output_tokens_details');
  const counts = {
    prompt: countOf(usage.input_tokens),
    cacheRead: countOf(input.cached_tokens),
    cacheWrite: countOf(input.cache_write_tokens ?? 0),
    output: countOf(usage.output_tokens),
    reasoning: countOf(output.reasoning_tokens),
  };
  must(countOf(usage.total_tokens) === counts.prompt + counts.output, 'total_tokens is no sum');
  must(counts.cacheRead + counts.cacheWrite <= counts.prompt, 'more cached than read');
  return counts;
};

const countOf = (value: unknown): number => {
  must(Number.isInteger(value) && Number(value) >= 0, `${value} is no count`);
  return Number(value);
};

const fault = (message: string): GrammarError => new GrammarError(message);

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const objectOf = (value: unknown, what: string): Members => {
  if (!isObject(value)) throw fault(`${what} is no object`);
  return value;
};

const listOf = (value: unknown, what: string): readonly unknown[] => {
  if (!Array.isArray(value)) throw fault(`${what} is no list`);
  return value;
};

const textOf = (value: unknown, what: string): string => {
  if (typeof value !== 'string') throw fault(`${what} is no text`);
  return value;
};
