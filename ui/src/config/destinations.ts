import type { ConfigFile } from '../api/config.ts';
import type { ComboOption } from '../parts/combo-field.tsx';

/** Every destination that the providers list, as suggestions. */
export const destinationsOf = ({ Providers = [] }: ConfigFile): readonly ComboOption[] =>
  Providers.flatMap(({ name = '', models = [] }) => models.map((model) => ({ value: `${name},${model}` })));
