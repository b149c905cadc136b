import type { LoadedStages } from '../custom/load-stages.ts';
import type { Format, Transformer } from '../model/transformer.ts';

/** All the transformers there are. */
export interface Tables {
  readonly formats: ReadonlyMap<string, Format>;
  readonly stages: ReadonlyMap<string, Transformer>;
  /** The name of the format that is spoken when nothing says otherwise. */
  readonly plainFormat: string;
  /** What came of the modules that the configuration names. */
  readonly custom: LoadedStages;
}
