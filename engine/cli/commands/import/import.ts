import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { formats, stages } from '../../../../transformers/index.ts';
import { formatFinding, formatFindings } from '../../../config/diagnostics.ts';
import { editConfigText, printConfig } from '../../../config/edit/edit.ts';
import { ConfigOnDisk } from '../../../config/files/file.ts';
import { schemaReference } from '../../../config/json-schema.ts';
import { configFile } from '../../../config/read.ts';
import { longestTimerMs } from '../../../config/schema.ts';
import { isLoopback } from '../../../config/sections/service-settings.ts';
import { listenFault } from '../../../http/bind.ts';
import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../../../model/json/json.ts';
import { sourceOf } from '../../change-config.ts';
import { type Cli, CommandError } from '../../cli.ts';
import { locateService } from '../../reach-service.ts';
import { claudeCodeRouter } from './field-tables.ts';
import { leaveOutFaults } from './leave-out-faults.ts';
import { type ImportNotes, importProviders, type KnownTransformers } from './providers.ts';
import { fitModule } from './router-module.ts';

/**
 * `junctor import [path]`: merges another gateway's configuration into ours. What would keep the result from loading is left out.
 * Backs up our file first; writes nothing if ours has faults of its own, or nothing changes.
 */
export const importConfig = async (
  cli: Cli,
  path: string | undefined,
  { dryRun = false }: { readonly dryRun?: boolean },
): Promise<void> => {
  const from = path === undefined ? join(homedir(), ...claudeCodeRouter.configPath) : resolve(path);
  const theirs = sourceOf(from, await readFile(from, 'utf8').catch(() => failUnreadable(from)));
  const file = new ConfigOnDisk(configFile(cli.home, cli.env), cli.home);
  const old = await file.read();
  const ours = old ? sourceOf(file.path, old.toString()) : { $schema: schemaReference };
  const merged = mergeImported(theirs, ours, knownTransformers());
  const module = await fitModule(merged, ours, from, cli.home);
  const { PORT, ...withoutPort } = merged.source;
  const whyNot = PORT === undefined || PORT === ours.PORT ? undefined : await whyPortStays(cli, PORT);
  if (whyNot !== undefined) merged.left.push({ path: 'PORT', why: whyNot });
  const oldPort: JsonObject = { ...withoutPort, ...(ours.PORT !== undefined && { PORT: ours.PORT }) };
  const { source, dropped, result } = leaveOutFaults(whyNot === undefined ? merged.source : oldPort, ours, cli.env);
  const notTaken = new Set([...merged.left, ...dropped].map(({ path: place }) => place));
  for (const place of merged.taken) if (!notTaken.has(place)) cli.print(`imported  ${place}`);
  for (const { path: place, why } of merged.left) cli.print(`skipped   ${place}: ${why}`);
  for (const fault of dropped) cli.print(`left out  ${formatFinding(fault)}`);

  if ('faults' in result) {
    throw new CommandError(`Nothing was written: ${file.path} has faults already:${formatFindings(result.faults)}`);
  }
  for (const warning of result.warnings) cli.print(`warning   ${formatFinding(warning)}`);
  if (isDeepStrictEqual(source, ours)) return cli.print('Nothing was written: nothing changes.');
  if (dryRun) return cli.print('Nothing was written.');
  await module?.copy();
  await file.write((text) => (text === undefined ? printConfig(source) : editConfigText(text, source)));
  const [backup] = await file.backups.list();
  cli.print(`Wrote ${file.path}${old && backup ? `; the previous file is ${backup.name}` : ''}.`);
};

