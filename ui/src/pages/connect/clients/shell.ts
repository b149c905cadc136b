/** The shells whose syntax is shown. */
export const shells = ['bash', 'powershell'] as const;

/** One of them. */
export type Shell = (typeof shells)[number];

/** What people call them. */
export const shellTitles: Readonly<Record<Shell, string>> = { bash: 'bash, zsh', powershell: 'PowerShell' };

/** The environment variable in which the examples look for the gateway's key. */
export const keyVariable = 'SWITCHYARD_API_KEY';

/** What stands for a key where none is asked for: programs refuse to start without one. */
export const anyKey = 'any-value';

/** A value that a shell takes from the variable with the key. */
export const theKey = Symbol('the key');

/** Sets variables, a line each; an empty value takes a variable away. Without a key to take, any value stands for it. */
export const assignments = (
  shell: Shell,
  wantsKey: boolean,
  variables: readonly (readonly [name: string, value: string | typeof theKey])[],
): string =>
  variables
    .map(([name, value]) => {
      const text = value === theKey && !wantsKey ? anyKey : value;
      return text === theKey ? keyAssignments[shell](name) : writers[shell](name, text);
    })
    .join('\n');

const keyAssignments: Readonly<Record<Shell, (name: string) => string>> = {
  bash: (name) => `export ${name}="$${keyVariable}"`,
  powershell: (name) => `$env:${name} = $env:${keyVariable}`,
};

const writers: Readonly<Record<Shell, (name: string, value: string) => string>> = {
  bash: (name, value) => (value === '' ? `unset ${name}` : `export ${name}=${quoted.bash(value)}`),
  powershell: (name, value) => `$env:${name} = ${quoted.powershell(value)}`,
};

/** A text that the shell takes as it is. */
export const quoted: Readonly<Record<Shell, (text: string) => string>> = {
  bash: (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`),
  powershell: (text) => `'${text.replaceAll("'", "''")}'`,
};

/** The label of a snippet for a shell. */
export const shellLabel: Readonly<Record<Shell, string>> = { bash: 'Shell', powershell: 'PowerShell' };

/** Lets programs reach this host past a proxy that the environment names. */
export const withoutProxy = (shell: Shell, hostName: string): string => {
  const hosts = [...new Set(['127.0.0.1', 'localhost', hostName])].join(',');
  return assignments(shell, false, [['NO_PROXY', hosts]]);
};
