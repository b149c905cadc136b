import type { ClientWire } from '../model/wire/client-wires.ts';

/** The gateway as a client program is to use it. */
export interface Access {
  /** `http://127.0.0.1:3456`. */
  readonly baseUrl: string;
  /** A key, `anyKey` or `keyReference`. Never empty: clients refuse to start without a key, even if the gateway requires none. */
  readonly apiKey: string;
  /** The name to ask for; `routedName`: the routing rules choose. */
  readonly model: string;
  /** Its context window, in tokens: the smallest of the models behind it; absent: the client's own default. */
  readonly context?: number | undefined;
  /** Its longest answer, in tokens; absent: unknown. */
  readonly maxOutput?: number | undefined;
  /** All names that a client may ask for, those that the rules resolve first. */
  readonly models: readonly OfferedModel[];
}

/** A model name that the gateway accepts, and what all models behind it can do. Absent: unknown. */
export interface OfferedModel {
  readonly name: string;
  /** Display name. */
  readonly title: string;
  /** The smallest window, in tokens. */
  readonly context?: number | undefined;
  /** The longest answer, in tokens. */
  readonly maxOutput?: number | undefined;
  readonly images?: boolean | undefined;
}

/** A name that no provider has, so that the routing rules choose. */
export const routedName = 'junctor';

/** A key for gateways that require none. */
export const anyKey = 'any-value';

/** The variable that holds the gateway's key in what users copy. */
export const clientKeyVariable = 'JUNCTOR_API_KEY';

/** Stands for the key, which is read from `clientKeyVariable`. */
export const keyReference = `$${clientKeyVariable}`;

/** Whether the key is read from `clientKeyVariable`. */
export const readsKey = ({ apiKey: key }: Access): boolean => key === keyReference;

/** The key, or the form in which a file refers to `clientKeyVariable`. */
export const keyAs = (access: Access, reference: string): string => (readsKey(access) ? reference : access.apiKey);

/** Environment variables by name; an empty one is unset. */
export type Variables = Readonly<Record<string, string>>;

/** A text to copy. */
export interface Snippet {
  /** Its place: the path of a file, a shell, a language. */
  readonly label: string;
  readonly text: string;
}

/** A client program, or a family of them, that can use the gateway: what its set-up consists of. */
export interface ClientTool {
  /** Unique: the name for `junctor env --for`. */
  readonly name: string;
  readonly title: string;
  /** The protocol that it uses with this set-up. */
  readonly protocol: ClientWire;
  /** The executable names of the program, without extension. */
  readonly commands: readonly string[];
  /** Only its own settings direct it to the gateway, which the user changes as `settings` says: it isn't started. */
  readonly setUpByHand?: true;
  /** It appends `/v1` to the base URL itself. */
  readonly appendsVersion?: true;
  /** The environment variables that direct it to the gateway. */
  readonly variables?: (access: Access) => Variables;
  /** Variables of which the user's own values win. */
  readonly preferred?: readonly string[];
  /** Configuration that it needs besides the variables. */
  readonly settings?: (access: Access) => readonly Snippet[];
  /** Text to copy for a lasting set-up, unless that is the variables and `settings`. */
  readonly guide?: (access: Access) => readonly Snippet[];
  /** Code that uses it. */
  readonly examples?: (access: Access, shell: Shell) => readonly Snippet[];
  /** For users; text in backticks is code. */
  readonly notes?: readonly string[];
  /** The path of its requests, where it isn't the protocol's own. */
  readonly path?: string;
  /** Headers that it sends with each request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Shells for which variables are written. */
export const shells = ['posix', 'fish', 'powershell'] as const;
export type Shell = (typeof shells)[number];
