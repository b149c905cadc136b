import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { errorCode } from '../model/fault.ts';
import type { JsonObject } from '../model/json/json.ts';
import type { Config } from './config.ts';
import type { Finding } from './diagnostics.ts';
import type { Environment } from './env.ts';
import { parseConfig } from './parse.ts';
import { validateConfig } from './validate.ts';

/** The result of reading `config.json`. */
type ConfigRead =
  /** There is no file. */
  | { readonly type: 'missing' }
  | { readonly type: 'invalid'; readonly faults: readonly Finding[]; readonly warnings: readonly Finding[] }
  | {
      readonly type: 'valid';
      /** The source, with environment references unresolved. */
      readonly written: JsonObject;
      readonly config: Config;
      readonly warnings: readonly Finding[];
    };

/** Absolute path of the configuration's folder: `SWITCHYARD_HOME`, else `.switchyard` in the user's home. */
export const configHome = (env: Environment): string => resolve(env.SWITCHYARD_HOME || join(homedir(), '.switchyard'));

/** Path of the configuration file in its folder. */
export const configFile = (home: string): string => join(home, 'config.json');

/** Reads and validates `config.json`. An unreadable file is `invalid`. */
export const readConfig = async (home: string, env: Environment): Promise<ConfigRead> => {
  let text: string;
  try {
    text = await readFile(configFile(home), 'utf8');
  } catch (error) {
    const code = errorCode(error) ?? 'unknown error';
    if (code === 'ENOENT') return { type: 'missing' };
    return { type: 'invalid', faults: [{ path: '', message: `can't be read (${code})` }], warnings: [] };
  }
  return readConfigText(text, env);
};

/** Parses and validates a configuration's text. */
const readConfigText = (text: string, env: Environment): Exclude<ConfigRead, { type: 'missing' }> => {
  const parsed = parseConfig(text);
  if ('faults' in parsed) return { type: 'invalid', faults: parsed.faults, warnings: [] };
  const { written } = parsed;
  const result = validateConfig(written, env);
  return 'config' in result ? { type: 'valid', written, ...result } : { type: 'invalid', ...result };
};
