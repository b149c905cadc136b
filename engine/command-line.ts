import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** What a start may say beside the configuration. */
export interface CommandLine {
  /** Folders beside the configuration's from which custom transformers may be loaded; absolute. */
  readonly transformerFolders: readonly string[];
}

/** Reads `--allow-transformer-path DIR`, which may repeat. Throws an error worded for users for anything else. */
export const readCommandLine = (args: readonly string[]): CommandLine => {
  const { values } = parseArgs({
    args: [...args],
    options: { 'allow-transformer-path': { type: 'string', multiple: true } },
  });
  return { transformerFolders: (values['allow-transformer-path'] ?? []).map((folder) => resolve(folder)) };
};
