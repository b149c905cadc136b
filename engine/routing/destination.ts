import type { Provider } from '../config/config.ts';

/** Where a request goes: a provider, and the model to ask it for. */
export interface Destination {
  readonly provider: Provider;
  readonly model: string;
}

/** `provider,model` taken apart; not yet looked up. */
export interface NamedDestination {
  readonly provider: string;
  readonly model: string;
}

/**
 * Takes `provider,model` apart at the first comma, since models may hold commas, slashes and colons; white space around
 * either is dropped. `undefined` for a text without a comma: a bare model.
 */
export const parseDestination = (text: string): NamedDestination | undefined => {
  const comma = text.indexOf(',');
  if (comma < 0) return undefined;
  return { provider: text.slice(0, comma).trim(), model: text.slice(comma + 1).trim() };
};

/** The provider of this name: the one spelt exactly so, else the first that differs in case alone. */
export const findProvider = (providers: readonly Provider[], name: string): Provider | undefined =>
  providers.find((provider) => provider.name === name) ??
  providers.find((provider) => provider.name.toLowerCase() === name.toLowerCase());

/** The providers that list this very model. */
export const providersOf = (providers: readonly Provider[], model: string): readonly Provider[] =>
  providers.filter((provider) => provider.models.includes(model));

/** What a configured destination stands for: `provider,model`, or a bare model of the first provider that lists it. */
export const findDestination = (providers: readonly Provider[], text: string): Destination | undefined => {
  const named = parseDestination(text);
  const model = named?.model ?? text.trim();
  const provider = named ? findProvider(providers, named.provider) : providersOf(providers, model)[0];
  return provider && model !== '' ? { provider, model } : undefined;
};
