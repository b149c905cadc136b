import type { Provider } from './config.ts';

/** The destination of a request: a provider and its model. */
export interface Destination {
  readonly provider: Provider;
  readonly model: string;
}

/** A parsed `provider,model`, not looked up yet. */
export interface NamedDestination {
  readonly provider: string;
  readonly model: string;
}

/**
 * Splits `provider,model` at the first comma, since models may contain commas, slashes and colons. Trims both parts.
 * `undefined` for text without a comma: a bare model.
 */
export const parseDestination = (text: string): NamedDestination | undefined => {
  const comma = text.indexOf(',');
  if (comma < 0) return undefined;
  return { provider: text.slice(0, comma).trim(), model: text.slice(comma + 1).trim() };
};

/** Finds a provider by its exact name, else the first by case-insensitive name. */
export const findProvider = (providers: readonly Provider[], name: string): Provider | undefined =>
  providers.find((provider) => provider.name === name) ??
  providers.find((provider) => provider.name.toLowerCase() === name.toLowerCase());

/** The providers that list a model. */
export const providersOf = (providers: readonly Provider[], model: string): readonly Provider[] =>
  providers.filter((provider) => provider.models.includes(model));

/** Resolves `provider,model`, or a bare model to the first provider that lists it. */
export const findDestination = (providers: readonly Provider[], text: string): Destination | undefined => {
  const named = parseDestination(text);
  const model = named?.model ?? text.trim();
  const provider = named ? findProvider(providers, named.provider) : providersOf(providers, model)[0];
  return provider && model !== '' ? { provider, model } : undefined;
};
