import { readFile } from 'node:fs/promises';
import { formats } from '../../../transformers/index.ts';
import { type Environment, references } from '../../config/env.ts';
import { parseConfig } from '../../config/parse.ts';
import { configFile } from '../../config/read.ts';
import { writeAtomically } from '../../config/write-atomically.ts';
import { ifMissing } from '../../model/fault.ts';
import { knownVendors } from '../../service/load-config.ts';
import { type Cli, CommandError } from '../cli.ts';
import { secretsFile } from './service-file.ts';

/** Variables of proxies and certificates; service managers don't pass on a shell's. */
const networkNames: ReadonlySet<string> = new Set([
  ...['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [name, name.toLowerCase()]),
  'NODE_EXTRA_CA_CERTS',
  'NODE_OPTIONS',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
]);

/** Variables that override fields of the configuration. */
const overrideNames = ['JUNCTOR_HOST', 'JUNCTOR_PORT', 'JUNCTOR_APIKEY', 'JUNCTOR_HTTP'];

/**
 * The variables of this shell that an installed service would lack: those of proxies and certificates, and those that the
 * configuration refers to, or without one, the vendors' keys. Those in `service.env` are left out.
 */
export const missingVariables = async ({ env, home }: Pick<Cli, 'env' | 'home'>): Promise<Environment> => {
  const text = await readFile(configFile(home, env), 'utf8').catch(ifMissing(undefined));
  // An invalid configuration may be so for the lack of a variable.
  const parsed = text === undefined ? undefined : parseConfig(text);
  const named = parsed && 'source' in parsed ? references(parsed.source).map(({ name }) => name) : [];
  const keys = parsed ? [] : knownVendors(formats).map(({ variable }) => variable);
  const kept = namesIn(await readSecrets(home));
  const wanted = [...new Set([...named, ...keys, ...overrideNames, ...networkNames])];
  return Object.fromEntries(
    wanted.flatMap((name) => (env[name] && !kept.has(name) ? [[name, env[name]] as const] : [])),
  );
};

/** Adds variables to `service.env`. Throws a `CommandError` for a value that the file can't hold. */
export const keepVariables = async ({ home }: Pick<Cli, 'home'>, variables: Environment): Promise<void> => {
  const lines = Object.entries(variables).map(([name, value = '']) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they would end a line of the file.
    if (!/['\x00-\x1f\x7f]/.test(value)) return `${name}='${value}'\n`;
    throw new CommandError(`The value of ${name} has a quote or a control character, which service.env can't hold.`);
  });
  const text = await readSecrets(home);
  const end = text === '' || text.endsWith('\n') ? '' : '\n';
  await writeAtomically(secretsFile({ home }), text + end + lines.join(''));
};

const readSecrets = (home: string): Promise<string> => readFile(secretsFile({ home }), 'utf8').catch(ifMissing(''));

const namesIn = (text: string): ReadonlySet<string> =>
  new Set(text.split('\n').flatMap((line) => /^\s{0,8}(?:export )?([A-Za-z_]\w{0,200})=/.exec(line)?.[1] ?? []));
