import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import type { Environment } from '../config/env.ts';
import { isService } from '../service/workers/find-service.ts';
import { readPidFile } from '../service/workers/pid-file.ts';

/** The name that the product had before. Its package was `@switchyard/gateway`. */
export const formerName = 'switchyard';

/** Prefix of the variables of the former name; none of them is read. */
const formerVariable = 'SWITCHYARD_';

/** Such a variable at the beginning of a line of variables. */
export const formerVariableLine = /^((?:export )?)SWITCHYARD_/gm;

/** In our folder: what was imported, so that nothing more is said of it. */
export const importedMark = 'imported-from';

/** The service that runs on a folder under the former name; `undefined`: none. */
export const formerService = (folder: string): { readonly pid: number; readonly baseUrl?: string } | undefined => {
  const found = readPidFile(folder, formerName);
  if (!found || found.pid === 0 || !isService(found.pid, `${formerName}: service`)) return undefined;
  return { pid: found.pid, ...(found.baseUrl !== undefined && { baseUrl: found.baseUrl }) };
};

/**
 * One line on what the product left under its former name and doesn't use: its folder, service, file of a service manager and
 * variables. `undefined`: there is nothing, or the folder has been imported and the rest is gone.
 */
export const formerNotice = (env: Environment, home: string): string | undefined => {
  const userHome = userHomeOf(env) ?? home;
  const folder = resolve(env[`${formerVariable}HOME`] || join(userHome, `.${formerName}`));
  const isFolder = folder !== home && existsSync(join(folder, 'config.json'));
  const service = formerService(folder);
  const units = [
    join(userHome, '.config/systemd/user', `${formerName}.service`),
    join(userHome, 'Library/LaunchAgents', `local.${formerName}.plist`),
  ].filter((file) => existsSync(file));
  const variables = Object.keys(env)
    .filter((name) => name.startsWith(formerVariable))
    .sort();
  const shown = inHome(folder, userHome);
  const parts = [
    ...(isFolder && !existsSync(join(home, importedMark))
      ? [`the folder ${shown} isn't used: \`junctor import --from ${shown}\` takes it over`]
      : []),
    ...(service
      ? [`its service still runs (process ${service.pid}${service.baseUrl ? `, ${service.baseUrl}` : ''})`]
      : []),
    ...units.map((file) => `its service file is still installed (${inHome(file, userHome)})`),
    ...(variables.length > 0 ? [`${variables.join(', ')} ${variables.length > 1 ? 'are' : 'is'} ignored`] : []),
  ];
  return parts.length > 0
    ? `Junctor was called Switchyard before: ${parts.join('; ')} (docs/upgrading.md).`
    : undefined;
};

/** `undefined`: a container's user may have no folder. */
const userHomeOf = (env: Environment): string | undefined => {
  if (env.HOME) return env.HOME;
  try {
    return homedir();
  } catch {
    return undefined;
  }
};

const inHome = (path: string, userHome: string): string => {
  const below = relative(userHome, path);
  return below.startsWith('..') || below === '' ? path : `~/${below}`;
};
