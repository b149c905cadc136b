import type { JsonObject } from '../model/json.ts';
import type { Config } from './config.ts';
import type { Finding } from './findings.ts';

/** A configuration in both its forms. */
export interface Configuration {
  /** In the user's spelling, references to the environment as references. */
  readonly written: JsonObject;
  /** Checked and filled in. */
  readonly config: Config;
}

/** A configuration that was made ready and isn't in use yet. */
export interface Prepared {
  /** What only those can tell who put it to use. Any fault, and it isn't used. */
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
  /** Puts it into use for all requests that come from now on; those in flight keep what they have. */
  readonly apply: () => void;
}

/** What became of a configuration that was to be used. */
export type Change = Applied | Refused;

/** It is in use. */
export interface Applied {
  readonly type: 'applied';
  readonly warnings: readonly Finding[];
  /** Fields that differ from those that the service was started with and can't change while it runs. */
  readonly restart: readonly string[];
}

/** It can't be used, and nothing was changed. */
export interface Refused {
  readonly type: 'refused';
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
}
