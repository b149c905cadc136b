import { join } from 'node:path';

/** Content of a service manager's file for this installation. */
export interface Installation {
  /** Absolute path of Node.js. */
  readonly node: string;
  /** The command's absolute path and its arguments. */
  readonly args: readonly string[];
  /** Variables of the service; none of them is secret. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path of the configuration's folder. */
  readonly home: string;
  /** The time that a stop may take. */
  readonly stopSeconds: number;
}

/** The first words of a service file; a file without them isn't ours to replace or remove. */
export const mark = 'Written by `junctor service install`';

/** The file with the service's secrets: lines of the form `NAME='value'`. */
export const secretsFile = ({ home }: Pick<Installation, 'home'>): string => join(home, 'service.env');

/**
 * A systemd user unit. It has no option that needs a mount namespace, which a user's manager may not be able to create, nor
 * `MemoryDenyWriteExecute`, which V8's compiler can't run with. Source: systemd.service(5), systemd.exec(5).
 */
export const systemdUnit = (installation: Installation): string => {
  const { node, args, env, stopSeconds } = installation;
  // systemd runs no program with a quote or a backslash in its path. In a program's path, a dollar sign stands for itself.
  const [program, ...words] = /["'\\]/.test(node)
    ? ['/bin/sh', '-c', 'exec "$0" "$@"', node, ...args]
    : [node, ...args];
  const command = [systemdWord(program), ...words.map((word) => systemdWord(word).replaceAll('$', '$$$$'))].join(' ');
  return `# ${mark}, which replaces it. Own settings: systemctl --user edit junctor
[Unit]
Description=Junctor, a gateway for language models
StartLimitIntervalSec=60
StartLimitBurst=10

[Service]
ExecStart=${command}
${Object.entries(env)
  .map(([name, value]) => `Environment=${systemdWord(`${name}=${value}`)}\n`)
  .join('')}# API keys and other secrets, one NAME='value' per line; keep the file at mode 600.
EnvironmentFile=-${secretsFile(installation).replaceAll('%', '%%')}
Restart=on-failure
RestartSec=1
# The main process passes the signal on to its workers.
KillMode=mixed
KillSignal=SIGTERM
# Longer than streams may take when the service stops (TIMEOUTS); install again after changing that.
TimeoutStopSec=${stopSeconds}
SyslogIdentifier=junctor
UMask=0077
NoNewPrivileges=yes
LockPersonality=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native

[Install]
WantedBy=default.target
`;
};

/** One word of a systemd setting: quoted, with `%` doubled, since it would begin a specifier. */
const systemdWord = (text: string): string => `"${text.replace(/["\\]/g, '\\$&').replaceAll('%', '%%')}"`;

/** Name of the launchd job. */
export const launchdLabel = 'local.junctor';

/** Reads the secrets, if there are any, and becomes the service. launchd has no file of variables. */
const withSecrets = 'if [ -f "$1" ]; then set -a; . "$1"; set +a; fi; shift; exec "$@"';

/** A launchd agent. Source: launchd.plist(5). */
export const launchdPlist = (installation: Installation): string => {
  const { node, args, env, home, stopSeconds } = installation;
  const program = ['/bin/sh', '-c', withSecrets, 'junctor', secretsFile(installation), node, ...args];
  const log = join(home, 'start.log');
  const variables = Object.entries(env).map(([name, value]) => `    <key>${name}</key>\n    ${xmlText(value)}\n`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${mark}, which replaces it. API keys and other secrets belong in service.env, at mode 600. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  ${xmlText(launchdLabel)}
  <key>ProgramArguments</key>
  <array>
${program.map((word) => `    ${xmlText(word)}\n`).join('')}  </array>
  <key>EnvironmentVariables</key>
  <dict>
${variables.join('')}  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ExitTimeOut</key>
  <integer>${stopSeconds}</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>StandardOutPath</key>
  ${xmlText(log)}
  <key>StandardErrorPath</key>
  ${xmlText(log)}
</dict>
</plist>
`;
};

const xmlText = (text: string): string =>
  `<string>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')}</string>`;

/**
 * PowerShell commands that make a task which starts at logon. Windows services need a program that answers the service
 * manager, which Node.js doesn't, and tasks of `schtasks` end after three days.
 */
export const windowsCommands = ({ node, args, env }: Installation): string => {
  const variables = Object.entries(env).map(
    ([name, value]) => `[Environment]::SetEnvironmentVariable('${name}', ${powerShellText(value)}, 'User')\n`,
  );
  const words = args.map((word) => (/\s/.test(word) ? `"${word}"` : word)).join(' ');
  return `${variables.join('')}$action = New-ScheduledTaskAction -Execute ${powerShellText(node)} -Argument ${powerShellText(words)}
$trigger = New-ScheduledTaskTrigger -AtLogOn -User "$env:USERDOMAIN\\$env:USERNAME"
$settings = New-ScheduledTaskSettingsSet -ExecutionTimeLimit ([TimeSpan]::Zero) -RestartCount 10 -RestartInterval (New-TimeSpan -Minutes 1) -AllowStartIfOnBatteries -DontStopIfGoingOnBatteries
Register-ScheduledTask -TaskName Junctor -Action $action -Trigger $trigger -Settings $settings
Start-ScheduledTask -TaskName Junctor
`;
};

const powerShellText = (text: string): string => `'${text.replaceAll("'", "''")}'`;
