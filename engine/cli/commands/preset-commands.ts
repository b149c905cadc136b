import { readFile, writeFile } from 'node:fs/promises';
import { formatFinding, formatFindings } from '../../config/diagnostics.ts';
import { validatePreset } from '../../config/presets/merge-preset.ts';
import { checkPresetName, readManifest, writeManifest } from '../../config/presets/preset-files.ts';
import { readConfig } from '../../config/read.ts';
import { hideSecrets, isPlaceholder } from '../../config/secrets.ts';
import { messageOf, quoted } from '../../model/fault.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../../model/json/json.ts';
import { type Cli, CommandError } from '../cli.ts';

/** Beginning of a preset's file. */
const kind = 'preset';

/** `junctor preset export NAME FILE`: writes a preset to one file that can be passed on. Keys that it spells out stay behind. */
export const exportPreset = async (cli: Cli, name: string, file: string): Promise<void> => {
  const parsed = await readManifest(cli.home, name);
  if (!parsed) throw new CommandError(`There is no preset ${quoted(name)}.`);
  if ('faults' in parsed) throw new CommandError(`The preset ${name} can't be read:${formatFindings(parsed.faults)}`);
  const manifest = hideSecrets(parsed.source);
  await writeFile(file, `${JSON.stringify({ junctor: kind, name, manifest }, null, 2)}\n`).catch((error: unknown) => {
    throw new CommandError(`Cannot write ${file}: ${messageOf(error)}`);
  });
  cli.print(`Wrote ${file}.`);
  for (const text of placeholdersIn(manifest)) cli.warn(`Left out: ${text}`);
  for (const path of modulesOf(manifest)) cli.warn(`The module ${path} isn't in the file: pass it on beside it.`);
};

/**
 * `junctor preset import FILE`: adds a preset from such a file, if it is valid over the configuration here. Replaces one of this name
 * only with `replace`. A running service uses it at once.
 */
export const importPreset = async (
  cli: Cli,
  file: string,
  { name: wanted, replace = false }: { readonly name?: string; readonly replace?: boolean },
): Promise<void> => {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new CommandError(`Cannot read ${file}: ${messageOf(error)}`);
  });
  const read = parseJson(text);
  if (!isJsonObject(read) || read.junctor !== kind || !isJsonObject(read.manifest) || typeof read.name !== 'string')
    throw new CommandError(`${file} is not a preset: a file that \`junctor preset export\` writes.`);
  const { manifest } = read;
  const name = wanted ?? read.name;
  checkPresetName(name);
  if (!replace && (await readManifest(cli.home, name)))
    throw new CommandError(
      `There is a preset ${quoted(name)} already: --replace replaces it, --name gives another name.`,
    );
  const missing = placeholdersIn(manifest);
  if (missing.length > 0)
    throw new CommandError(
      `Nothing was written: put keys, or references such as $NAME, in ${file} in place of\n${missing.map((one) => `- ${one}`).join('\n')}`,
    );
  const base = await readConfig(cli.home, cli.env);
  const result = validatePreset('source' in base ? (base.source ?? {}) : {}, manifest, cli.env);
  if ('faults' in result) throw new CommandError(`Nothing was written:${formatFindings(result.faults)}`);
  await writeManifest(cli.home, name, manifest);
  for (const warning of result.warnings) cli.warn(`warning: ${formatFinding(warning)}`);
  cli.print(`Added the preset ${name}: requests to /preset/${name}/v1/… use it.`);
};

const placeholdersIn = (value: Json | undefined): readonly string[] => {
  if (typeof value === 'string') return isPlaceholder(value) ? [value] : [];
  if (Array.isArray(value)) return value.flatMap((item: Json) => placeholdersIn(item));
  return isJsonObject(value) ? Object.values(value).flatMap(placeholdersIn) : [];
};

/** Files that the preset loads. */
const modulesOf = ({ transformers, Router }: JsonObject): readonly string[] => {
  const entries: readonly Json[] = Array.isArray(transformers) ? transformers : [];
  const router = isJsonObject(Router) ? Router.module : undefined;
  return [...entries, router ?? null].flatMap((entry) => {
    if (!isJsonObject(entry)) return [];
    return typeof entry.path === 'string' ? [entry.path] : [];
  });
};
