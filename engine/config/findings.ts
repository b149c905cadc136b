import type { SchemaFault } from '../model/schema.ts';

/** What a check has to say about a place in the configuration: a path, and a message that reads on after it. */
export type Finding = SchemaFault;

/** Collects what checks find, so that a user learns of everything at once. */
export class Findings {
  readonly #faults: Finding[] = [];
  readonly #warnings: Finding[] = [];

  /** Something that the configuration can't be used with. */
  fault(path: string, message: string): void {
    this.#faults.push({ path, message });
  }

  /** Something that the user should know, though the configuration can be used. */
  warn(path: string, message: string): void {
    this.#warnings.push({ path, message });
  }

  get faults(): readonly Finding[] {
    return this.#faults;
  }

  get warnings(): readonly Finding[] {
    return this.#warnings;
  }
}

/** A finding as one line. */
export const wordFinding = ({ path, message }: Finding): string => `${path || 'The configuration'} ${message}`;
