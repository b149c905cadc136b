import Type from 'typebox';
import { configOutcome } from '../../../admin/config/config.ts';
import { jsonOperation, readJsonBody } from '../../../admin/endpoint.ts';
import { AddedClient, ClientList, Outcome } from '../../../admin/schema.ts';
import type { Config, NamedClient } from '../../config/config.ts';
import type { ConfigStore } from '../../config/files/store.ts';
import { type ClientBudget, ClientFile } from '../../config/schema.ts';
import {
  editClients,
  expiryOf,
  firstClientNotice,
  hashedKey,
  lastClientNotice,
  newClientKey,
} from '../../config/sections/clients.ts';
import type { FeatureServices } from '../../feature.ts';
import { fail, quoted } from '../../model/fault.ts';
import { isJsonObject, type Json } from '../../model/json/json.ts';
import { familySum, keyRefusalsName } from '../../observe/families.ts';
import { nanoPerUsd } from '../../routing/catalogue/catalogue.ts';
import type { Gateway } from '../../routing/gateway.ts';
import { unpricedModels } from '../../routing/model-findings.ts';
import type { ClientServices } from './client-session.ts';

/** Dependencies of the endpoints of clients. */
interface ClientParts extends Pick<FeatureServices, 'current' | 'store' | 'features'> {
  /** Absent: there are no clients. */
  readonly counts: ClientServices | undefined;
}

/** What a client is added with; its key is made by the service. */
const NewClient = Type.Omit(ClientFile, ['key']);

/** What is changed of a client: a member takes the place of the one before, `null` removes it. */
const ChangedClient = Type.Partial(Type.Omit(ClientFile, ['name', 'key']));

/** A span becomes the time at which it ends; anything else stays, and is checked with the configuration. */
const untilOf = (expires: Json): Json => (typeof expires === 'string' ? expiryOf(expires, Date.now()) : expires);

/**
 * Clients with keys of their own: limits and use, but neither keys nor their digests. `POST` adds one and answers with its key,
 * `PATCH` changes what one may use, `DELETE` removes one.
 */
export const clientOperations = ({ current, store, features, counts }: ClientParts) => ({
  list: jsonOperation({
    summary: 'Clients with keys of their own: limits and use',
    says: 'The clients of the configuration.',
    reply: ClientList,
    answer: async () => {
      const { gateway } = current;
      const { clients = [] } = gateway.config;
      await Promise.all(clients.map(({ name, budget }) => budget && counts?.usage.whenKnown(name, budget.per)));
      return {
        clients: counts ? clients.map((client) => show(client, gateway, counts)) : [],
        isKeyNeeded: (gateway.config.apiKey ?? gateway.config.clients) !== undefined,
        keyRefusals: familySum(await features.families(), keyRefusalsName),
      };
    },
  }),
  add: jsonOperation({
    summary: 'Adds a client',
    says: 'It is added, and this is its key.',
    reply: AddedClient,
    request: NewClient,
    answer: async ({ body }) => {
      const { key: given, expires, ...client } = readJsonBody(body);
      if (given !== undefined) fail('invalid-request', 'key must be left out: the service makes it.', { param: 'key' });
      const key = newClientKey();
      const entry = { ...client, key: hashedKey(key), ...(expires !== undefined && { expires: untilOf(expires) }) };
      const add = (clients: readonly Json[]) => [...clients, entry];
      const { message } = await change(store, add, firstClientNotice);
      return { message, key };
    },
  }),
  change: jsonOperation({
    summary: 'Changes a client',
    says: 'What its key may use is changed; requests under way go on.',
    reply: Outcome,
    request: ChangedClient,
    answer: ({ body }, { name = '' }) => {
      const { expires, ...changes } = readJsonBody(body);
      for (const member of ['name', 'key'])
        if (changes[member] !== undefined)
          fail('invalid-request', `${member} can't be changed: add another client.`, { param: member });
      const patch = { ...changes, ...(expires !== undefined && { expires: untilOf(expires) }) };
      return change(
        store,
        (clients) => {
          const at = clients.findIndex((client) => isJsonObject(client) && client.name === name);
          const before = clients[at];
          if (!isJsonObject(before)) return fail('not-found', `There is no client ${quoted(name)}.`);
          const after = Object.entries({ ...before, ...patch }).filter(([, value]) => value !== null);
          return clients.with(at, Object.fromEntries(after));
        },
        () => undefined,
      );
    },
  }),
  remove: jsonOperation({
    summary: 'Removes a client',
    says: 'Its key is refused from now on.',
    reply: Outcome,
    answer: (_, { name = '' }) =>
      change(
        store,
        (clients) => {
          const others = clients.filter((client) => !isJsonObject(client) || client.name !== name);
          return others.length < clients.length ? others : fail('not-found', `There is no client ${quoted(name)}.`);
        },
        lastClientNotice,
      ),
  }),
});

/**
 * Changes `CLIENTS` alone: a change of the file that wasn't seen yet is applied first. `noticeOf`: what the change means for
 * others, from the configuration before it.
 */
const change = async (
  store: ConfigStore,
  edit: (clients: readonly Json[]) => readonly Json[],
  noticeOf: (before: Config) => string | undefined,
): Promise<Outcome> => {
  for (;;) {
    const { source, config } = store;
    const changed = await store.replaceIf((present) => present === source, editClients(source, edit));
    if (!changed) continue;
    const { message, ...outcome } = configOutcome(changed);
    const notice = noticeOf(config);
    return { ...outcome, message: notice === undefined ? message : `${message} ${notice}.` };
  }
};

const show = (
  client: NamedClient,
  gateway: Gateway,
  { limiter, usage }: ClientServices,
): ClientList['clients'][number] => {
  const { name, models, routes, limits, budget, expiresAtMs } = client;
  const rates = limiter.rates(name, limits).map(({ of, limit, remaining }) => ({
    limit: of === 'requests' ? ('requestsPerMinute' as const) : ('tokensPerMinute' as const),
    most: limit,
    remaining,
  }));
  const { streams: most } = limits;
  const streams =
    most === undefined ? [] : [{ limit: 'streams' as const, most, remaining: limiter.streamsLeft(name, most) }];
  return {
    name,
    ...(models && { models }),
    ...(routes && { routes }),
    limits: [...rates, ...streams],
    ...(budget && { budget: showBudget(name, budget, usage) }),
    ...(budget?.usd !== undefined && { unpricedModels: [...unpricedModels(client, gateway)] }),
    ...(expiresAtMs !== undefined && {
      expires: new Date(expiresAtMs).toISOString(),
      isExpired: Date.now() >= expiresAtMs,
    }),
    usage: { today: usage.used(name, 'day'), month: usage.used(name, 'month') },
  };
};

const showBudget = (name: string, { tokens, usd, per }: ClientBudget, usage: ClientServices['usage']) => {
  const spent = usage.spent(name, per);
  const inTokens = tokens !== undefined && { tokens, remaining: Math.max(0, tokens - spent.tokens) };
  const inUsd = usd !== undefined && {
    usd,
    remainingUsd: Math.max(0, Math.round(usd * nanoPerUsd) - spent.cost) / nanoPerUsd,
  };
  return {
    per,
    ...inTokens,
    ...inUsd,
    isUsedUp: (inTokens && inTokens.remaining === 0) || (inUsd && inUsd.remainingUsd === 0),
    renewsAt: new Date(usage.next(per).atMs).toISOString(),
  };
};
