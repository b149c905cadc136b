import { isJsonObject, type JsonDraft, type JsonObject } from '../../engine/model/json/json.ts';
import type { Extra, Tool } from '../../engine/model/request.ts';

/**
 * Tools of the vendor's own types that the client runs. Other formats' models get a function of the type's name; the client gets
 * its calls back as items of the type.
 */
export type BuiltInKind = 'tool_search' | 'local_shell' | 'shell' | 'apply_patch';

interface BuiltIn {
  readonly call: 'tool_search_call' | 'local_shell_call' | 'shell_call' | 'apply_patch_call';
  /** The prefix of the ids of its items. */
  readonly prefix: 'tsc' | 'lsh' | 'sh' | 'apc';
  readonly description: string;
  /** JSON Schema of the function's arguments. */
  readonly parameters: JsonObject;
  /** The item's members for these arguments. */
  readonly write: (input: JsonObject) => JsonObject;
}

const text = { type: 'string' } as const;
const texts = { type: 'array', items: text } as const;
const milliseconds = { type: 'integer', description: 'Maximum duration, in milliseconds.' } as const;

/** Sources: OpenAI API reference, "Create a model response", `tools` and `input`; guides "Tool search", "Shell", "Apply patch". */
export const builtIns: Readonly<Record<BuiltInKind, BuiltIn>> = {
  tool_search: {
    call: 'tool_search_call',
    prefix: 'tsc',
    description: 'Searches for tools by what they do. The tools found can be called afterwards.',
    parameters: {
      type: 'object',
      properties: { query: text, limit: { type: 'integer', description: 'Maximum number of tools.' } },
      required: ['query'],
    },
    write: (input) => ({ execution: 'client', arguments: input }),
  },
  local_shell: {
    call: 'local_shell_call',
    prefix: 'lsh',
    description: "Runs a command on the user's machine. Returns its output.",
    parameters: {
      type: 'object',
      properties: {
        command: { ...texts, description: 'The program and its arguments.' },
        working_directory: text,
        timeout_ms: milliseconds,
        env: { type: 'object', additionalProperties: text, description: 'Environment variables to set.' },
        user: { ...text, description: 'The user who runs the command.' },
      },
      required: ['command'],
    },
    write: ({ type: _, command, env, ...more }) => ({
      action: {
        type: 'exec',
        command: typeof command === 'string' ? ['sh', '-c', command] : (command ?? []),
        env: env ?? {},
        ...more,
      },
    }),
  },
  shell: {
    call: 'shell_call',
    prefix: 'sh',
    description: "Runs shell commands on the user's machine. Returns the output and exit code of each.",
    parameters: {
      type: 'object',
      properties: {
        commands: { ...texts, description: 'Command lines; they may run at the same time.' },
        timeout_ms: milliseconds,
        max_output_length: { type: 'integer', description: 'Maximum characters of output to return.' },
      },
      required: ['commands'],
    },
    write: ({ commands, timeout_ms, max_output_length }) => ({
      action: {
        commands: typeof commands === 'string' ? [commands] : (commands ?? []),
        timeout_ms: timeout_ms ?? null,
        max_output_length: max_output_length ?? null,
      },
      environment: { type: 'local' },
    }),
  },
  apply_patch: {
    call: 'apply_patch_call',
    prefix: 'apc',
    description:
      "Creates, updates or deletes one of the user's files. `diff` is a V4A diff: lines of context begin with a space, added " +
      'ones with `+`, removed ones with `-`; `@@ <line>` leads to a part of the file. For a new file, all lines begin with `+`.',
    parameters: {
      type: 'object',
      properties: {
        type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] },
        path: text,
        diff: { ...text, description: 'Not for delete_file.' },
      },
      required: ['type', 'path'],
    },
    write: ({ type, path, diff }) => ({
      operation: { type: type ?? 'update_file', path: path ?? '', ...(type !== 'delete_file' && { diff: diff ?? '' }) },
    }),
  },
};

/** The function that stands for a built-in tool; the client's own description and parameters, if any, win. */
export const builtInFunction = (kind: BuiltInKind, { description, parameters }: JsonObject) => ({
  description: typeof description === 'string' && description !== '' ? description : builtIns[kind].description,
  parameters: isJsonObject(parameters) ? parameters : builtIns[kind].parameters,
});

/** The built-in tool for which a function stands, if it does. */
export const builtInKind = (tool: Tool): BuiltInKind | undefined => kindOf(originalOf(tool.extra)?.type);

/** The client's own object for which a node stands, if it does. */
export const originalOf = (extra: Extra | undefined): JsonObject | undefined =>
  extra?.wire === 'responses' ? extra.original?.objects[0] : undefined;

const kindOf = (type: unknown): BuiltInKind | undefined =>
  type === 'tool_search' || type === 'local_shell' || type === 'shell' || type === 'apply_patch' ? type : undefined;

/** An item's action or operation as arguments: without constants and absent members. */
export const argumentsOf = (kind: BuiltInKind, action: JsonObject): JsonObject => {
  const input: JsonDraft = {};
  for (const [name, value] of Object.entries(action)) {
    const constant = kind === 'local_shell' && name === 'type';
    if (value !== null && value !== undefined && !constant) input[name] = value;
  }
  return input;
};
