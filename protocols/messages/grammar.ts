import { type Check, type Grammar, grammarOf, ObjectShape } from '../../engine/model/grammar.ts';
import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json/json.ts';
import type { MessagesServer } from './dialect.ts';

/*
 * The rules of Messages. Source: Anthropic documentation, "Streaming messages" (order of events, deltas, errors), "Messages" (reply,
 * stop reasons, usage) and "Extended thinking" (signatures), as of November 2026; recorded traffic.
 */

type MessagesRule =
  /** Records stand in `data:` lines. */
  | 'framing'
  /** A record is a JSON object. */
  | 'json'
  /** The `event:` line is the record's `type`. */
  | 'event-line'
  /** The type is one of the documentation. */
  | 'event-type'
  /** `message_start`, blocks, `message_delta`, `message_stop`; nothing behind the end or an error. */
  | 'order'
  /** The stream has an end. */
  | 'end'
  /** The message's own members. */
  | 'message'
  /** Ids begin with `msg_`. */
  | 'message-id'
  /** Counts of tokens. */
  | 'usage'
  /** Blocks are numbered from 0, one at a time. */
  | 'block-order'
  /** A block begins empty, and a call with its id and name. */
  | 'block-start'
  /** The delta is one of its block. */
  | 'delta'
  /** No text block is empty. */
  | 'empty-text'
  /** Thinking is signed once, at its end. */
  | 'signature'
  /** Why the answer ended. */
  | 'stop-reason'
  /** Each call's input is a JSON object once the model stops for its calls. */
  | 'input'
  | 'error';

/** Rules for this gateway's answers alone: the vendor may add types of events, and each server has ids of its own. */
const own: readonly MessagesRule[] = ['event-type', 'message-id', 'empty-text'];

/** Rules that other servers of the format are known to break: they sign nothing. Source: the vendors' pages on their Messages endpoints. */
const unsigned: readonly MessagesRule[] = ['signature'];

interface Open {
  readonly index: number;
  readonly type: string;
  isEmpty: boolean;
  signatures: number;
  /** Of a call of a tool. */
  readonly input: ObjectShape | undefined;
}

interface State {
  phase: 'new' | 'content' | 'finished' | 'over';
  open: Open | undefined;
  blocks: number;
  /** The first call whose input isn't an object. */
  broken: number | undefined;
}

type Checking = Check<MessagesRule>;

const record = (state: State, data: JsonObject, check: Checking): void => {
  const { type } = data;
  if (state.phase === 'over') {
    check.must(false, 'order', 'type', 'no record behind the end', type);
    return;
  }
  if (type === 'ping') return;
  if (type === 'error') {
    state.phase = 'over';
    checkError(data, check);
    return;
  }
  if (type === 'message_start') {
    check.must(state.phase === 'new', 'order', 'type', 'one message_start', type);
    if (state.phase === 'new') state.phase = 'content';
    start(check.object(data.message, 'message', 'message'), check);
    return;
  }
  if (state.phase === 'new') {
    check.must(false, 'order', 'type', '"message_start" first', type);
    state.phase = 'content';
  }
  switch (type) {
    case 'content_block_start':
      check.must(state.phase === 'content', 'order', 'type', 'no block behind message_delta', type);
      startBlock(state, data, check);
      return;
    case 'content_block_delta':
      delta(state, data, check);
      return;
    case 'content_block_stop':
      stopBlock(state, data, check);
      return;
    case 'message_delta':
      check.must(state.open === undefined, 'order', 'type', 'content_block_stop', type);
      state.phase = 'finished';
      check.count(check.object(data.usage, 'usage', 'usage').output_tokens, 'usage', 'usage.output_tokens');
      finish(state, check.object(data.delta, 'stop-reason', 'delta'), check);
      return;
    case 'message_stop':
      check.must(state.phase === 'finished', 'order', 'type', '"message_delta" before it', type);
      state.phase = 'over';
      return;
    default:
      check.must(false, 'event-type', 'type', 'a known type of event', type);
  }
};

