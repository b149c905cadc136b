import { type Check, eachMessage, type HostMessage, textIn } from './check.ts';

/** The template of Qwen 3.5 and later, of MiniMax and of some Llama and Gemma models. */
export const oneSystemFirst: Check = eachMessage(
  ({ role }, index) => (role === 'system' && index > 0 ? 'System message must be at the beginning.' : undefined),
  '.role',
);

export const knownRoles = (...roles: readonly string[]): Check =>
  eachMessage(({ role }) => (roles.includes(role) ? undefined : `unexpected role: ${role}`), '.role');

/** Templates that raise an error when two of one side meet. Results of calls belong to the side that called. */
export const alternatingRoles: Check = eachMessage((message, index, all) => {
  const before = all[index - 1];
  const side = sideOf(message);
  if (side === undefined || before === undefined) return undefined;
  const meets = side === sideOf(before) && message.role !== 'tool' && before.role !== 'tool';
  return meets ? 'Conversation roles must alternate user/assistant/user/assistant/...' : undefined;
}, '.role');

const sideOf = ({ role }: HostMessage): 'user' | 'model' | undefined =>
  role === 'user' ? 'user' : role === 'assistant' || role === 'tool' ? 'model' : undefined;

export const noUserAfterTool: Check = eachMessage(
  ({ role }, index, all) =>
    role === 'user' && all[index - 1]?.role === 'tool' ? "Unexpected role 'user' after role 'tool'" : undefined,
  '.role',
);

export const lastIsNotAssistant: Check = eachMessage(
  ({ role, prefix }, index, all) =>
    role === 'assistant' && index === all.length - 1 && prefix !== true
      ? 'Expected last role User or Tool but got assistant'
      : undefined,
  '.role',
);

/** Content that holds text alone must be a string. */
export const textAsString: Check = eachMessage(
  ({ content }) =>
    Array.isArray(content) && content.every(({ type }) => type === 'text')
      ? 'cannot unmarshal array into Go struct field .messages.content of type string'
      : undefined,
  '.content',
);

export const assistantAsString: Check = eachMessage(
  ({ role, content }) => (role === 'assistant' && Array.isArray(content) ? 'content must be a string' : undefined),
  '.content',
);

/** Text parts, and messages that call nothing, need text. */
export const noEmptyText: Check = eachMessage((message) => {
  const { role, content, tool_calls = [] } = message;
  const parts = Array.isArray(content) ? content : [];
  if (parts.some(({ type, text }) => type === 'text' && text === '')) return 'text part must not be empty';
  const needsText = role !== 'assistant' || tool_calls.length === 0;
  return needsText && parts.every(({ type }) => type === 'text') && textIn(message) === ''
    ? 'content must not be empty'
    : undefined;
}, '.content');

export const textOnly: Check = eachMessage(
  ({ content }) =>
    Array.isArray(content) && content.some(({ type }) => type !== 'text') ? 'this model takes text only' : undefined,
  '.content',
);

/** Ids of calls and results, which match this. */
export const callIds = (pattern: RegExp, words: string): Check =>
  eachMessage(({ tool_calls = [], tool_call_id }) => {
    const ids = [...tool_calls.map(({ id }) => id), ...(tool_call_id === undefined ? [] : [tool_call_id])];
    const wrong = ids.find((id) => !pattern.test(id));
    return wrong === undefined ? undefined : `${words}: ${wrong}`;
  }, '.tool_calls');

/** Each result answers a call of the message before it, and no call stays without one. */
export const pairedCalls: Check = ({ messages }) => {
  let due: readonly string[] = [];
  const breaches = messages.flatMap(({ role, tool_calls = [], tool_call_id = '' }, index) => {
    const path = `messages[${index}]`;
    if (role === 'tool') {
      const known = due.includes(tool_call_id);
      due = due.filter((id) => id !== tool_call_id);
      return known ? [] : [{ path: `${path}.tool_call_id`, words: `no call has the id ${tool_call_id}` }];
    }
    const open = due;
    due = tool_calls.map(({ id }) => id);
    return open.length > 0 ? [{ path, words: `calls without a result: ${open.join(', ')}` }] : [];
  });
  return due.length > 0 ? [...breaches, { path: 'messages', words: `calls without a result: ${due}` }] : breaches;
};

/** Arguments are the text of a JSON object: neither empty nor the object itself. */
export const argumentsAsText: Check = eachMessage(({ tool_calls = [] }) => {
  const wrong = tool_calls.find((call) => call.function && !isObjectText(call.function.arguments));
  return wrong && `arguments must be the text of a JSON object: ${JSON.stringify(wrong.function?.arguments)}`;
}, '.tool_calls');

const isObjectText = (text: unknown): boolean => {
  if (typeof text !== 'string') return false;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
};

/** A turn that called tools comes back with what was thought before it, in this member. */
export const reasoningWithCalls = (member: string): Check =>
  eachMessage(
    (message) =>
      message.role === 'assistant' && (message.tool_calls ?? []).length > 0 && !message[member]
        ? `thinking is enabled but ${member} is missing in assistant tool call message`
        : undefined,
    `.${member}`,
  );

/** Members of messages that the host knows; others are refused. */
export const knownMessageMembers =
  (...known: readonly string[]): Check =>
  ({ messages }) =>
    messages.flatMap((message, index) =>
      Object.keys(message)
        .filter((name) => !known.includes(name))
        .map((name) => ({ path: `messages[${index}].${name}`, words: 'Extra inputs are not permitted', status: 422 })),
    );

/** Calls come back with the members that they were given with. */
export const callsWith = (members: Readonly<Record<string, unknown>>, words: string): Check =>
  eachMessage(({ tool_calls = [] }) => {
    const given = Object.entries(members);
    const whole = tool_calls.every((call) =>
      given.every(([name, value]) => JSON.stringify(call[name]) === JSON.stringify(value)),
    );
    return whole ? undefined : words;
  }, '.tool_calls');
