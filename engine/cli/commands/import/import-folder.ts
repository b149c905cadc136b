import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { formatFinding, formatFindings } from '../../../config/diagnostics.ts';
import { editConfigText, printConfig } from '../../../config/edit/edit.ts';
import { ConfigOnDisk } from '../../../config/files/file.ts';
import { configFile } from '../../../config/read.ts';
import { writeAtomically } from '../../../config/write-atomically.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../model/json/json.ts';
import { findService } from '../../../service/workers/find-service.ts';
import { sourceOf } from '../../change-config.ts';
import { type Cli, CommandError } from '../../cli.ts';
import { formerName, formerService, formerVariableLine, importedMark } from '../../former-name.ts';
import { leaveOutFaults } from './leave-out-faults.ts';

interface ImportFolderOptions {
  readonly from: string;
  readonly dryRun?: boolean;
}

/**
 * `junctor import --from FOLDER`: takes over a folder of this gateway, such as the one under its former name: the configuration,
 * history, usage, presets, modules, keys and whatever else is in it, but no logs and nothing of a running process. No file of ours
 * is replaced but the configuration, of which there is a backup. The folder itself stays as it is.
 */
export const importFolder = async (
  cli: Cli,
  path: string | undefined,
  { from, dryRun = false }: ImportFolderOptions,
): Promise<void> => {
  if (path !== undefined) throw new CommandError('Name either a configuration of another gateway or --from a folder.');
  const folder = resolve(from.replace(/^~(?=\/|$)/, cli.env.HOME || homedir()));
  const theirFile = join(folder, 'config.json');
  const text = await readFile(theirFile, 'utf8').catch(() => {
    throw new CommandError(`Cannot read ${theirFile}.`);
  });
  if (folder === cli.home) throw new CommandError(`${folder} is this gateway's folder already.`);
  if (!dryRun) await refuseRunning(cli, folder);
  const config = await fitConfig(cli, folder, theirFile, text);
  const files = await comparedFiles(folder, cli.home);
  for (const line of config.lines) cli.print(line);
  for (const [kind, count] of countedByFolder(files))
    cli.print(`imported  ${kind}${count > 1 ? ` (${count} files)` : ''}`);
  for (const { name, how } of files)
    if (how === 'differs') cli.print(`skipped   ${name}: ${join(cli.home, name)} is there already and differs`);
  if (dryRun) return cli.print('Nothing was written.');
  await mkdir(cli.home, { recursive: true, mode: 0o700 });
  for (const file of files) await take(file, folder, cli);
  const backup = await config.write();
  await writeFile(join(cli.home, importedMark), `${folder}\n`, { mode: 0o600 });
  cli.print(
    `Wrote ${cli.home}${backup === undefined ? '' : `; the previous configuration is ${backup}`}. ${folder} is unchanged.`,
  );
};

/** The files of running services change while they are copied. */
const refuseRunning = async ({ home }: Cli, folder: string): Promise<void> => {
  const former = formerService(folder);
  if (former)
    throw new CommandError(
      `Nothing was written: the service on ${folder} runs (process ${former.pid}). Stop it first: kill ${former.pid}, or by its service manager.`,
    );
  for (const place of [folder, home]) {
    const found = await findService(place);
    if (found.type === 'running' || found.type === 'silent')
      throw new CommandError(
        `Nothing was written: the service on ${place} runs (process ${found.pid}). Stop it first with \`junctor stop\`.`,
      );
  }
};

interface FittedConfig {
  readonly lines: readonly string[];
  /** Writes our configuration; resolves to the name of a backup. */
  readonly write: () => Promise<string | undefined>;
}

/** Theirs with our folder in place of theirs. Its members replace ours, providers by name; the rest of ours stays. */
const fitConfig = async (cli: Cli, folder: string, theirFile: string, text: string): Promise<FittedConfig> => {
  const moved = movePaths(text, folder, cli);
  const theirs = sourceOf(theirFile, moved);
  const file = new ConfigOnDisk(configFile(cli.home, cli.env), cli.home);
  const old = (await file.read())?.toString();
  const ours = old === undefined ? {} : sourceOf(file.path, old);
  const { source, dropped, result } = leaveOutFaults(merge(theirs, ours), ours, cli.env);
  if ('faults' in result)
    throw new CommandError(`Nothing was written: ${theirFile} can't be used:${formatFindings(result.faults)}`);
  const isWhole = isDeepStrictEqual(source, theirs);
  return {
    lines: [
      `imported  config.json`,
      ...dropped.map((fault) => `left out  ${formatFinding(fault)}`),
      ...result.warnings.map((warning) => `warning   ${formatFinding(warning)}`),
    ],
    async write() {
      await file.write((present) => {
        // Its comments come with it.
        if (isWhole) return moved;
        return present === undefined ? printConfig(source) : editConfigText(present, source);
      });
      const [backup] = await file.backups.list();
      return old === undefined ? undefined : backup?.name;
    },
  };
};

