import { type Grammar, grammarOf, valueSum } from '../../engine/model/grammar.ts';
import type { Json, JsonObject } from '../../engine/model/json/json.ts';
import { checkItem, type Items, itemEvent, nameOf } from './rules/items.ts';
import { checkError, checkOutcome, checkResponse, checkUsage } from './rules/response.ts';
import { type Checking, isKnown, narrow, own, type ResponsesRule } from './rules/rules.ts';

interface State extends Items {
  phase: 'new' | 'created' | 'open' | 'over';
  created: JsonObject | undefined;
  createdSum: string;
  next: number;
  raised: JsonObject | undefined;
}

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

/** Rules for an answer to a client. */
export const responsesClientGrammar = grammar([]);

/** Rules for a server of the format: one that follows all of it, or one that is like it. */
export const responsesServerGrammar = (server: 'full' | 'narrow'): Grammar => servers[server];

const servers = { full: grammar(own), narrow: grammar([...own, ...narrow]) };
