import { type FactCall, type Facts, type FactUsage, GrammarError, must } from '../facts.ts';

type Loose = Record<string, unknown>;

const isObject = (value: unknown): value is Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const object = (value: unknown, what: string): Loose => {
  if (!isObject(value)) throw new GrammarError(`${what} is no object`);
  return value;
};

const list = (value: unknown, what: string): readonly unknown[] => {
  if (!Array.isArray(value)) throw new GrammarError(`${what} is no array`);
  return value;
};

const text = (value: unknown, what: string): string => {
  if (typeof value !== 'string') throw new GrammarError(`${what} is no text`);
  return value;
};

const count = (value: unknown, what: string): number => {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) throw new GrammarError(`${what} is no count`);
  return value;
};

const finishReasons: ReadonlySet<unknown> = new Set(['stop', 'length', 'tool_calls', 'content_filter']);

const parsed = (json: string): unknown => {
  try {
    return JSON.parse(json);
  } catch {
    return json;
  }
};

const readUsage = (value: unknown): FactUsage => {
  const usage = object(value, 'usage');
  const prompt = count(usage.prompt_tokens, 'prompt_tokens');
  const output = count(usage.completion_tokens, 'completion_tokens');
  must(count(usage.total_tokens, 'total_tokens') === prompt + output, 'total_tokens is not the sum');
  const input = object(usage.prompt_tokens_details, 'prompt_tokens_details');
  const out = object(usage.completion_tokens_details, 'completion_tokens_details');
  return {
    prompt,
    output,
    cacheRead: count(input.cached_tokens, 'cached_tokens'),
    cacheWrite: input.cache_write_tokens === undefined ? 0 : count(input.cache_write_tokens, 'cache_write_tokens'),
    reasoning: count(out.reasoning_tokens, 'reasoning_tokens'),
  };
};

/** The payload of an entry of `reasoning_details`, if it has one. */
const readDetail = (value: unknown): string | undefined => {
  const entry = object(value, 'an entry of reasoning_details');
  must(text(entry.type, 'its type').startsWith('reasoning.'), 'an unknown kind of reasoning');
  if (entry.type === 'reasoning.text') text(entry.text, 'reasoning text');
  const payload = entry.type === 'reasoning.encrypted' ? entry.data : entry.signature;
  return payload === undefined ? undefined : text(payload, 'a payload');
};

const readAnnotation = (value: unknown): void => {
  const annotation = object(value, 'an annotation');
  must(annotation.type === 'url_citation', 'an unknown annotation');
  const citation = object(annotation.url_citation, 'url_citation');
  text(citation.url, 'its url');
  text(citation.title, 'its title');
  must(
    count(citation.start_index, 'start_index') <= count(citation.end_index, 'end_index'),
    'a citation runs backwards',
  );
};

const readError = (body: Loose): string => {
  const error = object(body.error, 'error');
  text(error.type, 'error.type');
  for (const name of ['param', 'code']) {
    must(error[name] === null || typeof error[name] === 'string', `error.${name} is neither text nor null`);
  }
  return text(error.message, 'error.message');
};

interface Call {
  readonly id: string;
  readonly name: string;
  readonly custom: boolean;
  readonly pieces: string[];
}

const finishCall = ({ id, name, custom, pieces }: Call): FactCall => {
  const input = pieces.join('');
  return { id, name, input: custom ? input : parsed(input) };
};

interface Seen {
  head: string;
  id: string;
  model: string;
  role: boolean;
  finish: string;
  usage: FactUsage | undefined;
  error: string | undefined;
  done: boolean;
  readonly text: string[];
  readonly refusal: string[];
  readonly reasoning: string[];
  readonly signatures: string[];
  readonly calls: Call[];
}

const records = (stream: string): string[] => {
  must(stream === '' || stream.endsWith('\n\n'), 'the last record lacks its empty line');
  const datas: string[] = [];
  for (const record of stream.split('\n\n').slice(0, -1)) {
    if (record.startsWith(':')) continue;
    must(record.startsWith('data: ') && !record.includes('\n'), `not a single data line: ${record}`);
    datas.push(record.slice('data: '.length));
  }
  return datas;
};

