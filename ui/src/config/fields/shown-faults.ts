import { useEffect, useMemo } from 'react';
import type { ConfigFile, Finding } from '../../api/config/config.ts';
import { isJsonObject, type Json } from '../../api/json.ts';
import { createStore, useStore } from '../../state/store.ts';
import { isWithin } from './field-path.ts';

/** Faults as a form shows them. */
interface ShownFaults {
  readonly faults: readonly Finding[];
  /** Of fields that are still blank because nobody has filled them in. Saving shows them. */
  readonly unseen: readonly Finding[];
}

/** Paths of blank fields whose problems are shown: the focus has left them, or saving was tried. */
const shown = createStore<ReadonlySet<string>>(new Set());

/** The configuration that was last to be saved. */
const tried = createStore<ConfigFile | undefined>(undefined);

/** Shows all faults of a configuration, also those that are found later. */
export const showAllFaults = (config: ConfigFile): void => tried.set(config);

const show = (paths: readonly string[]): void => {
  const before = shown.get();
  if (paths.some((path) => !before.has(path))) shown.set(new Set([...before, ...paths]));
};

/** Divides the faults of an edited configuration: that of a blank field isn't shown before its user has left it. */
export const useShownFaults = (config: ConfigFile, faults: readonly Finding[]): ShownFaults => {
  const paths = useStore(shown);
  const isTried = useStore(tried) === config;
  useEffect(() => {
    const leave = ({ target, relatedTarget: to }: FocusEvent): void => {
      // The button shows the faults itself. Shown now, they would disable it before the click ends.
      if (to instanceof HTMLElement && to.dataset.saves !== undefined) return;
      const field = target instanceof Element ? target.closest<HTMLElement>(fields) : null;
      if (field?.dataset.path !== undefined) show([field.dataset.path]);
    };
    document.addEventListener('focusout', leave);
    return () => document.removeEventListener('focusout', leave);
  }, []);
  // A field that is filled in, or removed, begins again: another one may get its path.
  useEffect(() => {
    const open = [...shown.get()].filter((path) => isOpenAt(config, path));
    if (open.length < shown.get().size) shown.set(new Set(open));
  }, [config]);
  useEffect(() => {
    if (isTried) show(faults.map(({ path }) => path).filter((path) => isBlankAt(config, path)));
  }, [isTried, config, faults]);
  return useMemo(() => {
    const isUnseen = ({ path }: Finding): boolean =>
      isBlankAt(config, path) && ![...paths].some((around) => isWithin(path, around));
    return { faults: faults.filter((fault) => !isUnseen(fault)), unseen: faults.filter(isUnseen) };
  }, [config, faults, paths]);
};

/** The controls, and the fields of JSON around their editors: not rows and buttons, which have paths too. */
const fields = 'input[data-path], select[data-path], textarea[data-path], .field[data-path]';

const isBlankAt = (config: ConfigFile, path: string): boolean => {
  const found = memberAt(config, path);
  return found !== undefined && isBlank(found.value);
};

/** Whether there is a place for the field, which is blank or has members. */
const isOpenAt = (config: ConfigFile, path: string): boolean => {
  const found = memberAt(config, path);
  return found !== undefined && (isBlank(found.value) || typeof found.value === 'object');
};

const isBlank = (value: Json | undefined): boolean =>
  value === undefined || (typeof value === 'string' && value.trim() === '');

/** The member at a path, which may be absent; `undefined`: so is what would have it. */
const memberAt = (config: ConfigFile, path: string): { readonly value: Json | undefined } | undefined => {
  let around: Json | undefined = config;
  const names = path.split(/[.[\]]+/).filter((name) => name !== '');
  for (const [at, name] of names.entries()) {
    if (Array.isArray(around) && Number(name) >= around.length) return undefined;
    // A stage that is a name alone: all but that is blank.
    if (typeof around === 'string') return { value: name === 'name' ? around : undefined };
    if (!Array.isArray(around) && !isJsonObject(around)) return undefined;
    const value: Json | undefined = Array.isArray(around) ? around[Number(name)] : around[name];
    if (at === names.length - 1) return { value };
    around = value;
  }
  return undefined;
};
