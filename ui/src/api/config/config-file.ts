import type { CheckedConfig, TransformerRow } from '../../../../admin/schema.ts';
import type * as schema from '../../../../engine/config/schema.ts';
import type { JsonObject } from '../json.ts';

/** A value of the configuration while it is edited: any field may be missing, and unknown fields are kept. */
type Draft<T> = T extends readonly (infer E)[]
  ? readonly Draft<E>[]
  : T extends object
    ? { readonly [K in keyof T]?: Draft<T[K]> } & JsonObject
    : T;

/** The configuration as it is written: references to the environment stay references. */
export type ConfigFile = Draft<schema.ConfigFile>;

/** A provider as it is written in the configuration. */
export type ProviderFile = Draft<schema.ProviderFile>;

/** A pool as it is written in the configuration. */
export type PoolFile = Draft<schema.PoolFile>;

/** An entry of the list of transformers: a name alone, or more. */
export type TransformerEntry = string | Draft<schema.TransformerFile>;

/** A transformer that an entry may name. */
export type Transformer = TransformerRow;

/** Something about a field. */
export type Finding = CheckedConfig['faults'][number];