const readFragment = (seen: Seen, value: unknown): void => {
  const fragment = object(value, 'a tool call');
  const index = count(fragment.index, 'its index');
  const custom = fragment.custom !== undefined;
  const body = object(custom ? fragment.custom : fragment.function, 'its body');
  const input = custom ? body.input : body.arguments;
  const call = seen.calls[index];
  if (!call) {
    must(index === seen.calls.length, `call ${index} leaves a gap`);
    must(fragment.type === (custom ? 'custom' : 'function'), 'a call begins without its type');
    const begun = { id: text(fragment.id, 'its id'), name: text(body.name, 'its name'), custom, pieces: [] };
    must(begun.id !== '' && begun.name !== '', 'a call begins without id or name');
    must(!seen.calls.some(({ id }) => id === begun.id), 'two calls have the same id');
    seen.calls.push({ ...begun, pieces: [text(input, 'its arguments')] });
    return;
  }
  must(fragment.id === undefined && fragment.type === undefined && body.name === undefined, 'a call begins twice');
  must(call.custom === custom, 'a call changes its kind');
  call.pieces.push(text(input, 'its arguments'));
};

const readDelta = (seen: Seen, delta: Loose): void => {
  const members = ['role', 'content', 'refusal', 'tool_calls', 'reasoning_content', 'reasoning_details', 'annotations'];
  for (const name of Object.keys(delta)) must(members.includes(name), `an unknown member of delta: ${name}`);
  if (seen.role) must(delta.role === undefined, 'the role comes twice');
  else {
    must(delta.role === 'assistant', 'the first chunk lacks the role');
    seen.role = true;
  }
  if (delta.content !== undefined) seen.text.push(text(delta.content, 'content'));
  if (delta.refusal !== undefined) seen.refusal.push(text(delta.refusal, 'refusal'));
  if (delta.reasoning_content !== undefined) seen.reasoning.push(text(delta.reasoning_content, 'reasoning_content'));
  for (const entry of list(delta.reasoning_details ?? [], 'reasoning_details')) {
    const payload = readDetail(entry);
    if (payload !== undefined) seen.signatures.push(payload);
  }
  for (const annotation of list(delta.annotations ?? [], 'annotations')) readAnnotation(annotation);
  for (const fragment of list(delta.tool_calls ?? [], 'tool_calls')) readFragment(seen, fragment);
};

const readChunk = (seen: Seen, chunk: Loose): void => {
  must(chunk.object === 'chat.completion.chunk', 'not a chunk');
  const id = text(chunk.id, 'id');
  const model = text(chunk.model, 'model');
  must(id !== '' && model !== '', 'an empty id or model');
  const head = JSON.stringify([id, count(chunk.created, 'created'), model]);
  must(seen.head === '' || seen.head === head, 'id, created or model changes');
  Object.assign(seen, { head, id, model });
  const choices = list(chunk.choices, 'choices');
  must(choices.length <= 1, 'several choices');
  if (choices.length === 0) {
    must(seen.finish !== '', 'the usage comes before the finish');
    must(seen.usage === undefined, 'the usage comes twice');
    seen.usage = readUsage(chunk.usage);
    return;
  }
  must(chunk.usage === undefined || chunk.usage === null, 'usage beside a choice');
  must(seen.finish === '', 'content or a second finish after the finish');
  const choice = object(choices[0], 'a choice');
  must(choice.index === 0, 'a choice of another index');
  const delta = object(choice.delta, 'delta');
  if (choice.finish_reason === null) {
    must(Object.keys(delta).length > 0, 'an empty delta');
    readDelta(seen, delta);
    return;
  }
  must(seen.role, 'the first chunk lacks the role');
  must(Object.keys(delta).length === 0, 'content beside the finish');
  must(finishReasons.has(choice.finish_reason), `an unknown finish reason ${choice.finish_reason}`);
  seen.finish = text(choice.finish_reason, 'finish_reason');
};

