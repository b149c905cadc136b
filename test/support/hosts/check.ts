import type { IncomingHttpHeaders } from 'node:http';

/** A breach of a host's rules. */
export interface Breach extends Said {
  /** Where it is in the body: `messages[2].role`. */
  readonly path: string;
  /** The words are the host's own, in full: they name the place themselves, if the host does. */
  readonly isVerbatim?: true;
}

/** How a host refuses. */
interface Said {
  /** The host's own words, as far as they are known. */
  readonly words: string;
  /** The status that it is refused with, where that isn't the host's usual one. */
  readonly status?: number;
  /** The field and the code that the error names, where its shape has them. */
  readonly param?: string;
  readonly code?: string;
}

/** What a host looks at in a request: each find is one breach. */
export type Look<F extends Found> = (body: Loose, headers: IncomingHttpHeaders) => readonly F[];

/** What a look finds in a request, for the words of its refusal. */
export interface Found {
  readonly path: string;
}

/** One rule of a host: what breaks it in this body of Chat Completions. */
export type Check = (body: HostBody, headers: IncomingHttpHeaders) => readonly Breach[];

/** One rule of a host that looks at single members, whatever the wire format. */
export type MemberCheck = (body: Loose, headers: IncomingHttpHeaders) => readonly Breach[];

/** A host's rule in its own words: what it looks at, and how it refuses what it finds. */
export const refuses =
  <F extends Found>(look: Look<F>, says: (found: F) => string | Said): MemberCheck =>
  (body, headers) =>
    look(body, headers).map((found) => {
      const said = says(found);
      return { path: found.path, isVerbatim: true, ...(typeof said === 'string' ? { words: said } : said) };
    });

/** The words of a breach, with its place where the host's own aren't known. */
export const wordsOf = ({ path, words, isVerbatim }: Breach): string => (isVerbatim ? words : `${path}: ${words}`);

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

/** A body of any wire format. */
export interface Loose {
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
