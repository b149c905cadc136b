/** A breach of a host's rules. */
export interface Breach {
  /** Where it is in the body: `messages[2].role`. */
  readonly path: string;
  /** The host's own words, as far as they are known. */
  readonly words: string;
  /** The status that it is refused with, where that isn't the host's usual one. */
  readonly status?: number;
}

/** One rule of a host: what breaks it in this body of Chat Completions. */
export type Check = (body: HostBody) => readonly Breach[];

/** A body as hosts read it: nothing is certain about it. */
export interface HostBody extends Loose {
  readonly messages: readonly HostMessage[];
  readonly tools?: readonly HostTool[];
}

export interface HostMessage extends Loose {
  readonly role: string;
  readonly content?: string | readonly HostPart[] | null;
  readonly tool_calls?: readonly HostCall[];
  readonly tool_call_id?: string;
}

interface HostPart extends Loose {
  readonly type: string;
  readonly text?: string;
}

interface HostCall extends Loose {
  readonly id: string;
  /** Absent in a call of a custom tool. */
  readonly function?: { readonly name: string; readonly arguments: unknown };
}

interface HostTool extends Loose {
  readonly type?: string;
  /** Absent in a custom tool. */
  readonly function?: HostFunction;
}

interface HostFunction {
  readonly name: string;
  readonly parameters?: unknown;
  readonly strict?: unknown;
}

interface Loose {
  readonly [member: string]: unknown;
}

/** A rule about each message by itself. */
export const eachMessage =
  (
    find: (message: HostMessage, index: number, all: readonly HostMessage[]) => string | undefined,
    member = '',
  ): Check =>
  ({ messages }) =>
    messages.flatMap((message, index) => {
      const words = find(message, index, messages);
      return words === undefined ? [] : [{ path: `messages[${index}]${member}`, words }];
    });

/** A rule about each declared function by itself. */
export const eachTool =
  (find: (tool: HostFunction) => string | undefined, member: string): Check =>
  ({ tools = [] }) =>
    tools.flatMap((tool, index) => {
      const words = tool.function && find(tool.function);
      return words === undefined ? [] : [{ path: `tools[${index}].function${member}`, words }];
    });

/** The text of a message; parts without text count as none. */
export const textIn = ({ content }: HostMessage): string =>
  typeof content === 'string' ? content : (content ?? []).map(({ text = '' }) => text).join('');
