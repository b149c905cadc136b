import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { formats, stages } from '../../../transformers/index.ts';
import { errorCode, messageOf } from '../../model/fault.ts';
import { isJsonObject, parseJson } from '../../model/json/json.ts';
import { type Cli, CommandError } from '../cli.ts';
import { starterOf } from './stage-starter.ts';

/** The endings of modules, in the order in which a file without one is looked for. */
export const endings: readonly string[] = ['ts', 'js', 'mts', 'mjs', 'cts', 'cjs'];

/** Names that a file may have on every system. */
const usableName = /^[a-z][a-z0-9-]{0,63}$/;

/**
 * `junctor stage new NAME`: writes a custom transformer and its test into the working directory, and says how to run them. Overwrites
 * nothing.
 */
export const newStage = async (cli: Cli, name: string, { js = false }: { readonly js?: boolean }): Promise<void> => {
  if (!usableName.test(name))
    throw new CommandError('The name must begin with a small letter, and have only small letters, digits and "-".');
  if (stages.has(name) || formats.has(name)) throw new CommandError(`${name} is the name of a built-in transformer.`);
  const folder = process.cwd();
  const names = new Set(endings.flatMap((ending) => [`${name}.${ending}`, `${name}.test.${ending}`]));
  const taken = (await readdir(folder)).find((file) => names.has(file));
  if (taken !== undefined) throw new CommandError(`There is a ${taken} already; nothing is overwritten.`);

  const typed = !js && Boolean(Reflect.get(process.features, 'typescript'));
  const ending = `${(await isCommonJs(folder)) ? 'm' : ''}${typed ? 'ts' : 'js'}`;
  const [file, testFile] = [`${name}.${ending}`, `${name}.test.${ending}`];
  const starter = starterOf(name, file, typed);
  await create(join(folder, file), starter.module);
  await create(join(folder, testFile), starter.test);

  const entry = { path: file, options: { names: ['Ada Lovelace'] } };
  cli.print(`Wrote ${file} and ${testFile}.`);
  cli.print(`test   node --test ${testFile}`);
  cli.print(
    `try    npx junctor stage try ${name} --options '{"names":["Ada"]}' --text 'Who is Ada?' --answer '[[0]] was a countess.'`,
  );
  cli.print(`use    "transformers": [${JSON.stringify(entry)}]`);
  if (!isInstalledIn(folder)) cli.warn('The test needs the package in this folder: npm install --save-dev junctor');
};

const create = (path: string, text: string): Promise<void> =>
  writeFile(path, text, { flag: 'wx' }).catch((error: unknown) => {
    const why = errorCode(error) === 'EEXIST' ? 'it is there already' : messageOf(error);
    throw new CommandError(`Cannot write ${path}: ${why}.`);
  });

/** Whether the nearest package.json says that files are CommonJS, whatever is in them: newer npm writes such ones. */
const isCommonJs = async (folder: string): Promise<boolean> => {
  const text = await readFile(join(folder, 'package.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return dirname(folder) === folder ? false : isCommonJs(dirname(folder));
  const manifest = parseJson(text);
  return isJsonObject(manifest) && manifest.type === 'commonjs';
};

const isInstalledIn = (folder: string): boolean => {
  try {
    createRequire(join(folder, 'package.json')).resolve('junctor/package.json');
    return true;
  } catch {
    return false;
  }
};
