import { type Check, type Grammar, grammarOf, ObjectShape, sumOf } from '../../engine/model/grammar.ts';
import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json/json.ts';

/*
 * The rules of Chat Completions. Source: OpenAI API reference, "Chat Completions", "Streaming"; the types and the stream helper of
 * `openai` 7.57 (what makes clients throw), as of November 2026; recorded traffic.
 */

export type ChatRule =
  /** Records stand in `data:` lines. */
  | 'framing'
  /** There are no `event:` lines. */
  | 'event-line'
  /** A record is a JSON object, or `[DONE]`. */
  | 'json'
  /** `[DONE]` is last, behind a finish. */
  | 'order'
  /** Nothing follows an error, not even `[DONE]`. */
  | 'error-last'
  /** The stream has an end. */
  | 'end'
  /** `object`, `id`, `model` and `created`. */
  | 'chunk'
  /** `id`, `model` and `created` are the same in all chunks. */
  | 'same-head'
  /** Each chunk has a choice, or the usage. */
  | 'prelude'
  /** One choice, of index 0. */
  | 'choices'
  /** The role comes first. */
  | 'role'
  /** It comes once. */
  | 'role-once'
  /** The members of a delta, and their types. */
  | 'delta'
  /** A delta has members that the reference names, or that many servers know. */
  | 'known-members'
  /** No delta is empty. */
  | 'empty-delta'
  /** The reason is one of the reference. */
  | 'finish-reason'
  /** The finish comes once. */
  | 'finish-once'
  /** No content stands behind the finish. */
  | 'finish-order'
  /** The finish has a chunk of its own. */
  | 'finish-alone'
  /** `tool_calls` as the reason if there are calls, and only then. */
  | 'finish-calls'
  /** Counts of tokens. */
  | 'usage'
  /** `total_tokens` is the sum. */
  | 'usage-sum'
  /** The usage has its details. */
  | 'usage-details'
  /** The usage has a chunk of its own, behind the finish. */
  | 'usage-place'
  /** The usage comes once. */
  | 'usage-once'
  /** Calls are numbered from 0, without gaps. */
  | 'call-order'
  /** A call begins with its type, id and name. */
  | 'call-start'
  /** Its later fragments don't repeat them. */
  | 'call-once'
  /** No two calls have one id. */
  | 'call-ids'
  /** Each call's arguments are a JSON object once the model stops for its calls. */
  | 'arguments'
  | 'reasoning'
  | 'citation'
  | 'error'
  /** An error has its `type`, `param` and `code`. */
  | 'error-members';

/** Rules for this gateway's answers alone: the reference leaves it open, or most other servers break it. */
const own: readonly ChatRule[] = ['known-members', 'empty-delta', 'finish-alone', 'usage-details', 'usage-place'];

/** A call, and what has come of its arguments. */
interface Call {
  readonly custom: boolean;
  readonly input: ObjectShape;
}

interface State {
  head: string;
  hasRole: boolean;
  finish: string;
  hasUsage: boolean;
  phase: 'open' | 'failed' | 'over';
  readonly calls: Call[];
  /** Sums of their ids. */
  readonly ids: Set<string>;
}

type Checking = Check<ChatRule>;

const finishReasons: ReadonlySet<Json | undefined> = new Set([
  'stop',
  'length',
  'tool_calls',
  'content_filter',
  'function_call',
]);

const record = (state: State, data: JsonObject, check: Checking): void => {
  if ((data.error ?? null) !== null) {
    state.phase = 'failed';
    checkError(data, check);
    return;
  }
  const choices = check.list(data.choices, 'choices', 'choices');
  check.must(choices.length <= 1, 'choices', 'choices', 'at most one choice', choices.length);
  const [first] = choices;
  const usage = data.usage ?? null;
  if (usage !== null) usageIn(state, usage, first === undefined, check);
  if (first === undefined && usage === null) {
    check.must(false, 'prelude', 'choices', 'a choice, or usage beside none', data.choices);
    return;
  }
  check.must(data.object === 'chat.completion.chunk', 'chunk', 'object', '"chat.completion.chunk"', data.object);
  headOf(state, data, check);
  if (first === undefined) return;
  const choice = check.object(first, 'choices', 'choices[0]');
  check.must((choice.index ?? 0) === 0, 'choices', 'choices[0].index', '0', choice.index);
  const delta = check.object(choice.delta, 'delta', 'choices[0].delta');
  const isContent = Object.values(delta).some((value) => isSomething(value));
  check.must(
    state.finish === '' || !isContent,
    'finish-order',
    'choices[0].delta',
    'no content behind the finish',
    delta,
  );
  const reason = choice.finish_reason ?? null;
  if (reason === null) {
    check.must(Object.keys(delta).length > 0, 'empty-delta', 'choices[0].delta', 'a delta with content', delta);
    readDelta(state, delta, check);
    return;
  }
  check.must(Object.keys(delta).length === 0, 'finish-alone', 'choices[0].delta', 'an empty delta', delta);
  readDelta(state, delta, check);
  const at = 'choices[0].finish_reason';
  check.must(finishReasons.has(reason), 'finish-reason', at, 'a reason of the reference', reason);
  check.must(state.finish === '', 'finish-once', at, 'one finish', reason);
  check.must(state.hasRole, 'role', 'choices[0].delta.role', '"assistant" in the first chunk');
  state.finish = typeof reason === 'string' ? reason : 'stop';
  finish(state, reason, check);
};

