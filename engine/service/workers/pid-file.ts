import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Type, { type Static } from 'typebox';
import { errorCode } from '../../model/fault.ts';
import { parseJson } from '../../model/json/json.ts';
import { reader } from '../../model/schema.ts';

/** Content of the PID file. */
const PidFile = Type.Object({
  /** The process that receives signals for the whole service. */
  pid: Type.Integer({ minimum: 1 }),
  /** Unix time in milliseconds. */
  startedAtMs: Type.Number(),
  state: Type.Union([Type.Literal('starting'), Type.Literal('serving'), Type.Literal('stopping')]),
  /** Absent until the service listens. */
  port: Type.Optional(Type.Integer()),
  baseUrl: Type.Optional(Type.String()),
});
export type PidFile = Static<typeof PidFile>;

const file = reader(PidFile, { compiled: false });

/** Path of the PID file. `program`: whose it is. */
export const pidPath = (home: string, program = 'junctor'): string => join(home, `${program}.pid`);

/** Reads the PID file; `undefined` if there is none. Unreadable content is reported as PID 0. */
export const readPidFile = (home: string, program?: string): PidFile | undefined => {
  let text: string;
  try {
    text = readFileSync(pidPath(home, program), 'utf8');
  } catch {
    return undefined;
  }
  const value = parseJson(text);
  return file.matches(value) ? value : { pid: 0, startedAtMs: 0, state: 'starting' };
};

/** Creates the PID file; `false` if it exists. Throws other file system errors. */
export const createPidFile = (home: string, content: PidFile): boolean => {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  try {
    writeFileSync(pidPath(home), JSON.stringify(content), { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST' && isFolder(pidPath(home)))
      throw new Error(`${pidPath(home)} is a folder, and the service writes its file there: remove it.`);
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  }
};

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;

/** Replaces the content of this process's PID file. Throws file system errors. */
export const updatePidFile = (home: string, content: PidFile): void => {
  const draft = `${pidPath(home)}.${content.pid}.tmp`;
  writeFileSync(draft, JSON.stringify(content), { mode: 0o600 });
  renameSync(draft, pidPath(home));
};

/** Removes the PID file if it still belongs to process `pid`. */
export const removePidFile = (home: string, pid: number): void => {
  if (readPidFile(home)?.pid === pid) rmSync(pidPath(home), { force: true });
};
