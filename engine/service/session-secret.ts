import { hash, randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const secretForm = /^[\da-f]{64}$/;

/**
 * The secret of a service's folder, read at the first call, which creates it if there is none. In a folder that can't be written, a
 * secret of this process.
 */
export const sessionSecret = (home: string): (() => string) => {
  let secret: string | undefined;
  return () => {
    secret ??= readSecret(join(home, 'session.key'), home);
    return secret;
  };
};

/** Reads synchronously: once per process, and a request waits for it. */
const readSecret = (path: string, home: string): string => {
  const made = randomBytes(32).toString('hex');
  try {
    const known = contentOf(path);
    if (known !== undefined) return known;
    mkdirSync(home, { recursive: true, mode: 0o700 });
    createFile(path, made);
    return made;
  } catch {
    // Another process was faster, or the folder can't be written.
    return contentOf(path) ?? made;
  }
};

/** Creates a file with all of its text, or throws if there is one. */
const createFile = (path: string, text: string): void => {
  const draft = `${path}.${process.pid}.tmp`;
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    linkSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
};

const contentOf = (path: string): string | undefined => {
  try {
    const text = readFileSync(path, 'utf8');
    return secretForm.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
};

/** The gateway's name among those that a request passes: the same in all its processes, and without a meaning for others. */
export const hopName = (secret: () => string): (() => string) => {
  let name: string | undefined;
  return () => {
    name ??= hash('sha256', `hop ${secret()}`, 'hex').slice(0, 16);
    return name;
  };
};