/** Whether a member holds content. */
const isSomething = (value: Json | undefined): boolean =>
  (typeof value === 'string' && value !== '' && value !== 'assistant') ||
  (Array.isArray(value) && value.length > 0) ||
  isJsonObject(value);

const headOf = (state: State, data: JsonObject, check: Checking): void => {
  const id = check.name(data.id, 'chunk', 'id');
  const model = check.name(data.model, 'chunk', 'model');
  const created = check.count(data.created, 'chunk', 'created');
  const head = JSON.stringify([id, created, model]);
  check.must(
    state.head === '' || state.head === head,
    'same-head',
    'id',
    'the id, created and model of the first chunk',
    [id, created, model],
  );
  if (state.head === '') state.head = head;
};

const finish = ({ calls, finish: reason }: State, got: Json, check: Checking): void => {
  checkReason(reason, calls.length > 0, 'choices[0].finish_reason', got, check);
  if (reason !== 'tool_calls') return;
  const broken = calls.findIndex(({ custom, input }) => !custom && !input.isEmpty && !input.isWhole);
  check.must(
    broken < 0,
    'arguments',
    `choices[0].delta.tool_calls`,
    `a JSON object as the arguments of call ${broken}`,
  );
};

const checkReason = (reason: string, hasCalls: boolean, at: string, got: Json, check: Checking): void => {
  const fits = (reason === 'tool_calls') === hasCalls || ['length', 'content_filter', 'function_call'].includes(reason);
  check.must(fits, 'finish-calls', at, hasCalls ? '"tool_calls" beside calls' : 'a call beside "tool_calls"', got);
};

const usageIn = (state: State, usage: Json, isAlone: boolean, check: Checking): void => {
  check.must(isAlone && state.finish !== '', 'usage-place', 'usage', 'a chunk of its own behind the finish', usage);
  check.must(!state.hasUsage, 'usage-once', 'usage', 'one usage', usage);
  state.hasUsage = true;
  checkUsage(usage, check);
};

const checkUsage = (value: Json | undefined, check: Checking): void => {
  const usage = check.object(value, 'usage', 'usage');
  const prompt = check.count(usage.prompt_tokens, 'usage', 'usage.prompt_tokens');
  const output = check.count(usage.completion_tokens, 'usage', 'usage.completion_tokens');
  const total = check.count(usage.total_tokens, 'usage', 'usage.total_tokens');
  check.must(total === prompt + output, 'usage-sum', 'usage.total_tokens', String(prompt + output), total);
  for (const [details, counts] of Object.entries(usageDetails)) {
    const at = `usage.${details}`;
    const held = usage[details] ?? null;
    if (held === null) {
      check.must(false, 'usage-details', at, 'an object', held);
      continue;
    }
    const members = check.object(held, 'usage', at);
    for (const name of counts) {
      if ((members[name] ?? null) === null) check.must(false, 'usage-details', `${at}.${name}`, 'a count');
      else check.count(members[name], 'usage', `${at}.${name}`);
    }
    const written = members.cache_write_tokens ?? null;
    if (written !== null) check.count(written, 'usage', `${at}.cache_write_tokens`);
  }
};

const usageDetails = { prompt_tokens_details: ['cached_tokens'], completion_tokens_details: ['reasoning_tokens'] };

const textMembers = ['content', 'refusal', 'reasoning_content'] as const;

const knownMembers: ReadonlySet<string> = new Set([
  'role',
  ...textMembers,
  'tool_calls',
  'reasoning_details',
  'annotations',
]);

