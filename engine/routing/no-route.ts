import type { Pool, Provider } from '../config/config.ts';
import { closeNames } from '../config/diagnostics.ts';
import { type KnownDestinations, type NamedDestination, providersOf } from '../config/sections/destination.ts';
import { fail, quoted } from '../model/fault.ts';

/** Throws `no-route` for a destination with an unknown provider. `at` is the path of the text that names it. */
export const unknownProvider = (named: NamedDestination, providers: readonly Provider[], at: string): never => {
  const names = providers.map(({ name }) => name);
  const close = closeNames(named.provider, names).map((name) => `${name},${named.model}`);
  return fail('no-route', sentences(`There is no provider ${quoted(named.provider)}.`, known(names), hint(close)), {
    param: at,
  });
};

/** Throws `no-route` for a bare model name that no rule resolves. */
export const unknownModel = (model: string, { providers, pools }: KnownDestinations, at: string): never => {
  const listing = providersOf(providers, model);
  const count = listing.length > 1 ? `${listing.length} providers list` : 'No provider lists';
  const advice = at === 'model' ? 'Ask for `provider,model`, or set Router.default.' : 'Name it as `provider,model`.';
  const names = providers.map(({ name }) => name);
  const close =
    listing.length > 0
      ? listing.map(({ name }) => `${name},${model}`)
      : [
          ...closeNames(
            model,
            pools.map(({ name }) => name),
          ),
          ...closeDestinations(model, providers),
        ];
  return fail('no-route', sentences(`${count} the model ${quoted(model)}.`, advice, known(names), hint(close)), {
    param: at,
  });
};

/** Throws `no-route` for a model that no member of the default's pool serves. */
export const noMember = (pool: Pool, model: string): never =>
  fail('no-route', `The pool ${quoted(pool.name)} has no member for the model ${quoted(model)}.`, { param: 'model' });

const closeDestinations = (model: string, providers: readonly Provider[]): readonly string[] =>
  closeNames(
    model,
    providers.flatMap(({ models }) => models),
  ).flatMap((name) => providersOf(providers, name).map((provider) => `${provider.name},${name}`));

const known = (names: readonly string[]): string => {
  if (names.length === 0) return 'No providers are configured.';
  const shown = names.slice(0, maxShown).join(', ');
  return `Known providers: ${shown}${names.length > maxShown ? ` and ${names.length - maxShown} more` : ''}.`;
};

const hint = (names: readonly string[]): string =>
  names.length > 0 ? `Did you mean ${names.slice(0, 3).map(quoted).join(' or ')}?` : '';

const sentences = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join(' ');

const maxShown = 12;