const merge = (theirs: JsonObject, ours: JsonObject): JsonObject => {
  const key = ['Providers', 'providers'].find((name) => Array.isArray(theirs[name]));
  const own = ours.Providers ?? ours.providers;
  const { Providers: _, providers: __, ...rest } = ours;
  if (key === undefined) return { ...ours, ...theirs };
  const given = theirs[key];
  const list: readonly Json[] = Array.isArray(given) ? given : [];
  const names = new Set(list.map(nameOf));
  const others = (Array.isArray(own) ? own : []).filter((entry: Json) => !names.has(nameOf(entry)));
  return { ...rest, ...theirs, [key]: [...list, ...others] };
};

const nameOf = (entry: Json): Json | undefined => (isJsonObject(entry) ? entry.name : undefined);

/** Replaces paths in JSON or in lines of variables: those of their folder become those of ours. */
const movePaths = (text: string, folder: string, { home, env }: Pick<Cli, 'home' | 'env'>): string => {
  const quoted = (path: string): string => JSON.stringify(path).slice(1, -1);
  const userHome = env.HOME || homedir();
  const short = folder.startsWith(userHome + sep) ? [`~/${relative(userHome, folder).split(sep).join('/')}`] : [];
  return [folder, ...short].reduce(
    (moved, path) => moved.replaceAll(`${quoted(path)}/`, () => `${quoted(home)}/`),
    text,
  );
};

/** Files of a process or a version, or that can be restored: they stay where they are. */
const left: ReadonlySet<string> = new Set([
  'config.json',
  'config.schema.json',
  `${formerName}.pid`,
  'junctor.pid',
  importedMark,
  'app.log',
  'start.log',
  'logs',
  'run',
]);

/** A file of theirs. `append`: lines that ours are added to. */
interface FoundFile {
  /** Relative to the folder. */
  readonly name: string;
  readonly how: 'copy' | 'append' | 'same' | 'differs';
}

const comparedFiles = async (folder: string, home: string): Promise<readonly FoundFile[]> => {
  const names = (await readdir(folder)).filter((name) => !left.has(name));
  const all = await Promise.all(
    names.map(async (name) => ((await isFolder(join(folder, name))) ? filesBelow(folder, name) : [name])),
  );
  return Promise.all(
    all.flat().map(async (name): Promise<FoundFile> => {
      const ours = await readFile(join(home, name)).catch(() => undefined);
      if (ours === undefined) return { name, how: 'copy' };
      if (ours.equals(await readFile(join(folder, name)))) return { name, how: 'same' };
      // Lines with the same name count once.
      return { name, how: /^usage\/hours\/[^/]+\.jsonl$/.test(name.split(sep).join('/')) ? 'append' : 'differs' };
    }),
  );
};

/** Packages of modules are copied as one. */
const filesBelow = async (folder: string, name: string): Promise<readonly string[]> => {
  if (basename(name) === 'node_modules') return [name];
  const entries = await readdir(join(folder, name), { withFileTypes: true });
  const found = await Promise.all(
    entries.map((entry) => {
      const path = join(name, entry.name);
      if (entry.isDirectory()) return filesBelow(folder, path);
      return entry.isFile() || entry.isSymbolicLink() ? [path] : [];
    }),
  );
  return found.flat();
};

const isFolder = async (path: string): Promise<boolean> =>
  (await stat(path).catch(() => undefined))?.isDirectory() === true;

/** The report: a folder's files are one line. */
const countedByFolder = (files: readonly FoundFile[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const { name, how } of files) {
    if (how === 'differs') continue;
    const [kind = name] = name.split(sep);
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
};

const take = async ({ name, how }: FoundFile, folder: string, cli: Cli): Promise<void> => {
  const { home } = cli;
  const from = join(folder, name);
  const to = join(home, name);
  if (how === 'same' || how === 'differs') return;
  await mkdir(dirname(to), { recursive: true, mode: 0o700 });
  if (how === 'append') {
    const [theirs, ours] = await Promise.all([readFile(from, 'utf8'), readFile(to, 'utf8')]);
    return writeAtomically(to, `${theirs.trimEnd()}\n${ours}`);
  }
  const text = isText(name) ? await readFile(from, 'utf8') : undefined;
  const moved = text === undefined ? undefined : movedText(name, text, folder, cli);
  return moved === text || moved === undefined
    ? cp(from, to, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
    : writeAtomically(to, moved);
};

const isText = (name: string): boolean => name === 'service.env' || /^presets[\\/].*\.json$/.test(name);

const movedText = (name: string, text: string, folder: string, cli: Cli): string => {
  const moved = movePaths(text, folder, cli);
  return name === 'service.env' ? moved.replaceAll(formerVariableLine, '$1JUNCTOR_') : moved;
};
