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
  let marks = 0;
  const failures = new Set<string>();
  for (const line of stripVTControlCharacters(output).split('\n')) {
    const counted = closing.exec(line);
    if (counted?.[2]) passed += Number(counted[1]);
    else if (counted) failed += Number(counted[1]);
    if (line.startsWith('  ✔ ')) marks += 1;
    const title = failure.exec(line)?.[1];
    if (title) failures.add(title.trim());
  }
  // The closing lines of a run with failures don't say how many passed.
  return { passed: passed || marks, failed, failures: [...failures] };
};

/**
 * Those of `files` that `failures` name by a title (`a › b › title` is in test/a/b.test.ts), by path, or as members of one of the
 * `groups` that share a process. Undefined when a failure names none of them, or when they are many.
 */
export const failedFiles = (
  failures: readonly string[],
  files: readonly string[],
  groups: Iterable<readonly [group: string, members: readonly string[]]> = [],
): readonly string[] | undefined => {
  const named: readonly (readonly [string, readonly string[]])[] = [
    ...groups,
    ...files.map((file) => [file, [file]] as const),
  ];
  const found = failures.map((failure) => {
    const byPath = named.find(([name]) => failure.includes(name))?.[1];
    return byPath ?? longestPrefix(failure, files);
  });
  const units = new Set(found.map((members) => members.join()));
  return units.has('') || units.size > maxUnits ? undefined : [...new Set(found.flat())];
};

/** Files, and processes of several files, whose failures may be those of a busy machine. */
const maxUnits = 5;

const longestPrefix = (title: string, files: readonly string[]): readonly string[] =>
  files
    .filter((file) => title.startsWith(`${file.slice('test/'.length, -'.test.ts'.length).replaceAll('/', ' › ')} › `))
    .sort((a, b) => b.length - a.length)
    .slice(0, 1);
