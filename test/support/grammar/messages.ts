import { type FactCall, type Facts, type FactUsage, GrammarError, must } from '../facts.ts';

/**
 * Reads a streamed answer of the Messages protocol strictly, as its documentation describes it. Throws a `GrammarError` on any
 * breach. Knows nothing of the code under test.
 */
export const readMessagesStream = (text: string): Facts => {
  const reading = new Reading();
  must(text === '' || text.endsWith('\n\n'), 'the last record has no empty line');
  for (const record of text.split('\n\n').slice(0, -1)) {
    const [eventLine = '', dataLine = '', ...more] = record.split('\n');
    must(
      more.length === 0 && eventLine.startsWith('event: ') && dataLine.startsWith('data: '),
      `bad record: ${record}`,
    );
    const data = object(parse(dataLine.slice(6)), 'data');
    const name = eventLine.slice(7);
    must(data.type === name, `event ${name} carries ${String(data.type)}`);
    reading.event(name, data);
  }
  return reading.facts();
};

/** The same facts from the body of an answer that isn't streamed, or of an error reply. */
export const readMessagesReply = (body: unknown): Facts => {
  const message = object(body, 'body');
  if (message.type === 'error') return { ...nothing, error: errorMessage(message) };
  checkHead(message);
  const content = array(message.content, 'content');
  const drafts = content.map((raw) => {
    const block = object(raw, 'block');
    const type = string(block.type, 'block.type');
    must(type !== 'text' || block.text !== '', 'an empty text block');
    must(type !== 'thinking' || string(block.signature, 'signature') !== '', 'thinking without a signature');
    must(type !== 'tool_use' || isObject(block.input), 'input is no object');
    return draftOf(block);
  });
  return gather(message, drafts, end(message), usageOf([object(message.usage, 'usage')]));
};

type Loose = Record<string, unknown>;

interface Draft {
  readonly block: Loose;
  readonly type: string;
  readonly text: string[];
  readonly json: string[];
  signatures: number;
  signature: string;
}

const draftOf = (block: Loose): Draft => ({
  block,
  type: string(block.type, 'block.type'),
  text: [block.text ?? block.thinking ?? ''].map(String),
  json: [],
  signatures: 0,
  signature: typeof block.signature === 'string' ? block.signature : '',
});

const nothing: Facts = {
  text: '',
  reasoning: '',
  refusal: '',
  toolCalls: [],
  stop: '',
  usage: undefined,
  signatures: [],
  model: '',
  id: '',
  error: undefined,
};

/** Which deltas fit which block; blocks that aren't listed take any. */
const fitting: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  redacted_thinking: [],
  tool_use: ['input_json_delta'],
  server_tool_use: ['input_json_delta'],
  mcp_tool_use: ['input_json_delta'],
  web_search_tool_result: [],
  compaction: ['compaction_delta'],
};

class Reading {
  #message: Loose | undefined;
  readonly #drafts: Draft[] = [];
  #open: Draft | undefined;
  readonly #usages: Loose[] = [];
  #end: Loose | undefined;
  #stopped = false;
  #error: string | undefined;