/** Why the port isn't taken over: the tools in use call the running gateway at its own, and another program's can't be opened. */
const whyPortStays = async (cli: Cli, port: Json): Promise<string | undefined> => {
  const { config, found, baseUrl } = await locateService(cli);
  if (found.type !== 'none') return `this gateway runs at ${baseUrl}, where its clients call it`;
  if (!config || typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  return (await listenFault(config.host, port)) === undefined ? undefined : `another program has ${port} open`;
};

const failUnreadable = (path: string): never => {
  throw new CommandError(`Cannot read ${path}.`);
};

const knownTransformers = () =>
  new Map(
    [...formats, ...stages].map(
      ([name, { optionsReader }]) => [name, (options: JsonObject) => optionsReader.faults(options, 'options')] as const,
    ),
  );

/** A merged configuration, and a note for each imported or skipped field. */
interface ImportResult extends ImportNotes {
  readonly source: JsonObject;
}

/**
 * Merges claude-code-router's configuration, converted to our fields, into ours. Its values replace ours, providers by name; the
 * rest of ours stays. Notes the outcome for each field.
 */
export const mergeImported = (theirs: JsonObject, ours: JsonObject, known: KnownTransformers): ImportResult => {
  const notes: ImportNotes = { taken: [], left: [] };
  const source: JsonDraft = { ...ours };
  for (const [field, value] of Object.entries(theirs)) {
    if (value === undefined) continue;
    if (field === 'Providers' || field === 'providers') {
      const imported = importProviders(value, notes, known);
      const names = new Set(imported.providers.map(({ name }) => name));
      const isOther = (entry: Json, key: 'name' | 'provider'): boolean =>
        !isJsonObject(entry) || typeof entry[key] !== 'string' || !names.has(entry[key]);
      source.Providers = [...listOf(ours.Providers).filter((entry) => isOther(entry, 'name')), ...imported.providers];
      const entries = listOf(ours.transformers).filter((entry) => isOther(entry, 'provider'));
      if (entries.length + imported.transformers.length > 0)
        source.transformers = [...entries, ...imported.transformers];
    } else if (field === 'Router') source.Router = takeRouter(value, source.Router, notes);
    else if (field === 'fallback') source.Router = takeFallback(value, source.Router, notes);
    else if (field === claudeCodeRouter.routerModule) takeRouterModule(field, value, source, notes);
    else if (field === 'API_TIMEOUT_MS') takeTimeout(value, source, notes);
    else if (field === 'HOST' && isOpen(value, theirs)) {
      notes.left.push({ path: field, why: 'it allows access from other machines, but APIKEY is not set' });
    } else if (claudeCodeRouter.sameFields.has(field)) {
      source[field] = value;
      notes.taken.push(field);
    } else notes.left.push({ path: field, why: claudeCodeRouter.notImported.get(field) ?? 'not supported' });
  }
  return { ...notes, source };
};

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

const isOpen = (host: Json, { APIKEY }: JsonObject): boolean =>
  typeof host === 'string' && !isLoopback(host) && !APIKEY;

const takeRouter = (theirs: Json, ours: Json | undefined, notes: ImportNotes): JsonObject => {
  const router: JsonDraft = { ...(isJsonObject(ours) ? ours : {}) };
  const routes: JsonDraft = { ...(isJsonObject(router.routes) ? router.routes : {}) };
  for (const [name, value] of Object.entries(isJsonObject(theirs) ? theirs : {})) {
    const path = `Router.${name}`;
    // It writes an empty string for "no route".
    if (value === undefined || value === '') continue;
    if (name === 'default' || name === 'longContextThreshold') router[name] = value;
    else if (claudeCodeRouter.scenarios.has(name)) routes[name] = value;
    else {
      notes.left.push({ path, why: 'no such scenario' });
      continue;
    }
    notes.taken.push(path);
  }
  return Object.keys(routes).length > 0 ? { ...router, routes } : router;
};

const takeFallback = (theirs: Json, ours: Json | undefined, notes: ImportNotes): JsonObject => {
  const router: JsonObject = isJsonObject(ours) ? ours : {};
  const fallback: JsonDraft = { ...(isJsonObject(router.fallback) ? router.fallback : {}) };
  for (const [name, value] of Object.entries(isJsonObject(theirs) ? theirs : {})) {
    if (value === undefined) continue;
    const path = `fallback.${name}`;
    if (name !== 'default' && !claudeCodeRouter.scenarios.has(name)) {
      notes.left.push({ path, why: 'no such scenario' });
      continue;
    }
    fallback[name] = value;
    notes.taken.push(path);
  }
  return Object.keys(fallback).length > 0 ? { ...router, fallback } : router;
};

/** The path is that of the other gateway; `copyModule` makes it one of this folder. */
const takeRouterModule = (field: string, path: Json, source: JsonDraft, notes: ImportNotes): void => {
  if (typeof path !== 'string' || path.trim() === '') {
    notes.left.push({ path: field, why: 'not a path' });
    return;
  }
  source.Router = { ...(isJsonObject(source.Router) ? source.Router : {}), module: { path, form: 'messages' } };
  notes.taken.push(`${field} (as Router.module)`);
};

const takeTimeout = (value: Json, source: JsonDraft, notes: ImportNotes): void => {
  const ms = Number(value);
  if (!Number.isInteger(ms) || ms < 1) {
    notes.left.push({ path: 'API_TIMEOUT_MS', why: 'not a number of milliseconds' });
    return;
  }
  source.TIMEOUTS = {
    ...(isJsonObject(source.TIMEOUTS) ? source.TIMEOUTS : {}),
    firstByteMs: Math.min(ms, longestTimerMs),
  };
  notes.taken.push('API_TIMEOUT_MS (as TIMEOUTS.firstByteMs)');
};
