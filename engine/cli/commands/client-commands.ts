import { text as readText } from 'node:stream/consumers';
import type { Config, NamedClient } from '../../config/config.ts';
import { configFile } from '../../config/read.ts';
import {
  editClients,
  expiryOf,
  firstClientNotice,
  hashedKey,
  lastClientNotice,
  newClientKey,
} from '../../config/sections/clients.ts';
import { isJsonObject, type Json, type JsonObject } from '../../model/json/json.ts';
import { nanoPerUsd } from '../../routing/catalogue/catalogue.ts';
import { awaitChange } from '../await-change.ts';
import { changeConfig } from '../change-config.ts';
import { type Cli, CommandError } from '../cli.ts';
import { usableConfig } from '../offline-config.ts';
import { callService, locateService } from '../reach-service.ts';

/** The limits that `client add` can set. Numbers are texts, as typed. */
interface ClientOptions {
  readonly models?: readonly string[];
  readonly routes?: readonly string[];
  readonly requestsPerMinute?: string;
  readonly tokensPerMinute?: string;
  readonly streams?: string;
  readonly budgetTokens?: string;
  readonly budgetUsd?: string;
  readonly budgetPer?: string;
  readonly expires?: string;
}

/**
 * `junctor client add NAME`: adds a client to `CLIENTS` and prints its key, which isn't stored. Where the configuration's file
 * can't be written, prints the line to add instead.
 */
export const addClient = async (cli: Cli, name: string, options: ClientOptions): Promise<void> => {
  const key = newClientKey();
  const entry = entryOf(name, key, options);
  const before = await configOrNone(cli);
  const written = await changeClients(cli, (clients) => [...clients, entry]);
  if (written === undefined) {
    cli.warn(`${configFile(cli.home, cli.env)} can't be written. Add this to its CLIENTS, where it comes from:`);
    cli.warn(JSON.stringify(entry));
  } else {
    await untilServed(cli, (names) => names.includes(name));
    cli.warn(`Added ${name} to ${written}. Its key, which is shown only now:`);
  }
  cli.print(key);
  const notice = before && firstClientNotice(before);
  if (notice === undefined) return;
  cli.warn(`${notice}. For those that use the gateway now, \`junctor client add existing-tools\` makes a key.`);
};

