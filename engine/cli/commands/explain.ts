import { readFile } from 'node:fs/promises';
import { text as readAll } from 'node:stream/consumers';
import { firstValueFrom } from 'rxjs';
import { Explanation } from '../../../admin/schema.ts';
import { clientProtocols } from '../../../protocols/index.ts';
import { explain } from '../../endpoints/explain.ts';
import { FaultError } from '../../model/fault.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../model/json/json.ts';
import type { ClientProtocol } from '../../model/protocol.ts';
import { reader } from '../../model/schema.ts';
import { type Cli, CommandError } from '../cli.ts';
import type { Leave } from '../leave.ts';
import { usableConfig } from '../offline-config.ts';
import { offlineGateway } from '../offline-gateway.ts';
import { callService, locateService } from '../reach-service.ts';

/** Options of `junctor explain`. */
interface ExplainOptions extends Pick<Leave, 'allowTransformerPath'> {
  readonly client?: string;
  readonly model?: string;
  readonly text?: string;
  readonly header?: readonly string[];
  readonly key?: string;
  readonly path?: string;
  readonly json?: boolean;
}

/**
 * `junctor explain`: prints the route and the upstream request for a client request. Asks the running service, which knows its own
 * environment and its upstreams' health; without one, uses the configuration on disk and this shell's environment. Sends nothing.
 */
export const explainRequest = async (cli: Cli, file: string | undefined, options: ExplainOptions): Promise<void> => {
  const client = clientFor(options.client ?? 'messages');
  const body = file === undefined ? fromOptions(client, options) : await fromFile(file);
  const answer =
    (await explainedByService(cli, client, body, options)) ?? (await explainedHere(cli, client, body, options));
  if (options.json) cli.print(JSON.stringify(answer, null, 2));
  else for (const line of lines(answer)) cli.print(line);
};

const explanation = reader(Explanation, { compiled: false });

/** `undefined`: no service runs on this folder, or it doesn't take the key of the configuration on disk. */
const explainedByService = async (
  cli: Cli,
  { wire }: ClientProtocol,
  body: JsonObject,
  { key, path, header = [] }: ExplainOptions,
): Promise<Explanation | undefined> => {
  const located = await locateService(cli);
  if (located.found.type !== 'running') return undefined;
  const headers = Object.fromEntries(header.map(headerOf));
  const asked = { client: wire, body, headers, ...(key !== undefined && { key }), ...(path !== undefined && { path }) };
  const answer = await callService(located, 'POST', '/api/explain', asked).catch(() => undefined);
  if (!answer || answer.status === 401 || answer.status === 403) return undefined;
  if (explanation.matches(answer.body)) return answer.body;
  const { error } = answer.body;
  const message = isJsonObject(error) && typeof error.message === 'string' ? error.message : answer.body.message;
  throw new CommandError(`The request would be rejected: ${message ?? `status ${answer.status}`}`);
};

const explainedHere = async (
  cli: Cli,
  client: ClientProtocol,
  body: JsonObject,
  options: ExplainOptions,
): Promise<Explanation> => {
  const config = await usableConfig(cli);
  cli.warn("No service answers for this folder: explained by the file and this shell's environment variables.");
  const { gateway } = await offlineGateway(config, cli.home, options);
  const headers = Object.fromEntries((options.header ?? []).map(headerOf));
  const origin = {
    ...(options.key !== undefined && { key: options.key }),
    ...(options.path !== undefined && { path: options.path }),
  };
  const question = { client, body, headers, origin, atMs: Date.now() };
  return firstValueFrom(explain(question, gateway)).catch(rejectExplain);
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

const fromOptions = ({ question }: ClientProtocol, { model, text = 'Hello!' }: ExplainOptions): JsonObject => {
  if (model === undefined) throw new CommandError('Pass a file with a request (- for standard input), or --model.');
  return question(model, text);
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

const lines = (answer: Explanation): readonly string[] => {
  const {
    reason,
    provider,
    model,
    pool,
    format,
    taught,
    relays,
    prefix,
    compaction,
    url,
    headers,
    losses,
    fallbacks,
    rules,
    conditions,
    warnings,
    body,
  } = answer;
  return [
    `rule          ${reason}`,
    ...rules.flatMap(ruleLines),
    `route         ${provider},${model} (${format})`,
    ...answer.rows.map(({ kind, name, because }) => `known ${kind.padEnd(8)}${name}, by its ${because}`),
    ...conditions.map(conditionLine),
    ...(pool?.members.map(memberLine) ?? []),
    ...fallbacks.map(fallbackLine),
    `pass-through  ${passThrough(relays)}`,
    ...prefixLines(prefix),
    ...compactionLines(compaction),
    ...taught.flatMap(taughtLines),
    `call          POST ${url}`,
    ...Object.entries(headers).map(([name, value]) => `              ${name}: ${value}`),
    ...(losses.length > 0 ? losses.map(lossLine) : ['losses        none']),
    ...warnings.map((warning) => `warning       ${warning}`),
    JSON.stringify(body, null, 2),
  ];
};

const passThrough = ({ request, reply }: Explanation['relays']): string => {
  const open = [...(request ? ['request'] : []), ...(reply ? ['reply'] : [])];
  return open.length > 0 ? open.join(' and ') : 'none; request and reply are converted';
};

const prefixLines = (prefix: Explanation['prefix']): readonly string[] => {
  if (!prefix) return [];
  return [
    prefix.grows
      ? 'prefix        the call begins with that of the turn before'
      : `prefix        differs from the turn before at ${prefix.at}, by ${prefix.step}: no cache matches what follows`,
  ];
};

const compactionLines = (compaction: Explanation['compaction']): readonly string[] => {
  if (!compaction) return [];
  const { by, tokens } = compaction;
  return [
    `compaction    of about ${tokens} tokens, ${by === 'model' ? 'by a summary of the model' : 'by the provider'}`,
  ];
};

const taughtLines = ({
  field,
  does,
  words,
  since,
  until,
  config,
}: Explanation['taught'][number]): readonly string[] => [
  `taught        ${field}: ${does}, since ${since}, until ${until}`,
  `                by ${JSON.stringify(words)}`,
  ...(config === null ? [] : [`                for good, in the model's entry: ${config}`]),
];

const ruleLines = ({ name, matches, facts }: Explanation['rules'][number]): readonly string[] => [
  `              ${name}: ${yesOrNo(matches)}`,
  ...facts.map(({ says, holds }) => `                ${says}: ${yesOrNo(holds)}`),
];

const conditionLine = ({ name, entry, holds, because }: Explanation['conditions'][number]): string =>
  `stage         ${name} (${entry}) ${holds ? 'runs' : "is left out: its condition doesn't hold"}${because === '' ? '' : `: ${because}`}`;

const yesOrNo = (holds: boolean | null): string => (holds === null ? 'not known' : holds ? 'yes' : 'no');

type Member = NonNullable<Explanation['pool']>['members'][number];

const memberLine = ({ provider, model, weight, passed }: Member): string =>
  `member        ${provider},${model} (weight ${weight})${passed === null ? '' : `: passed over, ${passed}`}`;

const fallbackLine = ({ provider, model, format, fault }: Explanation['fallbacks'][number]): string =>
  `fallback      ${provider},${model} (${format})${fault === null ? '' : `: ${fault}`}`;

const lossLine = ({ path, outcome, step, note }: Explanation['losses'][number]): string =>
  `loss          ${path} ${outcome} by ${step}${note === undefined ? '' : ` (${note})`}`;
