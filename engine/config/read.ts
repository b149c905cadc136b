import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { JsonObject } from '../model/json.ts';
import type { Config } from './config.ts';
import type { Finding } from './findings.ts';
import type { Environment } from './interpolate.ts';
import { parseConfig } from './parse.ts';
import { validateConfig } from './validate.ts';

/** What lies in the configuration's folder. */
export type ConfigRead =
  /** There is no file. */
  | { readonly type: 'missing' }
  | { readonly type: 'invalid'; readonly faults: readonly Finding[]; readonly warnings: readonly Finding[] }
  | {
      readonly type: 'valid';
      /** The configuration in the user's spelling, references to the environment as references. */
      readonly written: JsonObject;
      readonly config: Config;
      readonly warnings: readonly Finding[];
    };

/** The configuration's folder: `SWITCHYARD_HOME`, or else `.switchyard` in the user's home. Absolute. */
export const configHome = (env: Environment): string => resolve(env.SWITCHYARD_HOME || join(homedir(), '.switchyard'));

/** The configuration's file in its folder. */
export const configFile = (home: string): string => join(home, 'config.json');

/** Reads and checks `config.json`. A file that can't be read is `invalid`, like one that is wrong. */
export const readConfig = async (home: string, env: Environment): Promise<ConfigRead> => {
  let text: string;
  try {
    text = await readFile(configFile(home), 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    if (code === 'ENOENT') return { type: 'missing' };
    return { type: 'invalid', faults: [{ path: '', message: `can't be read (${code})` }], warnings: [] };
  }
  return readConfigText(text, env);
};

/** Checks the text of a configuration. */
export const readConfigText = (text: string, env: Environment): Exclude<ConfigRead, { type: 'missing' }> => {
  const parsed = parseConfig(text);
  if ('faults' in parsed) return { type: 'invalid', faults: parsed.faults, warnings: [] };
  const { written } = parsed;
  const result = validateConfig(written, env);
  return 'config' in result ? { type: 'valid', written, ...result } : { type: 'invalid', ...result };
};
