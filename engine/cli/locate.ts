import { type Config, defaults } from '../config/config.ts';
import { readConfig } from '../config/read.ts';
import { validateConfig } from '../config/validate.ts';
import { answers, type FoundService, findService } from '../workers/find-service.ts';
import { baseUrlOf } from '../workers/place.ts';
import { callService } from './call-service.ts';
import { type Cli, CommandError } from './cli.ts';

/** The service of a configuration's folder, as far as it can be seen from outside. */
export interface Located {
  /** None where there is no file, or one that can't be used. */
  readonly config: Config | undefined;
  readonly found: FoundService;
  /** Where it answers, or would. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

/** Looks for the service: by its file, and where that is missing at the address that the configuration names. */
export const locate = async ({ home, env }: Pick<Cli, 'home' | 'env'>): Promise<Located> => {
  const config = await configOf(home, env);
  const found = await findService(home);
  const { host, port, apiKey } = config ?? { ...defaults, apiKey: undefined };
  const address = host === 'localhost' ? defaults.host : host;
  const configured = baseUrlOf({ host, configuredPort: port, port, addresses: [address] });
  const located: Located = { config, found, baseUrl: configured, apiKey };
  if (found.type === 'running') return { ...located, baseUrl: found.baseUrl };
  if (found.type !== 'none' || port === 0 || !(await answers(configured))) return located;
  // A folder that can't be written holds no file of its service.
  const facts = await callService(located, 'GET', '/api/service').catch(() => undefined);
  const { pid, home: itsHome, startedAt } = facts?.body ?? {};
  if (typeof pid !== 'number' || itsHome !== home) return located;
  const startedAtMs = Date.parse(String(startedAt));
  return { ...located, found: { type: 'running', pid, startedAtMs, baseUrl: configured } };
};

/** Without a file, what the environment sets still holds. */
const configOf = async (home: string, env: Cli['env']): Promise<Config | undefined> => {
  const read = await readConfig(home, env);
  const checked = read.type === 'missing' ? validateConfig({}, env) : read;
  return 'config' in checked ? checked.config : undefined;
};

/** The service, which has to be running. Throws a `CommandError` when it isn't. */
export const locateRunning = async (cli: Pick<Cli, 'home' | 'env'>): Promise<Located> => {
  const located = await locate(cli);
  if (located.found.type === 'running') return located;
  const state = located.found.type === 'silent' ? `does not answer (process ${located.found.pid})` : 'is not running';
  throw new CommandError(`Switchyard ${state}; \`switchyard start --daemon\` starts it.`);
};
