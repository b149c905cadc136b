/** How a program reaches the gateway. */
export interface Connection {
  /** `http://127.0.0.1:3456`. */
  readonly baseUrl: string;
  /** Never empty: programs refuse to start without a key, even where none is asked for. */
  readonly apiKey: string;
}

/** A kind of program that can be pointed at the gateway. */
export interface Client {
  /** Its name in `switchyard env --for`. */
  readonly name: string;
  /** For users, one line. */
  readonly about: string;
  /** Names of the commands that are such a program. */
  readonly commands: readonly string[];
  /** Environment variables that point it at the gateway. */
  readonly variables: (connection: Connection) => Readonly<Record<string, string>>;
  /** What its configuration file must hold, where variables aren't enough. */
  readonly block?: (connection: Connection) => ConfigBlock;
  /** Arguments that stand for that block when the command is run, before the user's own. */
  readonly args?: (connection: Connection) => readonly string[];
}

/** A piece of a program's configuration file. */
export interface ConfigBlock {
  /** Where it goes, for users. */
  readonly file: string;
  readonly text: string;
}
