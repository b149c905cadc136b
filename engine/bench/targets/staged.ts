import { statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { isJsonObject, parseJson } from '../../model/json/json.ts';
import { type Configured, configuredTarget } from './configured.ts';
import { junctorIn, ownFolder } from './junctor.ts';
import type { Target } from './target.ts';

/** The gateway without a stage, and with it: with the user's configuration, or the bench's own. Throws an error worded for users. */
export const staged = (
  written: string,
  options: string | undefined,
  configured: Configured | undefined,
): readonly Target[] => {
  const file = stageFile(written);
  const given = options === undefined ? {} : parseJson(options);
  if (!isJsonObject(given)) throw new Error('--options must be a JSON object.');
  const entry = { path: file, ...(options !== undefined && { options: given }) };
  const name = `with ${basename(file)}`;
  if (configured) {
    const folders = { ...configured, folders: [...configured.folders, dirname(file)] };
    return [configuredTarget('without', configured), configuredTarget(name, folders, [entry])];
  }
  return [
    junctorIn(ownFolder, 'without'),
    junctorIn(ownFolder, name, { transformers: [entry], folders: [dirname(file)] }),
  ];
};

/** Absolute path of a stage's file, whose ending may be left out. Throws an error worded for users if there is none. */
export const stageFile = (written: string): string => {
  const file = ['', '.ts', '.js', '.mjs'].map((ending) => resolve(written + ending)).find(isFile);
  if (file === undefined) throw new Error(`There is no file ${written}.`);
  return file;
};

const isFile = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
