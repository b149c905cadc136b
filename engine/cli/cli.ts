import type { Environment } from '../config/env.ts';

/** The environment of a command: its variables, folder and output. */
export interface Cli {
  readonly env: Environment;
  /** Absolute path of the configuration's folder. */
  readonly home: string;
  /** Writes a line of the command's result to standard output. */
  readonly print: (line: string) => void;
  /** Writes a notice to standard error. */
  readonly warn: (line: string) => void;
}

/** A failure with a one-line message for the user; the command exits with code 1. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
