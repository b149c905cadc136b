import { stripVTControlCharacters } from 'node:util';

/** What the runner's output says of a run. */
export interface RunReport {
  readonly passed: number;
  /** Tests that failed or never ended, and errors outside of tests. */
  readonly failed: number;
  /** What failed, by its title or by the runner's words. */
  readonly failures: readonly string[];
}

const closing =
  /^ {2}(\d+) (?:(tests? passed)|(?:tests?|hooks?) failed|uncaught exceptions?|unhandled rejections?|tests? remained pending.*|test files? .*)$/;
const failure = /^ {2}(?:✘ (?:\[fail\]: )?|◌ |(?=Uncaught exception in|Unhandled rejection in))(\S.*)$/;

/** Reads the output of a run by its closing lines and its marks of failure. */
export const readReport = (output: string): RunReport => {
  let passed = 0;
  let failed = 0;
  const failures = new Set<string>();
  for (const line of stripVTControlCharacters(output).split('\n')) {
    const counted = closing.exec(line);
    if (counted?.[2]) passed += Number(counted[1]);
    else if (counted) failed += Number(counted[1]);
    const title = failure.exec(line)?.[1];
    if (title) failures.add(title.trim());
  }
  return { passed, failed, failures: [...failures] };
};
