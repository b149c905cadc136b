import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { parseJson } from '../model/json.ts';
import { reader } from '../model/schema.ts';

/** What the file says of the service that holds a configuration's folder. */
const PidFile = Type.Object({
  /** The process that takes signals for the whole service. */
  pid: Type.Integer({ minimum: 1 }),
  /** In milliseconds since 1970. */
  startedAtMs: Type.Number(),
  state: Type.Union([Type.Literal('starting'), Type.Literal('serving'), Type.Literal('stopping')]),
  /** Absent until it serves. */
  port: Type.Optional(Type.Integer()),
  baseUrl: Type.Optional(Type.String()),
});
export type PidFile = Static<typeof PidFile>;

const file = reader(PidFile);

/** The file's place in the configuration's folder. */
export const pidPath = (home: string): string => join(home, 'switchyard.pid');

/** What the file says; `undefined` when there is none. A file that can't be understood counts as that of process 0. */
export const readPidFile = (home: string): PidFile | undefined => {
  let text: string;
  try {
    text = readFileSync(pidPath(home), 'utf8');
  } catch {
    return undefined;
  }
  const value = parseJson(text);
  return file.matches(value) ? value : { pid: 0, startedAtMs: 0, state: 'starting' };
};

/** Makes the file, unless there is one. Says whether it did; throws what else the system says. */
export const createPidFile = (home: string, content: PidFile): boolean => {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(pidPath(home), JSON.stringify(content), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
};

/** Says something new in a file of one's own. Throws what the system says. */
export const updatePidFile = (home: string, content: PidFile): void => {
  const draft = `${pidPath(home)}.${content.pid}.tmp`;
  writeFileSync(draft, JSON.stringify(content), { mode: 0o600 });
  renameSync(draft, pidPath(home));
};

/** Takes the file away if it still is that process's; does nothing otherwise. */
export const removePidFile = (home: string, pid: number): void => {
  if (readPidFile(home)?.pid === pid) rmSync(pidPath(home), { force: true });
};
