import type { Config } from '../config/config.ts';
import type { Finding } from '../config/findings.ts';
import { memberPath } from '../model/schema.ts';
import type { Tables } from './line.ts';

/** What is wrong with the transformer entries, as only the tables can tell: unknown names, options that don't fit. */
export const checkEntries = ({ transformers }: Config, { formats, stages }: Tables): readonly Finding[] =>
  transformers.flatMap(({ at, name, path, options }): Finding[] => {
    if (path !== undefined || formats.has(name)) return [];
    const stage = stages.get(name);
    if (!stage) return [{ path: at, message: `names a transformer that is not loaded: "${name}"` }];
    return stage.optionsReader
      .faults(options, memberPath(at, 'options'))
      .map(({ path: place, message }) => ({ path: place, message }));
  });
