import type { Access, Snippet, Variables } from '../../../client-tools/tool.ts';
import type { Environment } from '../../../config/env.ts';

/** Launch of a client program, beyond setting the variables of its row in `clientTools`. */
export interface Launcher {
  /** Content of its files, in place of the row's. */
  readonly settings?: (access: Access, files: Files) => Promise<readonly Snippet[]>;
  /**
   * The arguments with which `junctor run` starts it: with them, it uses what the launcher sets, whatever its own files say.
   * Absent: the user's arguments.
   */
  readonly launch?: (run: Run) => readonly string[] | Promise<readonly string[]>;
  /** Its own files whose values win over those of the environment. */
  readonly overruling?: (place: Place) => Promise<readonly OverrulingFile[]>;
}

/** Other inputs of a client beside its variables and its own files. */
export interface Files {
  /** The program, for questions about itself. */
  readonly command: string;
  readonly env: Environment;
  /** Writes a file, readable by the user alone; returns its path. One of a run exists until the program ends. */
  readonly writeFile: (name: string, text: string) => Promise<string>;
}

/** A start of a client by `junctor run`. */
interface Run extends Files {
  readonly access: Access;
  /** Variables that the launcher sets in its environment. */
  readonly variables: Variables;
  /** The user's own arguments. */
  readonly args: readonly string[];
}

/** Working directory of a client, which determines the files that it reads. */
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
