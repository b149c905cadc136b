import type { Json, JsonObject } from '../../../engine/model/json/json.ts';
import type { Checking } from './rules.ts';

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

export const checkResponse = (response: JsonObject, at: string, check: Checking): void => {
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

export const checkOutcome = (response: JsonObject, at: string, check: Checking): void => {
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

/** OpenAI's error event has its members beside `type`; its client libraries read them inside `error`, too. */
export const checkError = (data: JsonObject, check: Checking): JsonObject => {
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

export const checkUsage = (value: Json | undefined, at: string, check: Checking): void => {
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
