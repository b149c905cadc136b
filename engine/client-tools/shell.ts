import { clientKeyVariable, keyReference, type Shell, type Variables } from './tool.ts';

/** Formats variables for a shell, one per line: `eval "$(junctor env --for …)"`. An empty value unsets the variable. */
export const shellLines = (variables: Variables, shell: Shell): readonly string[] =>
  Object.entries(variables).map(([name, value]) => writers[shell](name, value));

const writers: Readonly<Record<Shell, (name: string, value: string) => string>> = {
  posix: (name, value) => (value === '' ? `unset ${name}` : `export ${name}=${written('posix', value)}`),
  fish: (name, value) => (value === '' ? `set -e ${name}` : `set -gx ${name} ${written('fish', value)}`),
  powershell: (name, value) => `$env:${name} = ${written('powershell', value)}`,
};

const written = (shell: Shell, value: string): string =>
  value === keyReference ? references[shell] : shellQuoted[shell](value);

const references: Readonly<Record<Shell, string>> = {
  posix: `"$${clientKeyVariable}"`,
  fish: `"$${clientKeyVariable}"`,
  powershell: `$env:${clientKeyVariable}`,
};

/** Quotes a text for the shell. */
export const shellQuoted: Readonly<Record<Shell, (text: string) => string>> = {
  posix: (text) => `'${text.replaceAll("'", `'\\''`)}'`,
  fish: (text) => `'${text.replace(/[\\']/g, (letter) => `\\${letter}`)}'`,
  powershell: (text) => `'${text.replaceAll("'", "''")}'`,
};

/** Excludes the gateway's host from the user's HTTP proxy. `given`: the hosts that are excluded already, with commas. */
export const withoutProxy = (baseUrl: string, given = ''): Variables => {
  const { hostname } = new URL(baseUrl);
  const hosts = ['127.0.0.1', 'localhost', hostname.replace(/^\[(.*)\]$/, '$1')];
  const all = [...new Set([...given.split(',').map((host) => host.trim()), ...hosts])].filter((host) => host !== '');
  return { NO_PROXY: all.join(','), no_proxy: all.join(',') };
};
