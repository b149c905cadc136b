import type { ConfigFile, Finding, Transformer } from '../../api/config/config-file.ts';
import { sameJson } from '../fields/same-json.ts';
import { schemaFaults } from '../fields/schema-faults.ts';
import { entryOf, knownOf } from './entry.ts';

/**
 * Checks entries of the transformers before the gateway does: unknown names and invalid options. Edited entries yield faults,
 * entries that were saved like this yield warnings.
 */
export const entryFindings = (
  config: ConfigFile,
  saved: ConfigFile,
  transformers: readonly Transformer[],
): { readonly faults: readonly Finding[]; readonly warnings: readonly Finding[] } => {
  const faults: Finding[] = [];
  const warnings: Finding[] = [];
  if (transformers.length === 0) return { faults, warnings };
  (config.transformers ?? []).forEach((written, at) => {
    const isOld = saved.transformers?.some((one) => sameJson(one, written)) ?? false;
    const list = isOld ? warnings : faults;
    const entry = entryOf(written);
    const path = `transformers[${at}]`;
    const known = knownOf(entry, transformers);
    if (!known && entry.path === undefined && entry.name)
      list.push({
        path: `${path}.name`,
        message: `is an unknown transformer: ${JSON.stringify(entry.name)}`,
      });
    if (known?.options) list.push(...schemaFaults(entry.options ?? {}, known.options, `${path}.options`));
  });
  return { faults, warnings };
};
