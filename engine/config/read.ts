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
  | {
      readonly type: 'invalid';
      readonly faults: readonly Finding[];
      readonly warnings: readonly Finding[];
      /** Absent if the text can't be parsed. */
      readonly source?: JsonObject;
      /** What could be read of it. */
      readonly draft?: Config;
    }
  | {
      readonly type: 'valid';
      /** The source, with environment references unresolved. */
      readonly source: JsonObject;
      readonly config: Config;
      readonly warnings: readonly Finding[];
    };

/** Absolute path of the configuration's folder: `JUNCTOR_HOME`, else `.junctor` in the user's home. */
export const configHome = (env: Environment): string => resolve(withoutTilde(env.JUNCTOR_HOME || '~/.junctor'));

/** A shell replaces the tilde in `NAME=~/x`, but not within quotes; a service file and a container never do. */
const withoutTilde = (path: string): string => path.replace(/^~(?=[/\\]|$)/, () => homedir());

/** Absolute path of the configuration file: `JUNCTOR_CONFIG`, else `config.json` in its folder. */
export const configFile = (home: string, env: Environment): string => {
  const named = env.JUNCTOR_CONFIG?.trim();
  return named ? resolve(withoutTilde(named)) : join(home, 'config.json');
};

/** Reads and validates `config.json`. An unreadable file is `invalid`. */
export const readConfig = async (home: string, env: Environment): Promise<ConfigRead> => {
  let text: string;
  try {
    text = await readFile(configFile(home, env), 'utf8');
  } catch (error) {
    const code = errorCode(error) ?? 'unknown error';
    const isNamed = configFile(home, env) !== configFile(home, {});
    if (code === 'ENOENT' && !isNamed) return { type: 'missing' };
    const message = code === 'ENOENT' ? "doesn't exist: JUNCTOR_CONFIG names it" : `can't be read (${code})`;
    return { type: 'invalid', faults: [{ path: '', message }], warnings: [] };
  }
  return readConfigText(text, env);
};

/** Parses and validates a configuration's text. */
const readConfigText = (text: string, env: Environment): Exclude<ConfigRead, { type: 'missing' }> => {
  const parsed = parseConfig(text);
  if ('faults' in parsed) return { type: 'invalid', faults: parsed.faults, warnings: [] };
  const { source } = parsed;
  const result = validateConfig(source, env);
  return 'config' in result ? { type: 'valid', source, ...result } : { type: 'invalid', source, ...result };
};