const readDelta = (state: State, delta: JsonObject, check: Checking): void => {
  const at = 'choices[0].delta';
  for (const name of Object.keys(delta)) {
    check.must(knownMembers.has(name), 'known-members', `${at}.${name}`, 'a member of the reference', delta[name]);
  }
  if (!state.hasRole && Object.keys(delta).length > 0) {
    check.must(delta.role === 'assistant', 'role', `${at}.role`, '"assistant" in the first chunk', delta.role);
    state.hasRole = true;
  } else {
    check.must((delta.role ?? null) === null, 'role-once', `${at}.role`, 'no second role', delta.role);
  }
  for (const name of textMembers) {
    if ((delta[name] ?? null) !== null) check.text(delta[name], 'delta', `${at}.${name}`);
  }
  readExtras(delta, at, check);
  const calls = delta.tool_calls ?? null;
  if (calls === null) return;
  for (const [index, call] of check.list(calls, 'delta', `${at}.tool_calls`).entries()) {
    readFragment(state, call, `${at}.tool_calls[${index}]`, check);
  }
};

const readExtras = (holder: JsonObject, at: string, check: Checking): void => {
  for (const [index, entry] of check
    .list(holder.reasoning_details ?? [], 'reasoning', `${at}.reasoning_details`)
    .entries()) {
    readDetail(entry, `${at}.reasoning_details[${index}]`, check);
  }
  for (const [index, entry] of check.list(holder.annotations ?? [], 'citation', `${at}.annotations`).entries()) {
    readAnnotation(entry, `${at}.annotations[${index}]`, check);
  }
};

/** Source: OpenRouter documentation, "Reasoning tokens". */
const readDetail = (value: Json, at: string, check: Checking): void => {
  const entry = check.object(value, 'reasoning', at);
  const type = check.text(entry.type, 'reasoning', `${at}.type`);
  check.must(
    type.startsWith('reasoning.'),
    'reasoning',
    `${at}.type`,
    'a type that begins with reasoning.',
    entry.type,
  );
  const payload = type === 'reasoning.encrypted' ? 'data' : 'signature';
  if ((entry[payload] ?? null) !== null) check.text(entry[payload], 'reasoning', `${at}.${payload}`);
  if (type === 'reasoning.text' && (entry.text ?? null) !== null) check.text(entry.text, 'reasoning', `${at}.text`);
};

const readAnnotation = (value: Json, at: string, check: Checking): void => {
  const annotation = check.object(value, 'citation', at);
  check.must(annotation.type === 'url_citation', 'citation', `${at}.type`, '"url_citation"', annotation.type);
  const citation = check.object(annotation.url_citation, 'citation', `${at}.url_citation`);
  for (const name of ['url', 'title']) check.text(citation[name], 'citation', `${at}.url_citation.${name}`);
  const from = check.count(citation.start_index, 'citation', `${at}.url_citation.start_index`);
  const to = check.count(citation.end_index, 'citation', `${at}.url_citation.end_index`);
  check.must(from <= to, 'citation', `${at}.url_citation.end_index`, `${from} or more`, to);
};

const readFragment = (state: State, value: Json, at: string, check: Checking): void => {
  const fragment = check.object(value, 'delta', at);
  const custom = fragment.custom !== undefined;
  const kind = custom ? 'custom' : 'function';
  const body = check.object(fragment[kind], 'delta', `${at}.${kind}`);
  const member = custom ? 'input' : 'arguments';
  const input = (body[member] ?? null) === null ? '' : check.text(body[member], 'delta', `${at}.${kind}.${member}`);
  const index = check.count(fragment.index, 'call-order', `${at}.index`);
  const known = state.calls[index];
  if (known) {
    const again = (name: string, member: Json | undefined): void => {
      const isNone = (member ?? null) === null || member === '';
      check.must(isNone, 'call-once', `${at}.${name}`, 'a call that begins once', member);
    };
    again('id', fragment.id);
    again('type', fragment.type);
    again(`${kind}.name`, body.name);
    check.must(known.custom === custom, 'call-start', at, `a call of the type ${known.custom ? 'custom' : 'function'}`);
    known.input.add(input);
    return;
  }
  check.track();
  check.must(index === state.calls.length, 'call-order', `${at}.index`, String(state.calls.length), fragment.index);
  check.must(fragment.type === kind, 'call-start', `${at}.type`, JSON.stringify(kind), fragment.type);
  check.name(body.name, 'call-start', `${at}.${kind}.name`);
  begin(state, check.name(fragment.id, 'call-start', `${at}.id`), custom, `${at}.id`, check).input.add(input);
};

