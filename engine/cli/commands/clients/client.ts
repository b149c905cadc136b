import type { Environment } from '../../../config/env.ts';
import type { ServiceConnection } from '../../reach-service.ts';

/** The gateway's address and key, for a client program. */
export interface ServiceAccess extends ServiceConnection {
  /** Context window of the default route, in tokens: the smallest of its models; absent: the client's own default. */
  readonly context?: number | undefined;
  /** The longest answer of the default route, in tokens; absent: unknown. */
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

/** Environment variables by name; an empty one is unset. */
export type Variables = Readonly<Record<string, string>>;

/** A client program, or a family of them, that can use the gateway. */
export interface Client {
  /** Name for `junctor env --for`. */
  readonly name: string;
  /** One-line description for users. */
  readonly about: string;
  /** Executable names of the program, without extension. */
  readonly commands: readonly string[];
  /** Only its own settings direct it to the gateway, which the user changes as `block` says: it isn't started. */
  readonly setUpByHand?: boolean;
  /** Environment variables that direct it to the gateway. */
  readonly variables: (access: ServiceAccess) => Variables;
  /** Variables of which the user's own values win. */
  readonly preferred?: readonly string[];
  /** Configuration that it needs besides the variables. */
  readonly block?: (access: ServiceAccess, files: Files) => ConfigBlock | Promise<ConfigBlock>;
  /**
   * The arguments with which `junctor run` starts it: with them, it uses what the launcher sets, whatever its own files say.
   * Absent: the user's arguments.
   */
  readonly launch?: (run: Run) => readonly string[] | Promise<readonly string[]>;
  /** Its own files whose values win over those of the environment. */
  readonly overruling?: (place: Place) => Promise<readonly OverrulingFile[]>;
}

/** A fragment of a client's configuration file. */
interface ConfigBlock {
  /** Path of the file, as shown to users. */
  readonly file: string;
  readonly text: string;
}

/** What a client reads beside its variables and its own files. */
export interface Files {
  /** The program, for questions about itself. */
  readonly command: string;
  readonly env: Environment;
  /** Writes a file, readable by the user alone; returns its path. One of a run exists until the program ends. */
  readonly writeFile: (name: string, text: string) => Promise<string>;
}

/** A start of a client by `junctor run`. */
interface Run extends Files {
  readonly access: ServiceAccess;
  /** What the launcher sets in its environment. */
  readonly variables: Variables;
  /** The user's own arguments. */
  readonly args: readonly string[];
}

/** Where a client starts, which determines the files that it reads. */
export interface Place {
  readonly env: Environment;
  readonly cwd: string;
  /** Parent of system folders; absent: the root. */
  readonly root?: string;
}

/** A client's own file that sets variables. */
interface OverrulingFile {
  readonly file: string;
  /** Whether its values also win over the arguments that `launch` returns. */
  readonly always: boolean;
  readonly variables: Variables;
}
