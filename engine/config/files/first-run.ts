import { errorCode } from '../../model/fault.ts';
import type { JsonObject } from '../../model/json/json.ts';
import { printConfig } from '../edit/edit.ts';
import type { Environment } from '../env.ts';
import { schemaReference } from '../json-schema.ts';
import { configFile } from '../read.ts';
import { demoProvider } from '../sections/providers.ts';
import { writeAtomically } from '../write-atomically.ts';

/** A vendor that is configured automatically when its key is in the environment. */
export interface KnownVendor {
  /** Name of its provider. */
  readonly provider: string;
  /** The environment variable that holds the key. */
  readonly variable: string;
  readonly baseUrl: string;
  /** Strongest first: the first becomes the default, the last serves background requests. */
  readonly models: readonly string[];
}

/** A generated configuration. */
interface FirstRunConfig {
  /** The source, as for `config.json`; keys are environment references. */
  readonly source: JsonObject;
  /** Only the embedded provider is configured; not written to disk. */
  readonly demo: boolean;
}

/** The result of a first run. */
interface FirstRun extends FirstRunConfig {
  /** The written file; `undefined` for the demo or when writing failed. */
  readonly file: string | undefined;
  /** Why the file couldn't be written (a system error code); the service runs without it. */
  readonly problem: string | undefined;
}

/** Generates providers for all vendors with a key, in the given order; without any, the embedded provider. */
export const firstRunConfig = (vendors: readonly KnownVendor[], env: Environment): FirstRunConfig => {
  const found = vendors.filter(({ variable }) => env[variable]);
  const providers = found.map(({ provider, variable, baseUrl, models }) => ({
    name: provider,
    baseUrl,
    apiKey: `$${variable}`,
    models,
  }));
  const demo = { name: demoProvider.name, baseUrl: demoProvider.baseUrl, apiKey: '', models: [demoProvider.model] };
  const first = providers.find(({ models }) => models.length > 0) ?? (providers.length === 0 ? demo : undefined);
  return {
    source: {
      $schema: schemaReference,
      Providers: providers.length > 0 ? providers : [demo],
      ...(first && { Router: routerOf(first) }),
    },
    demo: providers.length === 0,
  };
};

const routerOf = ({ name, models }: { readonly name: string; readonly models: readonly string[] }): JsonObject => ({
  default: `${name},${models[0]}`,
  ...(models.length > 1 && { routes: { background: `${name},${models.at(-1)}` } }),
});

/** Generates a configuration and writes it, except for the demo. Call only if there is no file. */
export const firstRun = async (home: string, vendors: readonly KnownVendor[], env: Environment): Promise<FirstRun> => {
  const generated = firstRunConfig(vendors, env);
  if (generated.demo) return { ...generated, file: undefined, problem: undefined };
  const file = configFile(home, env);
  try {
    await writeAtomically(file, printConfig(generated.source));
    return { ...generated, file, problem: undefined };
  } catch (error) {
    const problem = errorCode(error) ?? 'unknown error';
    return { ...generated, file: undefined, problem };
  }
};
