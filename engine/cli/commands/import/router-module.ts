import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { loadRouter } from '../../../config/custom/load-router.ts';
import { errorCode } from '../../../model/fault.ts';
import { isJsonObject, type JsonDraft, type JsonObject } from '../../../model/json/json.ts';
import { claudeCodeRouter } from './field-tables.ts';
import type { ImportNotes } from './providers.ts';

/** A module to be copied. */
interface ImportedModule {
  readonly copy: () => Promise<void>;
}

/**
 * Makes an imported router module one of our folder, since a service loads no modules from elsewhere unless its command line allows it. One
 * that can't be read, needs other files, or doesn't load from there is left out; our own is kept in its place. `undefined`: none is
 * to be copied.
 */
export const fitModule = async (
  merged: ImportNotes & { source: JsonObject },
  ours: JsonObject,
  from: string,
  home: string,
): Promise<ImportedModule | undefined> => {
  const router = isJsonObject(merged.source.Router) ? merged.source.Router : {};
  const own = isJsonObject(ours.Router) ? ours.Router.module : undefined;
  const path = isJsonObject(router.module) ? router.module.path : undefined;
  const field = claudeCodeRouter.routerModule;
  const place = merged.taken.findIndex((taken) => taken.startsWith(`${field} `));
  if (place < 0 || typeof path !== 'string') return undefined;
  const file = resolve(dirname(from), path.replace(/^~(?=\/)/, homedir()));
  const name = basename(file);
  const problem = await problemOf(file, join(home, name));
  if (problem === undefined) {
    merged.source = { ...merged.source, Router: { ...router, module: { path: name, form: 'messages' } } };
    merged.taken[place] = `${field} (as Router.module: ${file} is copied to ${name})`;
    return {
      async copy() {
        await mkdir(home, { recursive: true, mode: 0o700 });
        if (file !== join(home, name)) await copyFile(file, join(home, name));
      },
    };
  }
  merged.taken.splice(place, 1);
  merged.left.push({ path: field, why: `${file} ${problem}` });
  const { module: _, ...others } = router;
  const rest: JsonDraft = { ...others, ...(own !== undefined && { module: own }) };
  merged.source = { ...merged.source, Router: rest };
  return undefined;
};

/** Why a module can't be used from our folder. Loads it from a folder of its own, as it would be there. */
const problemOf = async (file: string, target: string): Promise<string | undefined> => {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    return `can't be read (${errorCode(error) ?? 'unknown error'})`;
  }
  const present = file === target ? undefined : await readFile(target).catch(() => undefined);
  if (present && !present.equals(bytes)) return `is left out: ${target} is there already and differs`;
  const trial = await mkdtemp(join(tmpdir(), 'junctor-import-'));
  try {
    const name = basename(file);
    await copyFile(file, join(trial, name));
    const loaded = await loadRouter({ path: name, form: 'messages' }, { home: trial, allowed: [] });
    if (loaded?.form !== 'unusable') return undefined;
    return `does not load from another folder: ${loaded.findings.map(({ message }) => message).join('; ')}`;
  } finally {
    await rm(trial, { recursive: true, force: true });
  }
};
