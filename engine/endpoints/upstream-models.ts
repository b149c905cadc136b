import {
  defer,
  EMPTY,
  expand,
  firstValueFrom,
  from,
  map,
  mergeMap,
  type Observable,
  reduce,
  take,
  timeout,
} from 'rxjs';
import type { Provider } from '../config/config.ts';
import type { Environment } from '../config/env.ts';
import type { KnownVendor } from '../config/files/first-run.ts';
import { validateConfig } from '../config/validate.ts';
import { FaultError, fail } from '../model/fault.ts';
import { isJsonObject, parseJson } from '../model/json/json.ts';
import type { VendorModelPage, VendorModels } from '../model/models/model-catalog.ts';
import type { ListedModel } from '../model/models/model-facts.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import { probeRequest } from '../model/request.ts';
import { hideCredentials } from '../operators/hide-credentials.ts';
import { collectBytes } from '../operators/rx/stages.ts';
import type { Gateway } from '../routing/gateway.ts';
import type { TransformerRegistry } from '../routing/plan/choose-format.ts';
import { compilePlan, type Plan } from '../routing/plan/plan.ts';
import { Backpressure } from '../runtime/backpressure.ts';
import { createUpstreams } from '../upstream/create-upstreams.ts';
import { type CommandKeys, maskedKeys } from '../upstream/keys/command-keys.ts';
import type { Upstreams } from '../upstream/upstreams.ts';
import { upstreamUrl } from '../upstream/url.ts';

const maxPages = 10;
/** Models of one list that are read. */
const maxListedModels = 5_000;
const maxBytes = 16 << 20;
const tooLarge = "A page of the provider's list of models has 16 MiB or more, so it isn't read.";

/**
 * Lists the models of a provider's vendor, without duplicates. Fails with the upstream's fault, or with `unsupported` if the
 * vendor's format has no model list.
 */
export const listUpstreamModels = (plan: Plan, reach: Reach): Observable<readonly ListedModel[]> =>
  defer(() => {
    if (plan.fault) throw new FaultError(plan.fault);
    const { models } = plan.format;
    if (!models)
      return fail('unsupported', `The format "${plan.format.name}" has no list of models that is known here.`);
    if (plan.format.lists?.(plan.target) === false)
      return fail('unsupported', 'A cloud lists its models at another address: name those to be used in "models".');
    const apiKey = firstKey(plan.provider, reach.commandKeys);
    const page = (query: string | undefined): Observable<VendorModelPage> =>
      from(apiKey).pipe(mergeMap((key) => fetchPage(plan, models, query, key, reach.upstreams)));
    return page(models.query).pipe(
      expand(({ next }) => (next === undefined ? EMPTY : page(next))),
      take(maxPages),
      reduce((all, { models: some }) => {
        for (const model of some) if (!all.has(model.id) && all.size < maxListedModels) all.set(model.id, model);
        return all;
      }, new Map<string, ListedModel>()),
      map((all) => [...all.values()]),
    );
  });

/** The services for fetching a list of models. */
type Reach = Pick<Gateway, 'upstreams' | 'commandKeys'>;

/** A provider's first key. Rejects with a fault if its command prints none. */
const firstKey = async ({ name, apiKeys, keyCommands }: Provider, commandKeys: CommandKeys): Promise<string> => {
  const key = apiKeys[0] ?? '';
  const command = keyCommands?.get(key);
  return command ? commandKeys.read(command, name) : key;
};

const fetchPage = (
  plan: Plan,
  list: VendorModels,
  query: string | undefined,
  apiKey: string,
  upstreams: Upstreams,
): Observable<VendorModelPage> => {
  const { provider, graph, upstream } = plan;
  const credentials = graph.callUpstream.work({
    apiKey,
    baseUrl: plan.target.baseUrl,
    options: plan.target.options,
    clientHeader: () => undefined,
    request: probeRequest(''),
  });
  const headers = {
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'junctor',
    ...credentials,
  };
  const { timeouts } = provider;
  return upstreams
    .call({ method: 'GET', url: listUrl(plan, query), headers, body: '', backpressure: new Backpressure(), timeouts })
    .pipe(
      mergeMap((answer) =>
        answer.body.pipe(
          collectBytes(
            (bytes) => {
              const text = new TextDecoder().decode(bytes);
              if (answer.status < 200 || answer.status > 299) {
                throw new FaultError(
                  hideCredentials(upstream.decodeFault(answer.status, answer.headers, text), headers),
                );
              }
              if (bytes.length >= maxBytes) fail('upstream-garbled', tooLarge);
              const value = parseJson(text);
              // Some vendors send the rows alone.
              return list.decode(isJsonObject(value) ? value : { data: value ?? null });
            },
            { maxBytes },
          ),
        ),
      ),
    );
};

/** Replaces the part of the call's path after the API version by `/models`. */
const listUrl = ({ format, target }: Plan, query: string | undefined): URL => {
  const asked = probeRequest('model');
  const path = (format.pathFor?.(target, asked) ?? format.path).replace('{model}', 'model').replace(/\?.*/, '');
  const own = path.replace(/^\/v\d[^/]*(?=\/)/, '');
  const url = upstreamUrl(target.baseUrl, format.pathFor?.(target, asked) ?? format.path, 'model');
  if (!url.pathname.endsWith(own))
    return upstreamUrl(target.baseUrl, `${path.slice(0, -own.length)}/models${search(query)}`);
  const base = new URL(url);
  base.pathname = url.pathname.slice(0, -own.length);
  return upstreamUrl(base, `/models${search(query)}`);
};

const search = (query: string | undefined): string => (query === undefined ? '' : `?${query}`);

/** Lists a vendor's current models; none on any error, or after `timeoutMs` milliseconds. `client` may be any protocol. */
export const listVendorModels =
  (registry: Omit<TransformerRegistry, 'custom'>, env: Environment, client: ClientProtocol, timeoutMs: number) =>
  async ({
    provider: name,
    variable,
    baseUrl,
    models: [model = 'any'],
  }: KnownVendor): Promise<readonly ListedModel[]> => {
    const result = validateConfig({ Providers: [{ name, baseUrl, apiKey: `$${variable}`, models: [] }] }, env);
    const [provider] = 'config' in result ? result.config.providers : [];
    if (!('config' in result) || !provider) return [];
    const upstreams = createUpstreams({ ...result.config.timeouts, ...result.config.limits, environment: env });
    try {
      const plan = compilePlan(result.config, { ...registry, custom: new Map() }, { client, provider, model });
      return await firstValueFrom(
        listUpstreamModels(plan, { upstreams, commandKeys: maskedKeys() }).pipe(timeout(timeoutMs)),
      );
    } catch {
      return [];
    } finally {
      await upstreams.close();
    }
  };
