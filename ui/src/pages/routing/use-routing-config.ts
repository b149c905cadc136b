import { useMemo } from 'react';
import type { ConfigFile } from '../../api/config/config.ts';
import { mergePreset, withoutPlaceholders } from '../../config/draft/merge-preset.ts';
import { useForm } from '../../config/fields/form.ts';

/** The configuration as requests use it: the draft, for a preset with what it inherits. */
export const useRoutingConfig = (): ConfigFile => {
  const { config, inherited } = useForm();
  return useMemo(
    // The merged value may have a wrong shape: the check reports it.
    () => (inherited ? (mergePreset(inherited, withoutPlaceholders(config)) as ConfigFile) : config),
    [config, inherited],
  );
};
