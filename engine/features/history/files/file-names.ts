import { join } from 'node:path';

/*
 * The folder has files of lines, `1764000000000.<pid>-<start>.jsonl`: the first number is the time of the file's first line, in
 * milliseconds since 1970, the others tell processes apart. A file has the requests of one process. Each line is a
 * `KeptRequest`; the times of a file's lines never go back.
 */

/** The folder of the ended requests, in the service's own. */
export const historyFolder = (home: string): string => join(home, 'history');

/** A file of ended requests. */
export interface HistoryFile {
  readonly name: string;
  /** Milliseconds since 1970. */
  readonly firstMs: number;
}

const form = /^(\d{1,16})\.\d{1,10}-\d{1,16}\.jsonl$/;

/** The files of ended requests among names, oldest first. */
export const historyFilesIn = (names: readonly string[]): readonly HistoryFile[] =>
  names
    .flatMap((name) => {
      const [, firstMs] = form.exec(name) ?? [];
      return firstMs === undefined ? [] : [{ name, firstMs: Number(firstMs) }];
    })
    .toSorted((one, other) => one.firstMs - other.firstMs);
