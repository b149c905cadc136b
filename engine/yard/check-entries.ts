import type { Config } from '../config/config.ts';
import type { Finding } from '../config/findings.ts';
import { memberPath } from '../model/schema.ts';
import type { Tables } from './tables.ts';

/**
 * What is wrong with the transformer entries, as only the tables can tell: unknown names, options that don't fit, modules that
 * can't be used.
 */
export const checkEntries = ({ transformers }: Config, { formats, stages, custom }: Tables): readonly Finding[] =>
  transformers.flatMap(({ at, name, path, options }): Finding[] => {
    if (path !== undefined) {
      const loaded = custom.get(at);
      return loaded && 'problem' in loaded ? [{ path: at, message: loaded.problem }] : [];
    }
    const row = formats.get(name) ?? stages.get(name);
    if (!row) return [{ path: at, message: `names a transformer that is not loaded: "${name}"` }];
    return row.optionsReader
      .faults(options, memberPath(at, 'options'))
      .map(({ path: place, message }) => ({ path: place, message }));
  });
