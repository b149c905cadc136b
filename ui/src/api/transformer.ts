import type { JsonObject } from './json.ts';

/** A transformer that the gateway knows. */
export interface Transformer {
  readonly name: string;
  /** The path that a format calls; null for all others. */
  readonly endpoint: string | null;
  readonly kind: 'format' | 'stage' | 'custom';
  /** What it does, in a sentence. */
  readonly about: string;
  /** JSON Schema of its options. */
  readonly options: JsonObject | null;
  /** What it changes. */
  readonly halves: { readonly request: boolean; readonly events: boolean };
  readonly state: 'loaded' | 'failed';
  /** Why it isn't loaded. */
  readonly error?: string;
  /** Of a custom one: where its module lies. */
  readonly path?: string;
  /** Of a vendor's format: how a provider of that vendor begins. */
  readonly firstStart?: {
    /** The environment variable that holds its key. */
    readonly variable: string;
    readonly baseUrl: string;
    readonly models: readonly string[];
  };
}
