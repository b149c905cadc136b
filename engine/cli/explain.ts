import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { firstValueFrom } from 'rxjs';
import { clientProtocols } from '../../protocols/index.ts';
import { explain, minimalRequest } from '../endpoints/explain.ts';
import { FaultError } from '../model/fault.ts';
import { isJsonObject, type JsonObject, parseJson } from '../model/json/json.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import { type Cli, CommandError } from './cli.ts';
import { usableConfig } from './offline-config.ts';
import { offlineGateway } from './offline-gateway.ts';

/** Options of `switchyard explain`. */
interface ExplainOptions {
  readonly client?: string;
  readonly model?: string;
  readonly text?: string;
  readonly header?: readonly string[];
  readonly key?: string;
  readonly json?: boolean;
  readonly allowTransformerPath?: readonly string[];
}

/**
 * `switchyard explain`: prints the route and the upstream request for a client request. Uses the configuration on disk; sends
 * nothing.
 */
export const explainRequest = async (cli: Cli, file: string | undefined, options: ExplainOptions): Promise<void> => {
  const config = await usableConfig(cli);
  const client = clientFor(options.client ?? 'messages');
  const body = file === undefined ? fromOptions(client, options) : await fromFile(file);
  const { gateway } = await offlineGateway(config, cli.home, options.allowTransformerPath ?? []);
  const headers = Object.fromEntries((options.header ?? []).map(headerOf));
  const origin = { ...(options.key !== undefined && { key: options.key }) };
  const question = { client, body, headers, origin, atMs: Date.now() };
  const answer = await firstValueFrom(explain(question, gateway)).catch(rejectExplain);
  if (options.json) cli.print(JSON.stringify(answer, null, 2));
  else for (const line of lines(answer)) cli.print(line);
};

const clientFor = (wire: string): ClientProtocol => {
  const found = clientProtocols.find(({ protocol }) => protocol.wire === wire);
  if (found) return found.protocol;
  throw new CommandError(`--client must be one of ${clientProtocols.map(({ protocol }) => protocol.wire).join(', ')}.`);
};

const headerOf = (text: string): readonly [string, string] => {
  const colon = text.indexOf(':');
  if (colon < 1) throw new CommandError('--header must be `name: value`.');
  return [text.slice(0, colon).trim().toLowerCase(), text.slice(colon + 1).trim()];
};

const fromOptions = ({ wire }: ClientProtocol, { model, text = 'Hello!' }: ExplainOptions): JsonObject => {
  if (model === undefined) throw new CommandError('Pass a file with a request (- for standard input), or --model.');
  return minimalRequest(wire, model, text);
};

const fromFile = async (file: string): Promise<JsonObject> => {
  const source = file === '-' ? 'standard input' : file;
  const text = await (file === '-' ? readAll(process.stdin) : readFile(file, 'utf8')).catch(() => {
    throw new CommandError(`Cannot read ${source}.`);
  });
  const body = parseJson(text);
  if (isJsonObject(body)) return body;
  throw new CommandError(`Cannot read ${source}: not a JSON object.`);
};

const rejectExplain = (error: unknown): never => {
  if (error instanceof FaultError) throw new CommandError(`The request would be rejected: ${error.message}`);
  throw error;
};

const lines = (answer: JsonObject): readonly string[] => {
  const { reason, provider, model, pool, format, relays, url, headers, losses, fallbacks, rules, warnings, body } =
    answer;
  return [
    `rule          ${reason}`,
    ...(Array.isArray(rules) ? rules.flatMap(ruleLines) : []),
    `route         ${provider},${model} (${format})`,
    ...(isJsonObject(pool) && Array.isArray(pool.members) ? pool.members.map(memberLine) : []),
    ...(Array.isArray(fallbacks) ? fallbacks.map(fallbackLine) : []),
    `pass-through  ${passThrough(relays)}`,
    `call          POST ${url}`,
    ...Object.entries(isJsonObject(headers) ? headers : {}).map(([name, value]) => `              ${name}: ${value}`),
    ...(Array.isArray(losses) && losses.length > 0 ? losses.map(lossLine) : ['losses        none']),
    ...(Array.isArray(warnings) ? warnings.map((warning) => `warning       ${warning}`) : []),
    JSON.stringify(body, null, 2),
  ];
};

const passThrough = (relays: JsonObject[string]): string => {
  const open = isJsonObject(relays) ? Object.keys(relays).filter((half) => relays[half] === true) : [];
  return open.length > 0 ? open.join(' and ') : 'none; request and reply are converted';
};

const ruleLines = (rule: unknown): readonly string[] => {
  const { name, matches, facts } = isJsonObject(rule) ? rule : {};
  return [
    `              ${name}: ${answers.get(matches) ?? 'needs a count'}`,
    ...(Array.isArray(facts) ? facts.map(factLine) : []),
  ];
};

const factLine = (fact: unknown): string => {
  const { says, holds } = isJsonObject(fact) ? fact : {};
  return `                ${says}: ${answers.get(holds) ?? 'needs a count'}`;
};

const answers = new Map<unknown, string>([
  [true, 'yes'],
  [false, 'no'],
]);

const memberLine = (member: unknown): string => {
  const { provider, model, weight, passed } = isJsonObject(member) ? member : {};
  return `member        ${provider},${model} (weight ${weight})${passed === null ? '' : `: passed over, ${passed}`}`;
};

const fallbackLine = (fallback: unknown): string => {
  const { provider, model, format, fault } = isJsonObject(fallback) ? fallback : {};
  return `fallback      ${provider},${model} (${format})${fault === null ? '' : `: ${fault}`}`;
};

const lossLine = (loss: unknown): string => {
  const { path, outcome, step, note } = isJsonObject(loss) ? loss : {};
  return `loss          ${path} ${outcome} by ${step}${note === undefined ? '' : ` (${note})`}`;
};
