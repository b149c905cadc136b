import type { JsonObject } from '../model/json.ts';
import type { Environment } from './interpolate.ts';
import { configFile } from './read.ts';
import { writeAtomically } from './write-atomically.ts';

/** A vendor that the service can set up by itself once its key is in the environment. */
export interface KnownVendor {
  /** The name that its provider gets. */
  readonly provider: string;
  /** The environment variable that holds the key. */
  readonly variable: string;
  readonly baseUrl: string;
  /** The first one becomes the default. */
  readonly models: readonly string[];
}

/** The embedded provider's names. */
export const demoProvider = { name: 'demo', model: 'echo' } as const;

/** A configuration made up because there was none. */
export interface FirstConfig {
  /** In the spelling of `config.json`; keys are references to the environment. */
  readonly written: JsonObject;
  /** It uses the embedded provider, whose address holds for this process alone: not to be written to disk. */
  readonly demo: boolean;
}

/** What the first start came to. */
export interface FirstStart extends FirstConfig {
  /** The file that was written; none for the demo, or when it couldn't be. */
  readonly file: string | undefined;
  /** Why the file couldn't be written (an error code of the system); the service can run without it. */
  readonly problem: string | undefined;
}

/** Providers for all vendors whose key is set, in the table's order; without any, the embedded provider. */
export const firstConfig = (vendors: readonly KnownVendor[], env: Environment, demoBaseUrl: string): FirstConfig => {
  const found = vendors.filter(({ variable }) => env[variable]);
  const providers = found.map(({ provider, variable, baseUrl, models }) => ({
    name: provider,
    baseUrl,
    apiKey: `$${variable}`,
    models,
  }));
  const demo = { name: demoProvider.name, baseUrl: demoBaseUrl, apiKey: '', models: [demoProvider.model] };
  const first = providers.find(({ models }) => models.length > 0) ?? (providers.length === 0 ? demo : undefined);
  return {
    written: {
      Providers: providers.length > 0 ? providers : [demo],
      ...(first && { Router: { default: `${first.name},${first.models[0]}` } }),
    },
    demo: providers.length === 0,
  };
};

/** Makes up a configuration and writes it to the folder, but for the demo. To be called when there is no file. */
export const firstStart = async (
  home: string,
  vendors: readonly KnownVendor[],
  env: Environment,
  demoBaseUrl: string,
): Promise<FirstStart> => {
  const made = firstConfig(vendors, env, demoBaseUrl);
  if (made.demo) return { ...made, file: undefined, problem: undefined };
  const file = configFile(home);
  try {
    await writeAtomically(file, `${JSON.stringify(made.written, null, 2)}\n`);
    return { ...made, file, problem: undefined };
  } catch (error) {
    const problem = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    return { ...made, file: undefined, problem };
  }
};
