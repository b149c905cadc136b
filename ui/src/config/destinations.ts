import type { ConfigFile } from '../api/config/config.ts';
import type { ComboOption } from '../parts/controls/combo-field.tsx';
import { modelNames } from './models.ts';

/** All models of the providers, as suggestions. */
export const modelDestinations = ({ Providers = [] }: ConfigFile): readonly ComboOption[] =>
  Providers.flatMap((provider) => modelNames(provider).map((model) => ({ value: `${provider.name ?? ''},${model}` })));

/** All destinations, as suggestions: models of the providers, then pools. */
export const destinationsOf = (config: ConfigFile): readonly ComboOption[] => [
  ...modelDestinations(config),
  ...(config.Pools ?? []).flatMap(({ name, strategy = 'weighted' }) =>
    name ? [{ value: name, note: `pool, ${strategy}` }] : [],
  ),
];
