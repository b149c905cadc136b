import { type Breach, type Check, eachTool, type HostBody, type MemberCheck, refuses } from './check.ts';
import { members, membersBut, otherThan, outside, together } from './looks.ts';

/** The host refuses all members that it doesn't know. */
export const onlyMembers =
  (...known: readonly string[]): MemberCheck =>
  (body, headers) =>
    membersBut(known)(body, headers).map(({ path }) => ({
      path,
      words: 'Extra inputs are not permitted',
      status: 422,
    }));

/** The host refuses these members. */
export const noMembers = (...refused: readonly string[]): MemberCheck =>
  refuses(members(...refused), ({ path }) => `unsupported parameter: ${path}`);

/** A number between these, both included. */
export const inRange = (path: string, least: number, most: number): MemberCheck =>
  refuses(outside(path, least, most), ({ value }) => `${path} must be between ${least} and ${most}: ${value}`);

/** What stands without what it belongs to. Source: OpenAI API reference, "Create chat completion". */
export const membersTogether: Check = ({ tools, tool_choice, parallel_tool_calls, stream, stream_options }) => {
  const hasTools = Array.isArray(tools) && tools.length > 0;
  const breaches: readonly (Breach | false)[] = [
    tools !== undefined && !hasTools && { path: 'tools', words: 'an empty list' },
    !hasTools && tool_choice !== undefined && { path: 'tool_choice', words: 'needs tools' },
    !hasTools && parallel_tool_calls !== undefined && { path: 'parallel_tool_calls', words: 'needs tools' },
    !stream && stream_options !== undefined && { path: 'stream_options', words: 'needs stream' },
  ];
  return breaches.filter((breach) => breach !== false);
};

export const toolNames = (pattern = /^[a-zA-Z0-9_-]{1,64}$/): Check =>
  eachTool(({ name }) => (pattern.test(name) ? undefined : `Invalid name: ${name}`), '.name');

export const distinctTools: Check = ({ tools = [] }: HostBody) =>
  tools.flatMap((tool, index) =>
    tool.function && tools.findIndex((other) => other.function?.name === tool.function?.name) < index
      ? [{ path: `tools[${index}].function.name`, words: `Tool names must be unique: ${tool.function.name}` }]
      : [],
  );

/** The host knows functions alone. */
export const functionsOnly: Check = ({ tools = [] }: HostBody) =>
  tools.flatMap(({ type = 'function' }, index) =>
    type === 'function' ? [] : [{ path: `tools[${index}].type`, words: `unknown tool type: ${type}` }],
  );

export const noStrict: Check = eachTool(
  ({ strict }) => (strict === undefined ? undefined : 'strict is not supported'),
  '.strict',
);

/** These members can't stand together. */
export const notTogether = (...names: readonly string[]): MemberCheck =>
  refuses(together(...names), () => `${names.join(' and ')} cannot both be specified for this model`);

/** One of these words, where there is one at all. */
export const oneOf = (path: string, ...words: readonly string[]): MemberCheck =>
  refuses(otherThan(path, ...words), ({ value }) => `${path} must be one of ${words}: ${JSON.stringify(value)}`);
