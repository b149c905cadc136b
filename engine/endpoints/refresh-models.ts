import { catchError, firstValueFrom, map, of, timeout } from 'rxjs';
import type { Provider } from '../config/config.ts';
import { shownName } from '../config/env.ts';
import { isDemo } from '../config/sections/providers.ts';
import { errorCode, FaultError, faultOf } from '../model/fault.ts';
import type { ListedModel } from '../model/models/model-facts.ts';
import type { ClientProtocol } from '../model/protocol.ts';
import { textMask } from '../observe/log/mask-text.ts';
import { addressOf, type KeptList } from '../routing/catalogue/vendor-lists.ts';
import { type Gateway, secretsOf } from '../routing/gateway.ts';
import { type LocalServerKind, localModels } from './local-servers.ts';
import { listUpstreamModels } from './upstream-models.ts';

/** The result of refreshing one provider's list. */
export interface RefreshedList {
  readonly provider: string;
  /** Models of the new list; an old one stays in use if there is none. */
  readonly models: number;
  /** Why there is no new list, or why it won't be there at the next start. */
  readonly problem?: string;
}

/** The services that a refresh needs. */
interface RefreshParts {
  readonly gateway: Pick<Gateway, 'config' | 'planFor' | 'upstreams' | 'commandKeys' | 'catalogue'>;
  /** Any protocol. */
  readonly client: ClientProtocol;
  readonly localServerKinds: readonly LocalServerKind[];
  /** Time limit of a provider's answer, in milliseconds. */
  readonly limitMs: number;
}

/**
 * Refreshes the model lists of all providers, or of one, and keeps the new ones. A model server at one of the usual ports is
 * also asked for the windows that it serves. Lists that can't be written are used nevertheless.
 */
export const refreshModels = async (parts: RefreshParts, only?: string): Promise<readonly RefreshedList[]> => {
  const { config, catalogue } = parts.gateway;
  const providers = config.providers.filter(
    ({ name, baseUrl }) => (only === undefined || name === only) && !isDemo(baseUrl),
  );
  const answers = await Promise.all(providers.map((provider) => ask(provider, parts)));
  const lists = answers.flatMap((answer) => ('list' in answer ? answer.list : []));
  const unkept = lists.length === 0 ? undefined : await catalogue.keep(lists).then(() => undefined, wordUnkept);
  await catalogue.loadPrices();
  return answers.map((answer) => {
    if (!('list' in answer)) return answer;
    const { provider, models } = answer.list;
    return { provider, models: models.length, ...(unkept !== undefined && { problem: unkept }) };
  });
};

const wordUnkept = (error: unknown): string =>
  `The list is in use, but models.json can't be written (${errorCode(error) ?? 'unknown error'}).`;

type Answer = { readonly list: KeptList } | (RefreshedList & { readonly problem: string });

const ask = async (
  provider: Provider,
  { gateway, client, localServerKinds, limitMs }: RefreshParts,
): Promise<Answer> => {
  const { name, baseUrl, models } = provider;
  const place = localServerKinds.find(({ origin }) => origin === baseUrl.origin);
  const served = place ? await localModels(place) : [];
  const plan = gateway.planFor({ client, provider, model: models[0] ?? 'any' });
  const secrets = secretsOf(gateway.config);
  const maskText = textMask(() => secrets);
  return firstValueFrom(
    listUpstreamModels(plan, gateway).pipe(
      map((listed): Answer => {
        return {
          list: { provider: name, address: addressOf(baseUrl), atMs: Date.now(), models: withServed(listed, served) },
        };
      }),
      timeout({
        first: limitMs,
        with: () => of({ provider: name, models: 0, problem: `There was no answer within ${limitMs / 1000} s.` }),
      }),
      catchError((error: unknown) => {
        if (!(error instanceof FaultError)) throw error;
        return of({
          provider: name,
          models: 0,
          problem: shownName(gateway.config.referred, maskText(faultOf(error).message)),
        });
      }),
    ),
  );
};

/** A server's own window wins over what its list says: it may serve less than the model has. */
const withServed = (listed: readonly ListedModel[], served: readonly ListedModel[]): readonly ListedModel[] =>
  listed.map((model) => ({ ...model, ...served.find(({ id }) => id === model.id) }));
