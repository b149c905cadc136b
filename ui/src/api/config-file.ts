import type { Json, JsonObject } from './json.ts';

/** A provider as it is written in the configuration. Other spellings and further fields are kept. */
export interface ProviderFile {
  readonly name?: string;
  readonly baseUrl?: string;
  /** A key, or `$VARIABLE`; or several that take turns. */
  readonly apiKey?: string | readonly string[];
  readonly models?: readonly string[];
  readonly [field: string]: Json | undefined;
}

/** The rules of routing as they are written. */
export interface RouterFile {
  readonly default?: string;
  /** In tokens. */
  readonly longContextThreshold?: number;
  /** Destination by scenario: background, think, longContext, webSearch, image. */
  readonly routes?: Readonly<Record<string, string>>;
  /** Further destinations by scenario or `default`, asked in this order when the first can't serve. */
  readonly fallback?: Readonly<Record<string, readonly string[]>>;
  readonly [field: string]: Json | undefined;
}

/** An entry of the list of transformers: a name alone, or more. */
export type TransformerEntry =
  | string
  | {
      readonly name?: string;
      /** A module of the user's own. */
      readonly path?: string;
      readonly provider?: string;
      readonly models?: readonly string[];
      readonly options?: JsonObject;
      readonly [field: string]: Json | undefined;
    };

/** The configuration as it is written: references to the environment stay references. Fields that nobody knows are kept. */
export interface ConfigFile {
  readonly HOST?: string;
  readonly PORT?: number;
  readonly APIKEY?: string;
  readonly LOG?: boolean;
  readonly LOG_LEVEL?: string;
  readonly Providers?: readonly ProviderFile[];
  readonly Router?: RouterFile;
  readonly transformers?: readonly TransformerEntry[];
  readonly [field: string]: Json | undefined;
}

/** Something about a field. */
export interface Finding {
  /** `Providers[0].baseUrl`. */
  readonly path: string;
  readonly message: string;
}
