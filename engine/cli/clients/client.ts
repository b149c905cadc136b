import type { Environment } from '../../config/env.ts';

/** The gateway's address and key, for a client program. */
export interface ServiceAccess {
  /** `http://127.0.0.1:3456`. */
  readonly baseUrl: string;
  /** Never empty: clients refuse to start without a key, even if the gateway requires none. */
  readonly apiKey: string;
  /** Context window of the models behind the gateway, in tokens; absent: the client's own default. */
  readonly context?: number;
}

/** Environment variables by name; an empty one is unset. */
export type Variables = Readonly<Record<string, string>>;

/** A client program, or a family of them, that can use the gateway. */
export interface Client {
  /** Name for `switchyard env --for`. */
  readonly name: string;
  /** One-line description for users. */
  readonly about: string;
  /** Executable names of the program, without extension. */
  readonly commands: readonly string[];
  /** Environment variables that direct it to the gateway. */
  readonly variables: (access: ServiceAccess) => Variables;
  /** Variables of which the user's own values win. */
  readonly preferred?: readonly string[];
  /** Configuration that it needs besides the variables. */
  readonly block?: (access: ServiceAccess) => ConfigBlock;
  /**
   * The arguments with which `switchyard run` starts it: with them, it uses what the launcher sets, whatever its own files say.
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

/** A start of a client by `switchyard run`. */
interface Run {
  readonly access: ServiceAccess;
  /** What the launcher sets in its environment. */
  readonly variables: Variables;
  /** The user's own arguments. */
  readonly args: readonly string[];
  /** Writes a file that exists until the program ends, readable by the user alone; returns its path. */
  readonly writeFile: (name: string, text: string) => Promise<string>;
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
