import type { Protocol } from '../../../api/protocols.ts';
import { routedName } from '../../../config/rules.ts';
import type { Shell } from './shell.ts';

/** How clients reach the gateway. */
export interface Connection {
  /** The origin of this page: `http://127.0.0.1:3456`. */
  readonly origin: string;
  /** The gateway requires a key. Many clients need some value even if it doesn't. */
  readonly wantsKey: boolean;
  /** The model used in the examples. */
  readonly model: string;
  /** The rules choose the model: a client that has names of its own keeps them, others ask for `routedName`. */
  readonly byRules: boolean;
  /** All model names that the gateway accepts. */
  readonly models: readonly string[];
  /** What is known of their limits, by name. */
  readonly limits?: ReadonlyMap<string, ModelLimits>;
}

/** Limits of a model, in tokens; absent: unknown. */
interface ModelLimits {
  readonly context?: number | undefined;
  readonly maxOutput?: number | undefined;
}

/** The limits of a name; those of the default route if the rules choose. */
export const limitsOf = ({ limits }: Connection, name: string): ModelLimits =>
  limits?.get(name === routedName ? `${routedName}-default` : name) ?? {};

/** A text to copy, with a label. */
interface Snippet {
  /** Where it goes: a shell, a file. */
  readonly label: string;
  readonly text: string;
}

/** How to connect one client to the gateway. */
export interface ClientGuide {
  /** Unique, without spaces. */
  readonly name: string;
  readonly title: string;
  /** The protocol that the client uses with this setup. */
  readonly protocol: Protocol;
  /** The client appends `/v1` to the base URL itself. */
  readonly appendsVersion?: true;
  readonly snippets: (connection: Connection, shell: Shell) => readonly Snippet[];
  /** Further notes; text in backticks is code. */
  readonly notes: readonly string[];
  /** The path of its requests, where it isn't the protocol's own. */
  readonly path?: string;
  /** Headers sent with each request. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The base URL for a client that doesn't append `/v1` itself. */
export const baseOf = ({ origin }: Connection): string => `${origin}/v1`;