/** Checks a stream of chunks against the wire's rules and yields what it says. Throws a `GrammarError`. */
export const readChatStream = (stream: string): Facts => {
  const seen: Seen = {
    head: '',
    id: '',
    model: '',
    role: false,
    finish: '',
    usage: undefined,
    error: undefined,
    done: false,
    text: [],
    refusal: [],
    reasoning: [],
    signatures: [],
    calls: [],
  };
  for (const data of records(stream)) {
    must(!seen.done, 'a record after [DONE]');
    must(seen.error === undefined, 'a record after the error');
    if (data === '[DONE]') {
      must(seen.finish !== '', '[DONE] without a finish reason');
      seen.done = true;
      continue;
    }
    const record = object(parsed(data), 'a record');
    if (record.error !== undefined) seen.error = readError(record);
    else readChunk(seen, record);
  }
  must(seen.done || seen.error !== undefined, 'no end');
  if (seen.done)
    must(
      (seen.finish === 'tool_calls') === seen.calls.length > 0 || seen.finish === 'length',
      'calls and finish differ',
    );
  return {
    text: seen.text.join(''),
    reasoning: seen.reasoning.join(''),
    refusal: seen.refusal.join(''),
    toolCalls: seen.calls.map(finishCall),
    stop: seen.finish,
    usage: seen.usage,
    signatures: seen.signatures,
    model: seen.model,
    id: seen.id,
    error: seen.error,
  };
};

const readWholeCall = (value: unknown): FactCall => {
  const call = object(value, 'a tool call');
  const custom = call.type === 'custom';
  must(custom || call.type === 'function', 'a call without its type');
  const body = object(custom ? call.custom : call.function, 'its body');
  const input = text(custom ? body.input : body.arguments, 'its arguments');
  const [id, name] = [text(call.id, 'its id'), text(body.name, 'its name')];
  must(id !== '' && name !== '', 'a call without id or name');
  return { id, name, input: custom ? input : parsed(input) };
};

const orEmpty = (value: unknown, what: string): string => (value === null ? '' : text(value, what));

/** Checks a whole reply, or an error body, and yields what it says. Throws a `GrammarError`. */
export const readChatReply = (body: unknown): Facts => {
  const reply = object(body, 'the reply');
  const none = { text: '', reasoning: '', refusal: '', toolCalls: [], stop: '', signatures: [], model: '', id: '' };
  if (reply.error !== undefined) return { ...none, usage: undefined, error: readError(reply) };
  must(reply.object === 'chat.completion', 'not a chat.completion');
  count(reply.created, 'created');
  const choices = list(reply.choices, 'choices');
  must(choices.length === 1, 'not one choice');
  const choice = object(choices[0], 'the choice');
  must(choice.index === 0, 'a choice of another index');
  must(finishReasons.has(choice.finish_reason), `an unknown finish reason ${choice.finish_reason}`);
  const message = object(choice.message, 'message');
  must(message.role === 'assistant', 'the role is missing');
  must('content' in message && 'refusal' in message, 'content or refusal is missing');
  for (const annotation of list(message.annotations ?? [], 'annotations')) readAnnotation(annotation);
  const toolCalls = list(message.tool_calls ?? [], 'tool_calls').map(readWholeCall);
  must(
    (choice.finish_reason === 'tool_calls') === toolCalls.length > 0 || choice.finish_reason === 'length',
    'calls and finish differ',
  );
  return {
    text: orEmpty(message.content, 'content'),
    reasoning: orEmpty(message.reasoning_content ?? null, 'reasoning_content'),
    refusal: orEmpty(message.refusal, 'refusal'),
    toolCalls,
    stop: text(choice.finish_reason, 'finish_reason'),
    usage: reply.usage === undefined ? undefined : readUsage(reply.usage),
    signatures: list(message.reasoning_details ?? [], 'reasoning_details').flatMap((entry) => readDetail(entry) ?? []),
    model: text(reply.model, 'model'),
    id: text(reply.id, 'id'),
    error: undefined,
  };
};
