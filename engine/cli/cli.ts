import type { Environment } from '../config/interpolate.ts';

/** What a command works with. */
export interface Cli {
  readonly env: Environment;
  /** The configuration's folder; absolute. */
  readonly home: string;
  /** Writes a line to standard output: what was asked for. */
  readonly say: (line: string) => void;
  /** Writes a line to standard error: what the user should know besides. */
  readonly tell: (line: string) => void;
}

/** Ends a command with one line for the user. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
