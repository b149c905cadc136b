import type { ConfigFile } from '../api/config.ts';
import type { ComboOption } from '../parts/combo-field.tsx';

/** All destinations of the providers, as suggestions. */
export const destinationsOf = ({ Providers = [] }: ConfigFile): readonly ComboOption[] =>
  Providers.flatMap(({ name = '', models = [] }) => models.map((model) => ({ value: `${name},${model}` })));
