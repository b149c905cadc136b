import { basename } from 'node:path';
import { formatFindings } from '../config/diagnostics.ts';
import { editConfigText } from '../config/edit/edit.ts';
import { ConfigOnDisk } from '../config/files/file.ts';
import { parseConfig } from '../config/parse.ts';
import { configFile } from '../config/read.ts';
import { validateConfig } from '../config/validate.ts';
import { FaultError } from '../model/fault.ts';
import type { JsonObject } from '../model/json/json.ts';
import { type Cli, CommandError } from './cli.ts';

/**
 * Changes the configuration's file, whose name it returns; `undefined` if the file may not be written. `missing` is what there is
 * without a file; absent: the file is needed. Writes nothing that has faults.
 */
export const changeConfig = async (
  { home, env }: Cli,
  change: (source: JsonObject) => JsonObject,
  missing?: JsonObject,
): Promise<string | undefined> => {
  const file = new ConfigOnDisk(configFile(home, env), home);
  const changed = (old: string | undefined): string => {
    const before = old === undefined ? missing : sourceOf(file.path, old);
    if (!before) throw new CommandError(`${file.path} does not exist. The first start creates it.`);
    const source = change(before);
    const result = validateConfig(source, env);
    if ('faults' in result) {
      throw new CommandError(`Nothing was written:${formatFindings(result.faults)}`);
    }
    return editConfigText(old ?? '', source);
  };
  try {
    await file.write(changed);
    return basename(file.path);
  } catch (error) {
    if (error instanceof FaultError && error.fault.kind === 'read-only') return undefined;
    throw error;
  }
};

/** The source in a configuration's text. Throws a `CommandError` that names the file. */
export const sourceOf = (path: string, text: string): JsonObject => {
  const parsed = parseConfig(text);
  if ('source' in parsed) return parsed.source;
  throw new CommandError(`${path} can't be read:${formatFindings(parsed.faults)}`);
};