const begin = (state: State, id: string, custom: boolean, at: string, check: Checking): Call => {
  const sum = sumOf(id);
  check.must(id === '' || !state.ids.has(sum), 'call-ids', at, 'an id of its own', id);
  state.ids.add(sum);
  const call = { custom, input: new ObjectShape() };
  state.calls.push(call);
  return call;
};

const checkError = (body: JsonObject, check: Checking): void => {
  const error = check.object(body.error, 'error', 'error');
  check.text(error.message, 'error', 'error.message');
  for (const name of ['type', 'param', 'code']) {
    const value = error[name];
    const fits = typeof value === 'string' || (value === null && name !== 'type');
    check.must(fits, 'error-members', `error.${name}`, name === 'type' ? 'a text' : 'a text or null', value);
  }
};

const reply = (body: JsonObject, check: Checking): void => {
  if ((body.error ?? null) !== null) {
    checkError(body, check);
    return;
  }
  check.must(body.object === 'chat.completion', 'chunk', 'object', '"chat.completion"', body.object);
  check.count(body.created, 'chunk', 'created');
  check.text(body.id, 'chunk', 'id');
  check.text(body.model, 'chunk', 'model');
  if (body.usage !== undefined) checkUsage(body.usage, check);
  const choices = check.list(body.choices, 'choices', 'choices');
  check.must(choices.length === 1, 'choices', 'choices', 'one choice', choices.length);
  const choice = check.object(choices[0], 'choices', 'choices[0]');
  check.must((choice.index ?? 0) === 0, 'choices', 'choices[0].index', '0', choice.index);
  const { finish_reason: reason = null } = choice;
  check.must(
    finishReasons.has(reason),
    'finish-reason',
    'choices[0].finish_reason',
    'a reason of the reference',
    reason,
  );
  const at = 'choices[0].message';
  const message = check.object(choice.message, 'delta', at);
  check.must(message.role === 'assistant', 'role', `${at}.role`, '"assistant"', message.role);
  for (const name of ['content', 'refusal'])
    check.must(name in message, 'known-members', `${at}.${name}`, 'a text or null');
  for (const name of textMembers) {
    if ((message[name] ?? null) !== null) check.text(message[name], 'delta', `${at}.${name}`);
  }
  readExtras(message, at, check);
  const calls = check.list(message.tool_calls ?? [], 'delta', `${at}.tool_calls`);
  for (const [index, call] of calls.entries()) readWholeCall(call, `${at}.tool_calls[${index}]`, check);
  checkReason(typeof reason === 'string' ? reason : '', calls.length > 0, 'choices[0].finish_reason', reason, check);
};

const readWholeCall = (value: Json, at: string, check: Checking): void => {
  check.track();
  const call = check.object(value, 'delta', at);
  const custom = call.type === 'custom';
  check.must(custom || call.type === 'function', 'call-start', `${at}.type`, '"function" or "custom"', call.type);
  const kind = custom ? 'custom' : 'function';
  const body = check.object(call[kind], 'delta', `${at}.${kind}`);
  check.name(call.id, 'call-start', `${at}.id`);
  check.name(body.name, 'call-start', `${at}.${kind}.name`);
  const member = custom ? 'input' : 'arguments';
  check.text(body[member], 'delta', `${at}.${kind}.${member}`);
};

const grammar = (left: readonly ChatRule[]): Grammar =>
  grammarOf<ChatRule, State>(
    {
      initial: () => ({
        head: '',
        hasRole: false,
        finish: '',
        hasUsage: false,
        phase: 'open',
        calls: [],
        ids: new Set(),
      }),
      record(state, sse, check) {
        check.must(sse.event === '', 'event-line', '', 'no event: line', sse.event);
        check.must(state.phase !== 'over', 'order', '', 'nothing behind [DONE]', sse.data);
        check.must(state.phase !== 'failed', 'error-last', '', 'nothing behind an error', sse.data);
        if (state.phase === 'over') return;
        if (sse.data === '[DONE]') {
          if (state.phase === 'open') check.must(state.finish !== '', 'order', '', 'a finish_reason before [DONE]');
          state.phase = 'over';
          return;
        }
        const data = check.data(sse, 'framing', 'json');
        if (data) record(state, data, check);
      },
      end: ({ phase }, check) => void check.must(phase !== 'open', 'end', '', '[DONE] or an error'),
      reply,
    },
    left,
  );

/** What a client must get; a call's arguments are the model's own. */
export const chatClientGrammar = grammar(['arguments']);

/** What a server of the format sends, without the rules that it is known to break. */
export const chatServerGrammar = (known: readonly ChatRule[]): Grammar => grammar([...own, ...known]);
