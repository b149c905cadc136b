import type { TransformerEntry } from '../config/config.ts';
import type { OpenStage } from '../custom/stage-operators.ts';
import { type Fault, faultOf } from '../model/fault.ts';
import type { Tables } from './tables.ts';

/** A stage and the entry that asks for it. */
export interface PlacedStage {
  readonly stage: OpenStage;
  readonly entry: TransformerEntry;
}

/** The stages of the entries that apply, in the order of the list, and the first one's fault that can't be used. */
export const buildStages = (
  entries: readonly TransformerEntry[],
  tables: Tables,
): { readonly stages: readonly PlacedStage[]; readonly fault: Fault | undefined } => {
  const stages: PlacedStage[] = [];
  let fault: Fault | undefined;
  for (const entry of entries) {
    if (entry.path === undefined && tables.formats.has(entry.name)) continue;
    const built = buildStage(entry, tables);
    if (typeof built === 'string') fault ??= unusable(entry, built);
    else stages.push({ stage: built, entry });
  }
  return { stages, fault };
};

/** The stage, or why there is none, in words that any client may read. */
const buildStage = (entry: TransformerEntry, { stages, custom }: Tables): OpenStage | string => {
  if (entry.path !== undefined) {
    const loaded = custom.get(entry.at);
    return loaded && 'stage' in loaded ? loaded.stage : 'its module is not loaded; app.log says why';
  }
  const transformer = stages.get(entry.name);
  if (!transformer) return `no transformer of the name "${entry.name}" is loaded`;
  try {
    return transformer.configure(entry.options);
  } catch (error) {
    return faultOf(error).message;
  }
};

const unusable = ({ name }: TransformerEntry, why: string): Fault => ({
  kind: 'stage-failed',
  message: `Transformer "${name}" can't be used: ${why.replace(/\.$/, '')}.`,
});
