/** The shells that snippets exist for. */
export const shells = ['bash', 'powershell'] as const;

/** One of `shells`. */
export type Shell = (typeof shells)[number];

/** Display names of the shells. */
export const shellTitles: Readonly<Record<Shell, string>> = { bash: 'bash, zsh', powershell: 'PowerShell' };

/** The environment variable that holds the gateway's key in the examples. */
export const keyVariable = 'JUNCTOR_API_KEY';

/** A placeholder key: many clients refuse to start without one. */
export const anyKey = 'any-value';

/** Marks a value that is read from `keyVariable`. */
export const theKey = Symbol('the key');

/** Variable assignments, one per line. An empty value unsets the variable; without a key, `theKey` becomes `anyKey`. */
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

/** A text, quoted for the shell. */
export const quoted: Readonly<Record<Shell, (text: string) => string>> = {
  bash: (text) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`),
  powershell: (text) => `'${text.replaceAll("'", "''")}'`,
};

/** The label of a snippet for a shell. */
export const shellLabel: Readonly<Record<Shell, string>> = { bash: 'Shell', powershell: 'PowerShell' };

/** Excludes this host from the proxy that the environment sets. */
export const withoutProxy = (shell: Shell, hostName: string): string => {
  const hosts = [...new Set(['127.0.0.1', 'localhost', hostName])].join(',');
  return assignments(shell, false, [['NO_PROXY', hosts]]);
};