const entryOf = (
  name: string,
  key: string,
  { models, routes, budgetTokens, budgetUsd, budgetPer = 'month', expires, ...numbers }: ClientOptions,
): JsonObject => {
  const limits = Object.fromEntries(
    (['requestsPerMinute', 'tokensPerMinute', 'streams'] as const).flatMap((limit) => {
      const text = numbers[limit];
      return text === undefined ? [] : [[limit, numberOf(text)] as const];
    }),
  );
  return {
    name,
    key: hashedKey(key),
    ...(models && { models }),
    ...(routes && { routes }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...((budgetTokens ?? budgetUsd) !== undefined && {
      budget: {
        ...(budgetTokens !== undefined && { tokens: numberOf(budgetTokens) }),
        ...(budgetUsd !== undefined && { usd: numberOf(budgetUsd) }),
        per: budgetPer,
      },
    }),
    ...(expires !== undefined && { expires: expiryOf(expires, Date.now()) }),
  };
};

/** A text that isn't a number is unchanged: the check of the configuration reports it. */
const numberOf = (text: string): Json => (/^\d{1,15}(?:\.\d{1,9})?$/.test(text) ? Number(text) : text);

/** `junctor client revoke NAME`: removes a client. A running service refuses its key by the time this returns. */
export const revokeClient = async (cli: Cli, name: string): Promise<void> => {
  const before = await configOrNone(cli);
  const written = await changeClients(cli, (clients) => {
    const others = clients.filter((client) => !isJsonObject(client) || client.name !== name);
    if (others.length === clients.length) throw new CommandError(`There is no client ${JSON.stringify(name)}.`);
    return others;
  });
  if (written === undefined) throw new CommandError(`${configFile(cli.home, cli.env)} can't be written.`);
  await untilServed(cli, (names) => !names.includes(name));
  cli.print(`Removed ${name} from ${written}.`);
  const notice = before && lastClientNotice(before);
  if (notice !== undefined) cli.warn(`${notice}.`);
};

/** Waits until a running service has the clients that a change of the file leaves. */
const untilServed = async (cli: Cli, isRight: (names: readonly Json[]) => boolean): Promise<void> => {
  const awaited = await awaitChange(cli, '/api/clients', ({ clients }) =>
    isRight(Array.isArray(clients) ? clients.map((row: Json) => (isJsonObject(row) ? (row.name ?? '') : '')) : []),
  );
  if (awaited === 'unknown')
    cli.warn('The running service did not say whether it has the change; it takes it up within seconds.');
};

/** The configuration before a change; `undefined` if it can't be used, which the change itself reports. */
const configOrNone = (cli: Cli): Promise<Config | undefined> => usableConfig(cli).catch(() => undefined);

/** `junctor client list`: prints the clients, their limits and, if the service runs, what they used. */
export const listClients = async (cli: Cli, { json = false }: { readonly json?: boolean }): Promise<void> => {
  const { clients = [] } = await usableConfig(cli);
  const answer = await askService(cli);
  const used = useByName(answer);
  const rows = clients.map(({ name, models, routes, limits, budget, expiresAtMs }) => ({
    name,
    ...(models && { models }),
    ...(routes && { routes }),
    limits,
    ...(budget && { budget }),
    ...(expiresAtMs !== undefined && { expires: new Date(expiresAtMs).toISOString() }),
    ...servedPart(used.get(name)),
  }));
  if (json) return cli.print(JSON.stringify(rows, null, 2));
  if (rows.length === 0) cli.print('There are no clients with keys of their own.');
  const width = Math.max(0, ...rows.map(({ name }) => name.length));
  for (const { name, usage, ...row } of rows) {
    cli.print(
      [name.padEnd(width), describe(row), usage === undefined ? '' : describeUsage(usage)].filter(Boolean).join('  '),
    );
    for (const line of notesOf(used.get(name))) cli.print(`${' '.repeat(width)}  ${line}`);
  }
  const refusals = answer?.keyRefusals;
  if (Number(refusals) > 0) cli.print(`Requests refused since the start for want of a valid key: ${refusals}.`);
};

/** A running service's part, added to the configuration's. */
const servedPart = (use: ClientUse | undefined) =>
  use && { usage: use.usage, ...(use.unpricedModels.length > 0 && { unpricedModels: use.unpricedModels }) };

/** Notes about a budget, for the owner of a client. */
const notesOf = (use: ClientUse | undefined): readonly string[] => [
  ...(use?.budget?.isUsedUp === true ? [`its budget is used up, until ${use.budget.renewsAt}`] : []),
  ...(use && use.unpricedModels.length > 0
    ? [`no price is known of ${use.unpricedModels.join('; ')}: these don't count in its budget in USD`]
    : []),
];

const describe = ({
  models,
  routes,
  limits,
  budget,
  expires,
}: Pick<NamedClient, 'models' | 'routes' | 'limits' | 'budget'> & { readonly expires?: string }): string =>
  [
    models ? `models ${models.join(' ')}` : 'all models',
    ...(routes ? [`routes ${routes.join(' ')}`] : []),
    ...Object.entries(limits).map(([limit, most]) => `${limit} ${most}`),
    ...(budget?.tokens === undefined ? [] : [`${budget.tokens} tokens per ${budget.per}`]),
    ...(budget?.usd === undefined ? [] : [`${budget.usd} USD per ${budget.per}`]),
    ...(expires === undefined ? [] : [`${Date.parse(expires) > Date.now() ? 'expires' : 'EXPIRED'} ${expires}`]),
  ].join(', ');

/** A running service's data of a client, as far as it is printed. An older version sends less. */
interface ClientUse {
  readonly usage: JsonObject;
  readonly budget: JsonObject | undefined;
  readonly unpricedModels: readonly Json[];
}

/** The running service's data of its clients; `undefined` if it doesn't run. */
const askService = async (cli: Cli): Promise<JsonObject | undefined> => {
  const located = await locateService(cli);
  if (located.found.type !== 'running') return undefined;
  return (await callService(located, 'GET', '/api/clients').catch(() => undefined))?.body;
};

/** One row of the output. */
const useByName = (answer: JsonObject | undefined): ReadonlyMap<string, ClientUse> => {
  const rows: readonly Json[] = Array.isArray(answer?.clients) ? answer.clients : [];
  return new Map(
    rows.flatMap((row) => {
      if (!isJsonObject(row) || !isJsonObject(row.usage)) return [];
      const { usage, budget, unpricedModels } = row;
      const use = {
        usage,
        budget: isJsonObject(budget) ? budget : undefined,
        unpricedModels: Array.isArray(unpricedModels) ? unpricedModels : [],
      };
      return [[String(row.name), use] as const];
    }),
  );
};

const describeUsage = ({ today, month }: JsonObject): string =>
  `today ${describePeriod(today)}, this month ${describePeriod(month)}`;

const describePeriod = (period: Json | undefined): string => {
  const { requests = 0, input = 0, output = 0, cost = 0, unpriced = 0 } = isJsonObject(period) ? period : {};
  const least = Number(unpriced) > 0 ? '≥ ' : '';
  return `${requests} requests, ${Number(input) + Number(output)} tokens, ${least}${Number(cost) / nanoPerUsd} USD`;
};

/** `junctor client hash`: prints the digest of a key on standard input, for a key that was made elsewhere. */
export const hashKey = async (cli: Cli): Promise<void> => {
  const key = (await readText(process.stdin)).trim();
  if (key === '') throw new CommandError('There is no key on standard input.');
  cli.print(hashedKey(key));
};

/** Replaces `CLIENTS` in the configuration's file, whose name it returns; `undefined` if the file may not be written. */
const changeClients = (cli: Cli, change: (clients: readonly Json[]) => readonly Json[]): Promise<string | undefined> =>
  changeConfig(cli, (source) => editClients(source, change));