const start = (message: JsonObject, check: Checking): void => {
  checkHead(message, 'message.', check);
  check.must(isEmptyList(message.content), 'message', 'message.content', 'an empty list', message.content);
  for (const name of ['stop_reason', 'stop_sequence']) {
    check.must((message[name] ?? null) === null, 'message', `message.${name}`, 'null', message[name]);
  }
};

const isEmptyList = (value: Json | undefined): boolean => Array.isArray(value) && value.length === 0;

const checkHead = (message: JsonObject, at: string, check: Checking): void => {
  check.must(message.type === 'message', 'message', `${at}type`, '"message"', message.type);
  check.must(message.role === 'assistant', 'message', `${at}role`, '"assistant"', message.role);
  const id = check.name(message.id, 'message', `${at}id`);
  check.must(id.startsWith('msg_'), 'message-id', `${at}id`, 'an id that begins with msg_', message.id);
  check.name(message.model, 'message', `${at}model`);
  const usage = check.object(message.usage, 'usage', `${at}usage`);
  for (const name of ['input_tokens', 'output_tokens']) check.count(usage[name], 'usage', `${at}usage.${name}`);
};

const checkStop = (holder: JsonObject, at: string, check: Checking): void => {
  check.name(holder.stop_reason, 'stop-reason', `${at}stop_reason`);
  const { stop_sequence: sequence } = holder;
  const isSequence = sequence === null || typeof sequence === 'string';
  check.must(isSequence, 'stop-reason', `${at}stop_sequence`, 'a text or null', sequence);
};

const finish = ({ broken }: State, change: JsonObject, check: Checking): void => {
  checkStop(change, 'delta.', check);
  const isWhole = change.stop_reason !== 'tool_use' || broken === undefined;
  check.must(
    isWhole,
    'input',
    'delta.stop_reason',
    `a JSON object as input of the call in block ${broken}`,
    change.stop_reason,
  );
};

/** Blocks whose deltas are known. Others take any. */
const deltas: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  redacted_thinking: [],
  tool_use: ['input_json_delta'],
  server_tool_use: ['input_json_delta'],
  mcp_tool_use: ['input_json_delta'],
  web_search_tool_result: [],
  compaction: ['compaction_delta'],
};

/** The text of each delta. */
const texts: Readonly<Record<string, string>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  signature_delta: 'signature',
  input_json_delta: 'partial_json',
};

const startBlock = (state: State, data: JsonObject, check: Checking): void => {
  check.track();
  check.must(state.open === undefined, 'block-order', 'index', 'content_block_stop of the open block', data.index);
  check.must(data.index === state.blocks, 'block-order', 'index', String(state.blocks), data.index);
  const block = check.object(data.content_block, 'block-start', 'content_block');
  const type = check.name(block.type, 'block-start', 'content_block.type');
  const empty = (name: string): void => {
    check.must(block[name] === '', 'block-start', `content_block.${name}`, 'an empty text', block[name]);
  };
  if (type === 'text') empty('text');
  if (type === 'thinking') empty('thinking');
  if (type === 'redacted_thinking') check.name(block.data, 'block-start', 'content_block.data');
  if (type.endsWith('_use')) {
    check.name(block.id, 'block-start', 'content_block.id');
    check.name(block.name, 'block-start', 'content_block.name');
    const { input } = block;
    const isEmpty = isJsonObject(input) && Object.keys(input).length === 0;
    check.must(isEmpty, 'block-start', 'content_block.input', 'an empty object', input);
  }
  const index = typeof data.index === 'number' ? data.index : state.blocks;
  const shape = type === 'tool_use' ? new ObjectShape() : undefined;
  state.open = { index, type, isEmpty: true, signatures: 0, input: shape };
};

const opened = (state: State, data: JsonObject, check: Checking): Open | undefined => {
  const { open } = state;
  check.must(open !== undefined && data.index === open.index, 'block-order', 'index', place(open), data.index);
  return open;
};

const place = (open: Open | undefined): string =>
  open ? `${open.index}, the open block` : 'content_block_start first';

