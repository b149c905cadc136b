import type { Config } from '../config/config.ts';
import { readConfig } from '../config/read.ts';
import { defaultSettings } from '../config/sections/service-settings.ts';
import { validateConfig } from '../config/validate.ts';
import { isJsonObject, type JsonObject, parseJson } from '../model/json/json.ts';
import { askDirectly } from '../runtime/ask-directly.ts';
import { answers, type FoundService, findService } from '../service/workers/find-service.ts';
import { baseUrlOf } from '../service/workers/listen-address.ts';
import { type Cli, CommandError } from './cli.ts';

/** The service of a configuration's folder, as seen from another process. */
export interface ServiceLocation {
  /** Of an invalid one, what can be read; `undefined`: nothing can. */
  readonly config: Config | undefined;
  readonly found: FoundService;
  /** Base URL where it answers, or would if it ran. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
}

/** Locates the service by its PID file, else at the configured address. */
export const locateService = async ({ home, env }: Pick<Cli, 'home' | 'env'>): Promise<ServiceLocation> => {
  const config = await configOf(home, env);
  const found = await findService(home);
  const { host, port, apiKey } = config ?? { ...defaultSettings(), apiKey: undefined };
  const address = host === 'localhost' ? defaultSettings().host : host;
  const configured = baseUrlOf({ host, configuredPort: port, port, addresses: [address] });
  const located: ServiceLocation = { config, found, baseUrl: configured, apiKey };
  if (found.type === 'running') return { ...located, baseUrl: found.baseUrl };
  if (found.type !== 'none' || port === 0 || !(await answers(configured))) return located;
  // In a read-only folder a service has no PID file; ask the one at the configured port for its folder.
  const facts = await callService(located, 'GET', '/api/service').catch(() => undefined);
  const { pid, home: servedHome, startedAt } = facts?.body ?? {};
  if (typeof pid !== 'number' || servedHome !== home) return located;
  const startedAtMs = Date.parse(String(startedAt));
  return { ...located, found: { type: 'running', pid, startedAtMs, baseUrl: configured } };
};

/** Without a file, settings from the environment still apply; of one with faults, what can be read: the service runs with an earlier one. */
const configOf = async (home: string, env: Cli['env']): Promise<Config | undefined> => {
  const read = await readConfig(home, env);
  const checked = read.type === 'missing' ? validateConfig({}, env) : read;
  return 'config' in checked ? checked.config : checked.draft;
};

/** Locates the running service. Throws a `CommandError` if it doesn't run or doesn't answer. */
export const reachService = async (cli: Pick<Cli, 'home' | 'env'>): Promise<ServiceLocation> => {
  const located = await locateService(cli);
  if (located.found.type === 'running') return located;
  if (located.found.type === 'silent')
    throw new CommandError(`Junctor is not responding (process ${located.found.pid}).`);
  throw new CommandError(`Junctor is not running. Start it with \`junctor start --daemon\`.`);
};

/** Response of an `/api` endpoint. */
interface ServiceAnswer {
  readonly status: number;
  /** Empty if the body isn't a JSON object. */
  readonly body: JsonObject;
}

/** Response timeout, in milliseconds; long, since a restart waits for new processes to start. */
const answerMs = 60_000;

/** Calls one of the service's `/api` endpoints. Rejects on connection errors and timeouts. */
export const callService = async (
  { baseUrl, apiKey }: { readonly baseUrl: string; readonly apiKey: string | undefined },
  method: 'GET' | 'POST',
  path: string,
  sent?: JsonObject,
): Promise<ServiceAnswer> => {
  const headers = {
    ...(apiKey !== undefined && { 'x-api-key': apiKey }),
    ...(sent && { 'content-type': 'application/json' }),
  };
  const content = sent && { body: JSON.stringify(sent) };
  const { status, text } = await askDirectly(baseUrl + path, { method, headers, ...content, limitMs: answerMs });
  const body = parseJson(text);
  return { status, body: isJsonObject(body) ? body : {} };
};