  event(name: string, data: Loose): void {
    must(!this.#stopped, `${name} after message_stop`);
    must(this.#error === undefined, `${name} after error`);
    if (name === 'ping') return;
    if (name === 'error') {
      this.#error = errorMessage(data);
      return;
    }
    must((name === 'message_start') === (this.#message === undefined), `${name} out of order`);
    switch (name) {
      case 'message_start':
        this.#start(object(data.message, 'message'));
        return;
      case 'content_block_start':
        this.#startBlock(data);
        return;
      case 'content_block_delta':
        this.#delta(data);
        return;
      case 'content_block_stop':
        this.#stopBlock(data);
        return;
      case 'message_delta':
        this.#messageDelta(data);
        return;
      case 'message_stop':
        must(this.#end !== undefined, 'message_stop without message_delta');
        this.#stopped = true;
        return;
      default:
        throw new GrammarError(`unknown event ${name}`);
    }
  }

  facts(): Facts {
    must(this.#stopped || this.#error !== undefined, 'no end');
    if (!this.#message) return { ...nothing, error: this.#error };
    return { ...gather(this.#message, this.#drafts, this.#end, usageOf(this.#usages)), error: this.#error };
  }

  #start(message: Loose): void {
    checkHead(message);
    must(array(message.content, 'content').length === 0, 'message_start has content');
    must(message.stop_reason === null && message.stop_sequence === null, 'message_start has a stop reason');
    this.#usages.push(object(message.usage, 'usage'));
    this.#message = message;
  }

  #startBlock(data: Loose): void {
    must(this.#open === undefined, 'two blocks are open');
    must(this.#end === undefined, 'a block after message_delta');
    must(data.index === this.#drafts.length, `block ${String(data.index)} where ${this.#drafts.length} was due`);
    const block = object(data.content_block, 'content_block');
    const draft = draftOf(block);
    if (draft.type === 'text') must(block.text === '', 'a text block starts with text');
    if (draft.type === 'thinking')
      must(block.thinking === '' && block.signature === '', 'thinking starts with content');
    if (draft.type === 'redacted_thinking') must(string(block.data, 'data') !== '', 'no data');
    if (draft.type === 'tool_use') {
      must(string(block.id, 'id') !== '' && string(block.name, 'name') !== '', 'a tool call without id or name');
    }
    if (draft.type.endsWith('_use')) must(JSON.stringify(block.input) === '{}', 'a tool call starts with input');
    this.#drafts.push(draft);
    this.#open = draft;
  }

  #delta(data: Loose): void {
    const open = this.#opened(data);
    const delta = object(data.delta, 'delta');
    const type = string(delta.type, 'delta.type');
    must(
      Object.hasOwn(fitting, open.type) ? (fitting[open.type]?.includes(type) ?? false) : true,
      `${type} in ${open.type}`,
    );
    must(open.signatures === 0, `${type} after signature_delta`);
    if (type === 'text_delta') open.text.push(string(delta.text, 'text'));
    if (type === 'thinking_delta') open.text.push(string(delta.thinking, 'thinking'));
    if (type === 'input_json_delta') open.json.push(string(delta.partial_json, 'partial_json'));
    if (type === 'citations_delta') string(object(delta.citation, 'citation').type, 'citation.type');
    if (type === 'signature_delta') {
      open.signatures += 1;
      open.signature = string(delta.signature, 'signature');
    }
  }

  #stopBlock(data: Loose): void {
    const open = this.#opened(data);
    must(open.type !== 'text' || open.text.join('') !== '', 'an empty text block');
    must(open.type !== 'thinking' || (open.signatures === 1 && open.signature !== ''), 'thinking without a signature');
    this.#open = undefined;
  }

  #opened(data: Loose): Draft {
    const open = this.#open;
    if (!open || data.index !== this.#drafts.length - 1)
      throw new GrammarError(`block ${String(data.index)} isn't open`);
    return open;
  }

  #messageDelta(data: Loose): void {
    must(this.#open === undefined, 'message_delta inside a block');
    const usage = object(data.usage, 'usage');
    count(usage.output_tokens, 'usage.output_tokens');
    this.#usages.push(usage);
    this.#end = end(object(data.delta, 'delta'));
  }
}

const checkHead = (message: Loose): void => {
  must(message.type === 'message' && message.role === 'assistant', 'no message of the assistant');
  must(/^msg_./.test(string(message.id, 'id')), 'id has no msg_');
  must(string(message.model, 'model') !== '', 'no model');
  const usage = object(message.usage, 'usage');
  count(usage.input_tokens, 'usage.input_tokens');
  count(usage.output_tokens, 'usage.output_tokens');
};

const end = (delta: Loose): Loose => {
  must(string(delta.stop_reason, 'stop_reason') !== '', 'no stop_reason');
  must(delta.stop_sequence === null || typeof delta.stop_sequence === 'string', 'no stop_sequence');
  return delta;
};

const gather = (message: Loose, drafts: readonly Draft[], last: Loose | undefined, usage: FactUsage): Facts => {
  const textOf = (type: string): string => drafts.flatMap((draft) => (draft.type === type ? draft.text : [])).join('');
  return {
    ...nothing,
    text: textOf('text'),
    reasoning: textOf('thinking'),
    toolCalls: drafts.filter(({ type }) => type === 'tool_use').map(callOf),
    stop: typeof last?.stop_reason === 'string' ? last.stop_reason : '',
    usage,
    signatures: drafts.flatMap((draft) => {
      if (draft.type === 'redacted_thinking') return [string(draft.block.data, 'data')];
      return draft.type === 'thinking' ? [draft.signature] : [];
    }),
    model: string(message.model, 'model'),
    id: string(message.id, 'id'),
  };
};

const callOf = ({ block, json }: Draft): FactCall => {
  const written = json.join('');
  const call = { id: string(block.id, 'id'), name: string(block.name, 'name') };
  if (written === '') return { ...call, input: object(block.input, 'input') };
  try {
    return { ...call, input: JSON.parse(written) };
  } catch {
    return { ...call, input: written };
  }
};

/** Later counts win, but for null ones. */
const usageOf = (usages: readonly Loose[]): FactUsage => {
  const merged: Loose = {};
  for (const usage of usages) {
    for (const [name, value] of Object.entries(usage)) if (value !== null) merged[name] = value;
  }
  const cacheRead = count(merged.cache_read_input_tokens ?? 0, 'cache_read_input_tokens');
  const cacheWrite = count(merged.cache_creation_input_tokens ?? 0, 'cache_creation_input_tokens');
  const details = isObject(merged.output_tokens_details) ? merged.output_tokens_details : {};
  return {
    prompt: count(merged.input_tokens, 'input_tokens') + cacheRead + cacheWrite,
    cacheRead,
    cacheWrite,
    output: count(merged.output_tokens, 'output_tokens'),
    reasoning: count(details.thinking_tokens ?? 0, 'thinking_tokens'),
  };
};

const errorMessage = (data: Loose): string => {
  const error = object(data.error, 'error');
  must(string(error.type, 'error.type').endsWith('_error') || error.type === 'request_too_large', 'unknown error.type');
  return string(error.message, 'error.message');
};

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    throw new GrammarError(`data is no JSON: ${text}`);
  }
};

const isObject = (value: unknown): value is Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const object = (value: unknown, what: string): Loose => {
  if (isObject(value)) return value;
  throw new GrammarError(`${what} is no object`);
};

const array = (value: unknown, what: string): readonly unknown[] => {
  if (Array.isArray(value)) return value;
  throw new GrammarError(`${what} is no array`);
};

const string = (value: unknown, what: string): string => {
  if (typeof value === 'string') return value;
  throw new GrammarError(`${what} is no string`);
};

const count = (value: unknown, what: string): number => {
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new GrammarError(`${what} is no count`);
};