const delta = (state: State, data: JsonObject, check: Checking): void => {
  const open = opened(state, data, check);
  const change = check.object(data.delta, 'delta', 'delta');
  const type = check.name(change.type, 'delta', 'delta.type');
  const member = texts[type];
  const text = member === undefined ? '' : check.text(change[member], 'delta', `delta.${member}`);
  if (type === 'citations_delta') {
    check.name(check.object(change.citation, 'delta', 'delta.citation').type, 'delta', 'delta.citation.type');
  }
  if (!open) return;
  const fitting = Object.hasOwn(deltas, open.type) ? deltas[open.type] : undefined;
  const expected = `a delta of a ${open.type} block`;
  check.must(fitting?.includes(type) ?? true, 'delta', 'delta.type', expected, change.type);
  check.must(open.signatures === 0, 'signature', 'delta.type', 'no delta behind the signature', change.type);
  if (text !== '') open.isEmpty = false;
  if (type === 'input_json_delta') open.input?.add(text);
  if (type !== 'signature_delta') return;
  open.signatures += 1;
  check.must(text !== '', 'signature', 'delta.signature', 'a text that is not empty', text);
};

const stopBlock = (state: State, data: JsonObject, check: Checking): void => {
  const open = opened(state, data, check);
  state.open = undefined;
  if (!open) return;
  state.blocks = open.index + 1;
  if (open.input && !open.input.isEmpty && !open.input.isWhole) state.broken ??= open.index;
  check.must(open.type !== 'text' || !open.isEmpty, 'empty-text', '', 'a text block with text');
  check.must(open.type !== 'thinking' || open.signatures > 0, 'signature', '', 'signature_delta in the thinking block');
};

/** Source: Anthropic API reference, "Errors". */
const checkError = (data: JsonObject, check: Checking): void => {
  const error = check.object(data.error, 'error', 'error');
  const type = check.name(error.type, 'error', 'error.type');
  const isKnown = type.endsWith('_error') || type === 'request_too_large';
  check.must(isKnown, 'error', 'error.type', 'a type that ends with _error', error.type);
  check.text(error.message, 'error', 'error.message');
};

const reply = (body: JsonObject, check: Checking): void => {
  if (body.type === 'error') {
    checkError(body, check);
    return;
  }
  checkHead(body, '', check);
  checkStop(body, '', check);
  for (const [index, item] of check.list(body.content, 'message', 'content').entries()) {
    check.track();
    const at = `content[${index}]`;
    const block = check.object(item, 'message', at);
    const type = check.name(block.type, 'message', `${at}.type`);
    check.must(
      type !== 'text' || block.text !== '',
      'empty-text',
      `${at}.text`,
      'a text that is not empty',
      block.text,
    );
    if (type === 'thinking') check.name(block.signature, 'signature', `${at}.signature`);
    if (!type.endsWith('_use')) continue;
    check.name(block.id, 'message', `${at}.id`);
    check.name(block.name, 'message', `${at}.name`);
    check.object(block.input, 'message', `${at}.input`);
  }
};

const grammar = (left: readonly MessagesRule[]): Grammar =>
  grammarOf<MessagesRule, State>(
    {
      initial: () => ({ phase: 'new', open: undefined, blocks: 0, broken: undefined }),
      record(state, sse, check) {
        const data = check.data(sse, 'framing', 'json');
        if (!data) return;
        check.must(
          data.type === sse.event,
          'event-line',
          'type',
          `the type of the event line, ${JSON.stringify(sse.event)}`,
          data.type,
        );
        record(state, data, check);
      },
      end: ({ phase }, check) => void check.must(phase === 'over', 'end', '', 'message_stop or an error'),
      reply,
    },
    left,
  );

/** Rules for an answer to a client; a call's input is the model's own. */
export const messagesClientGrammar = grammar(['input']);

/** Rules for a server of the format. */
export const messagesServerGrammar = (server: MessagesServer): Grammar => servers[server];

const signing = grammar(own);
const servers = { vendor: signing, cloud: signing, any: grammar([...own, ...unsigned]) };
