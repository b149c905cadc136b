import { execFile } from 'node:child_process';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { configFile } from '../../config/read.ts';
import { defaultSettings } from '../../config/sections/service-settings.ts';
import { writeAtomically } from '../../config/write-atomically.ts';
import { errorCode, ifMissing, messageOf } from '../../model/fault.ts';
import { commandFile } from '../../paths.ts';
import { type Cli, CommandError } from '../cli.ts';
import { type Leave, leaveArguments } from '../leave.ts';
import { locateService, type ServiceLocation } from '../reach-service.ts';
import {
  type Installation,
  launchdLabel,
  launchdPlist,
  mark,
  secretsFile,
  systemdUnit,
  windowsCommands,
} from './service-file.ts';
import { keepVariables, missingVariables } from './service-variables.ts';
import { versionManagerOf } from './version-managers.ts';

/** Options of the commands. */
interface ServiceOptions extends Leave {
  /** Adds this shell's variables that the service needs to `service.env`. */
  readonly withVariables?: boolean;
  /** Replaces the platform of this machine. */
  readonly platform?: NodeJS.Platform;
  /** Replaces the path of this Node.js. */
  readonly node?: string;
}

/** A program and its arguments. */
type Command = readonly [program: string, ...args: string[]];

/** A platform's way to run a service for one user. */
interface ServiceManager {
  /** Path of the file that describes the service. */
  readonly file: string;
  readonly render: (installation: Installation) => string;
  /** Loads the file and starts the service, now and at each login. */
  readonly enable: readonly Command[];
  /** Stops the service. */
  readonly disable: readonly Command[];
  /** Runs after the file has been removed. */
  readonly forget: readonly Command[];
  /** Notes for the user. */
  readonly hint: string;
}

const systemctl = (...args: readonly string[]): Command => ['systemctl', '--user', ...args];
const unit = 'junctor.service';

const managers: Partial<Record<NodeJS.Platform, (userHome: string) => ServiceManager>> = {
  linux: (userHome) => ({
    file: join(userHome, '.config/systemd/user', unit),
    render: systemdUnit,
    enable: [systemctl('daemon-reload'), systemctl('enable', '--now', unit)],
    disable: [systemctl('disable', '--now', unit)],
    forget: [systemctl('daemon-reload')],
    hint: 'It stops when you log out; `loginctl enable-linger` keeps it running, and starts it with the machine.',
  }),
  darwin: (userHome) => {
    const domain = `gui/${process.getuid?.() ?? 0}`;
    const file = join(userHome, 'Library/LaunchAgents', `${launchdLabel}.plist`);
    return {
      file,
      render: launchdPlist,
      enable: [['launchctl', 'bootstrap', domain, file]],
      disable: [['launchctl', 'bootout', `${domain}/${launchdLabel}`]],
      forget: [],
      hint: 'It runs while you are logged in.',
    };
  },
};

/** `junctor service print`: writes the file that `install` would install to standard output. */
export const printService = async (cli: Cli, options: ServiceOptions): Promise<void> => {
  const installation = installationOf(cli, options, await locateService(cli));
  const { platform = process.platform } = options;
  const render = platform === 'win32' ? windowsCommands : managerOn(platform, cli).render;
  warnOfPins(cli, installation);
  const missing = Object.keys(await missingVariables(cli)).join(', ');
  if (missing !== '') cli.warn(`${lacking(cli, missing)} add them as NAME='value' lines.`);
  cli.print(render(installation).trimEnd());
};

/**
 * `junctor service install`: has the user's service manager run the service. Replaces only a file of its own. On Windows it
 * prints the commands to run, and fails.
 */
export const installService = async (cli: Cli, options: ServiceOptions): Promise<void> => {
  const { platform = process.platform } = options;
  const located = await locateService(cli);
  const installation = installationOf(cli, options, located);
  if (platform === 'win32') {
    cli.print(windowsCommands(installation).trimEnd());
    throw new CommandError(
      'Nothing was installed. Run the commands above in PowerShell to make a task that starts it.',
    );
  }
  const { file, render, enable, disable, hint } = managerOn(platform, cli);
  const earlier = await ownFile(file);
  const { found } = located;
  if (earlier === undefined && found.type === 'running') {
    throw new CommandError(
      `Junctor is already running on ${cli.home} (process ${found.pid}). Stop it first with \`junctor stop\`.`,
    );
  }
  if (installation.args[0]?.includes('/_npx/')) {
    cli.warn('This installation is in the cache of npx, which npm may empty; install the package to keep the service.');
  }
  warnOfPins(cli, installation);
  // launchd doesn't start a service whose log can't be opened.
  await mkdir(cli.home, { recursive: true, mode: 0o700 });
  await writeAtomically(file, render(installation));
  cli.print(`${earlier === undefined ? 'Wrote' : 'Replaced'} ${file}.`);
  await offerVariables(cli, options);
  if (earlier !== undefined) {
    // So that the new file is used. It may not be running.
    await runAll(cli, disable).catch((error: unknown) => cli.warn(messageOf(error)));
  }
  if (await runAll(cli, enable)) cli.print(`Started the service. ${hint}`);
  else cli.print(`To start it, run:\n${shown(enable)}\n${hint}`);
};

