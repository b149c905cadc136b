import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { formats, stages } from '../../transformers/index.ts';
import { ConfigFile } from '../config/config-file.ts';
import { editConfigText, printConfig } from '../config/edit-text.ts';
import { wordFinding } from '../config/findings.ts';
import { parseConfig } from '../config/parse.ts';
import { configFile } from '../config/read.ts';
import { validateConfig } from '../config/validate.ts';
import type { JsonObject } from '../model/json.ts';
import { type Cli, CommandError } from './cli.ts';
import { olderGateway } from './neighbours/index.ts';
import { takeOver } from './take-over.ts';

/**
 * `switchyard import [path]`: takes over the other gateway's configuration. Ours is backed up first; when the outcome could not be
 * used, nothing is written.
 */
export const importConfig = async (
  cli: Cli,
  path: string | undefined,
  { dryRun = false }: { readonly dryRun?: boolean },
): Promise<void> => {
  const source = path === undefined ? join(homedir(), ...olderGateway.configPath) : resolve(path);
  const theirs = parse(source, await readFile(source, 'utf8').catch(() => missing(source)));
  const file = new ConfigFile(configFile(cli.home));
  const old = await file.read();
  const ours = old ? parse(file.path, old.toString()) : {};
  const { written, taken, left } = takeOver(theirs, ours, olderGateway, knownTransformers());
  for (const place of taken) cli.say(`taken      ${place}`);
  for (const { path: place, why } of left) cli.say(`not taken  ${place}: ${why}`);

  const result = validateConfig(written, cli.env);
  if ('faults' in result) {
    throw new CommandError(
      `Nothing was written, since it could not be used: ${result.faults.map(wordFinding).join('; ')}`,
    );
  }
  for (const warning of result.warnings) cli.say(`warning    ${wordFinding(warning)}`);
  if (dryRun) return cli.say('Nothing was written.');
  await file.write((text) => (text === undefined ? printConfig(written) : editConfigText(text, written)));
  const [backup] = await file.backups.list();
  cli.say(`${file.path} was written${old && backup ? `; the one before is ${backup.name}` : ''}.`);
};

const missing = (source: string): never => {
  throw new CommandError(`${source} can't be read.`);
};

const parse = (source: string, text: string): JsonObject => {
  const parsed = parseConfig(text);
  if ('written' in parsed) return parsed.written;
  throw new CommandError(`${source} ${parsed.faults.map(({ message }) => message).join('; ')}.`);
};

const knownTransformers = () =>
  new Map(
    [...formats, ...stages].map(
      ([name, { optionsReader }]) => [name, (options: JsonObject) => optionsReader.faults(options, 'options')] as const,
    ),
  );
