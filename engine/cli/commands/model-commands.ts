import { clientProtocols } from '../../../protocols/index.ts';
import { formats } from '../../../transformers/index.ts';
import { localServerKinds } from '../../endpoints/local-servers.ts';
import { type RefreshedList, refreshModels } from '../../endpoints/refresh-models.ts';
import { isJsonObject, type Json } from '../../model/json/json.ts';
import type { ModelFacts } from '../../model/models/model-facts.ts';
import type { Gateway } from '../../routing/gateway.ts';
import { destinationName, modelNames, namedRoutes } from '../../routing/model-names.ts';
import { createUpstreams } from '../../upstream/create-upstreams.ts';
import { type Cli, CommandError } from '../cli.ts';
import { offlineModelFacts, usableConfig } from '../offline-config.ts';
import { offlineGateway } from '../offline-gateway.ts';
import { callService, locateService } from '../reach-service.ts';

/**
 * `junctor models`: lists every model name that a request may use, what is known of it, and the routes that lead to it. With
 * `refresh`, asks the providers for their lists first: through the service if it runs.
 */
export const listModels = async (
  cli: Cli,
  { json = false, refresh = false }: { readonly json?: boolean; readonly refresh?: boolean },
): Promise<void> => {
  if (refresh) for (const row of await refreshed(cli)) cli.warn(wordOutcome(row));
  const config = await usableConfig(cli);
  const { factsOf, loadPrices } = await offlineModelFacts(config, cli.home);
  await loadPrices();
  const routes = new Map(namedRoutes(config).map((route) => [destinationName(route), route.routes]));
  const models = modelNames(config, { factsOf }).map(({ id, title, facts }) => ({
    id,
    title,
    routes: routes.get(id) ?? [],
    facts,
  }));
  if (json) {
    cli.print(JSON.stringify(models.map(shown), null, 2));
    return;
  }
  const width = Math.max(0, ...models.map(({ id }) => id.length));
  for (const { id, title, routes: names, facts } of models) {
    const known = describeFacts(facts);
    cli.print(
      [id.padEnd(width), title, known && `(${known})`, names.length > 0 ? `← ${names.join(', ')}` : '']
        .filter(Boolean)
        .join('  '),
    );
  }
  const asOf = [...formats.values()].flatMap(({ facts }) => facts?.asOf ?? []).sort()[0];
  if (asOf !== undefined) cli.print(factsAge(asOf, Date.now()));
};

/** Age of the package's facts. */
const factsAge = (asOf: string, nowMs: number): string => {
  const days = Math.max(0, Math.floor((nowMs - Date.parse(asOf)) / 86_400_000));
  const old = days === 1 ? '1 day old' : `${days} days old`;
  const ask = days > manyDays ? '; --refresh asks the providers, and a newer release knows newer models' : '';
  return `Built-in facts of ${asOf}, ${old}${ask}`;
};

/** Facts older than this probably miss models. */
const manyDays = 30;

interface ModelRow {
  readonly id: string;
  readonly title: string;
  readonly routes: readonly string[];
  readonly facts: ModelFacts;
}

const shown = ({ id, title, routes, facts: { context, maxOutput, input, price, retires } }: ModelRow) => ({
  id,
  title,
  routes,
  context,
  maxOutput,
  input,
  price,
  retires,
});

const describeFacts = ({ context, maxOutput, price, retires }: ModelFacts): string =>
  [
    context !== undefined && `${context.toLocaleString('en-US')} tokens`,
    maxOutput !== undefined && `${maxOutput.toLocaleString('en-US')} out`,
    price && `$${price.input} in, $${price.output} out per million`,
    retires !== undefined && `retires ${retires}`,
  ]
    .filter(Boolean)
    .join(', ');

const wordOutcome = ({ provider, models, problem }: RefreshedList): string =>
  [`${provider}: ${problem === undefined || models > 0 ? `${models} models` : 'no list'}.`, problem]
    .filter(Boolean)
    .join(' ');

const refreshed = async (cli: Cli): Promise<readonly RefreshedList[]> => {
  const located = await locateService(cli);
  if (located.found.type !== 'running') return refreshedHere(cli);
  const { status, body } = await callService(located, 'POST', '/api/models/refresh');
  if (status !== 200) throw new CommandError(`The service refused: ${String(body.message ?? status)}`);
  const rows: readonly Json[] = Array.isArray(body.providers) ? body.providers : [];
  return rows.filter(isJsonObject).map(({ provider, models, problem }) => ({
    provider: String(provider),
    models: Number(models),
    ...(problem !== undefined && { problem: String(problem) }),
  }));
};

/** Time limit of a provider's answer, in milliseconds. */
const limitMs = 15_000;

const refreshedHere = async (cli: Cli): Promise<readonly RefreshedList[]> => {
  const config = await usableConfig(cli);
  const [client] = clientProtocols.map(({ protocol }) => protocol);
  if (!client) return [];
  const offline = await offlineGateway(config, cli.home, {});
  const upstreams = createUpstreams({ ...config.timeouts, ...config.limits, environment: cli.env });
  const gateway: Gateway = { ...offline.gateway, upstreams };
  try {
    return await refreshModels({ gateway, client, localServerKinds, limitMs });
  } finally {
    await upstreams.close();
  }
};