/** Writes the variables that the service needs to `service.env` if that is wanted, else lists them. */
const offerVariables = async (cli: Cli, { withVariables = false }: ServiceOptions): Promise<void> => {
  const file = `${secretsFile(cli)} (mode 600)`;
  const missing = await missingVariables(cli);
  const names = Object.keys(missing).join(', ');
  if (names === '') cli.print(`API keys belong in ${file}, as NAME='value' lines.`);
  else if (withVariables) {
    await keepVariables(cli, missing);
    cli.print(`Added ${names} to ${file}.`);
  } else {
    cli.print(`${lacking(cli, names)} add them as NAME='value' lines, or run this command with --with-variables.`);
  }
};

const lacking = (cli: Cli, names: string): string =>
  `The service doesn't get this shell's variables. Of those that it needs, ${names} are not in ${secretsFile(cli)} (mode 600):`;

/** Warns that the service ends with one version of Node.js, where the paths lead into the folder of that version. */
const warnOfPins = (cli: Cli, { node, args: [command = ''] }: Installation): void => {
  const pinned = [node, command].find((path) => versionManagerOf(path) !== undefined);
  if (pinned === undefined) return;
  cli.warn(
    `The service runs ${pinned}, which ${versionManagerOf(pinned)} keeps for one version of Node.js: ` +
      'install the service again after each update, before the old version is removed; or use a Node.js outside of it.',
  );
};

/** `junctor service uninstall`: stops the service and removes its file, if it is our own. */
export const uninstallService = async (cli: Cli, options: ServiceOptions): Promise<void> => {
  const { platform = process.platform } = options;
  if (platform === 'win32') {
    cli.print('Unregister-ScheduledTask -TaskName Junctor');
    throw new CommandError('Nothing was removed. Run `junctor stop`, and the command above in PowerShell.');
  }
  const { file, disable, forget } = managerOn(platform, cli);
  if ((await ownFile(file)) === undefined) return cli.print(`The service is not installed: there is no ${file}.`);
  const isStopped = await runAll(cli, disable);
  await rm(file);
  await runAll(cli, forget);
  cli.print(`Removed ${file}.`);
  if (!isStopped) cli.print('`junctor stop` stops the service, if it is running.');
};

const managerOn = (platform: NodeJS.Platform, { env }: Cli): ServiceManager => {
  const manager = managers[platform]?.(env.HOME || homedir());
  if (!manager) throw new CommandError(`There is no service file for ${platform}; \`junctor start\` runs the service.`);
  return manager;
};

/** Time to stop the processes once all streams have ended, in seconds. */
const marginSeconds = 20;

const installationOf = ({ env, home }: Cli, leave: ServiceOptions, { config }: ServiceLocation): Installation => {
  const { node = process.execPath } = leave;
  const { leaveMs, drainMs } = (config ?? defaultSettings()).timeouts;
  const installation = {
    node,
    args: [commandFile, 'start', ...leaveArguments(leave)],
    env: {
      ...(env.JUNCTOR_HOME && { JUNCTOR_HOME: home }),
      ...(env.JUNCTOR_CONFIG && { JUNCTOR_CONFIG: configFile(home, env) }),
    },
    home,
    stopSeconds: Math.ceil((leaveMs + drainMs) / 1000) + marginSeconds,
  };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they would end a line of the file.
  const isUnfit = (path: string): boolean => /[\x00-\x1f\x7f]/.test(path);
  const unfit = [node, ...installation.args, home, ...Object.values(installation.env)].find(isUnfit);
  if (unfit === undefined) return installation;
  throw new CommandError(`A service file can't hold the path ${JSON.stringify(unfit)}: it has a control character.`);
};

/** The text of an installed file; `undefined` if there is none. Rejects if it isn't ours. */
const ownFile = async (file: string): Promise<string | undefined> => {
  const text = await readFile(file, 'utf8').catch(ifMissing(undefined));
  if (text === undefined || text.includes(mark)) return text;
  throw new CommandError(`${file} was not written by \`junctor service install\`: move it away first.`);
};

const execute = promisify(execFile);

/** Runs the commands; `false` if the service manager isn't on this machine. Rejects with the command and its error. */
const runAll = async ({ env }: Cli, commands: readonly Command[]): Promise<boolean> => {
  for (const [program, ...args] of commands) {
    try {
      await execute(program, args, { env, windowsHide: true });
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return false;
      const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
      throw new CommandError(`\`${[program, ...args].join(' ')}\` failed: ${said || String(error)}`);
    }
  }
  return true;
};

const shown = (commands: readonly Command[]): string => commands.map((words) => `  ${words.join(' ')}`).join('\n');
