/** The shells whose syntax is known. */
export const shells = ['posix', 'fish', 'powershell', 'json'] as const;
export type Shell = (typeof shells)[number];

/** Variables as a shell takes them in: `eval "$(switchyard env --for …)"`. An empty value takes a variable away. */
export const shellLines = (variables: Readonly<Record<string, string>>, shell: Shell): readonly string[] =>
  shell === 'json'
    ? [JSON.stringify(variables, null, 2)]
    : Object.entries(variables).map(([name, value]) => writers[shell](name, value));

const writers: Readonly<Record<Exclude<Shell, 'json'>, (name: string, value: string) => string>> = {
  posix: (name, value) => (value === '' ? `unset ${name}` : `export ${name}='${value.replaceAll("'", `'\\''`)}'`),
  fish: (name, value) =>
    value === '' ? `set -e ${name}` : `set -gx ${name} '${value.replace(/[\\']/g, (letter) => `\\${letter}`)}'`,
  powershell: (name, value) => `$env:${name} = '${value.replaceAll("'", "''")}'`,
};
