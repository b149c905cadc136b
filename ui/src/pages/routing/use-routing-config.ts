import { useMemo } from 'react';
import type { ConfigFile } from '../../api/config/config.ts';
import { mergePreset, withoutPlaceholders } from '../../config/draft/merge-preset.ts';
import { useForm } from '../../config/fields/form.ts';
import { listsOf, type RoutingLists, withList } from './edit-routing.ts';

/** The configuration as requests use it: the draft, for a preset with what it inherits. */
export const useRoutingConfig = (): ConfigFile => {
  const { config, inherited } = useForm();
  return useMemo(
    // The merged value may have a wrong shape: the check reports it.
    () => (inherited ? (mergePreset(inherited, withoutPlaceholders(config)) as ConfigFile) : config),
    [config, inherited],
  );
};

/** The lists of the routing, and how one is replaced in the draft. */
export const useRoutingLists = () => {
  const { change, inherited } = useForm();
  const config = useRoutingConfig();
  return {
    ...listsOf(config),
    set: <Name extends keyof RoutingLists>(name: Name, list: RoutingLists[Name]): void =>
      change((before) => withList(before, name, list, inherited)),
  };
};
