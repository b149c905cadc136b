import type { ConfigFile } from '../api/config.ts';
import type { ComboOption } from '../parts/combo-field.tsx';
import { modelNames } from './models.ts';

/** All destinations of the providers, as suggestions. */
export const destinationsOf = ({ Providers = [] }: ConfigFile): readonly ComboOption[] =>
  Providers.flatMap((provider) => modelNames(provider).map((model) => ({ value: `${provider.name ?? ''},${model}` })));
