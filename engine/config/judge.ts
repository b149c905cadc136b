import type { JsonObject } from '../model/json/json.ts';
import type { Config } from './config.ts';
import type { Finding } from './diagnostics.ts';
import type { Environment } from './env.ts';
import { shownFindings } from './secrets.ts';
import type { Validation } from './validate.ts';

/** What is said of a configuration. With any fault, it isn't used. */
export interface Findings {
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
}

/** Finds what only loading the transformers and modules of a configuration shows. */
export type Inspect = (draft: Config, source: JsonObject) => Promise<Findings>;

/**
 * Adds what `inspect` finds to the faults of an invalid configuration, so that users learn all of them at once; a valid one is inspected
 * when it is built. The result names variables, never their values.
 */
export const withInspected = async <V extends Validation>(
  result: V,
  source: JsonObject,
  env: Environment,
  inspect: Inspect,
): Promise<V> => {
  if (!('faults' in result) || !result.draft) return result;
  const found = await inspect(result.draft, source);
  return {
    ...result,
    faults: [...result.faults, ...shownFindings(found.faults, source, env)],
    warnings: [...result.warnings, ...shownFindings(found.warnings, source, env)],
  };
};
