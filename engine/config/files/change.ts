import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../../model/json/json.ts';
import type { Config } from '../config.ts';
import type { Finding } from '../diagnostics.ts';
import { ServiceSettings } from '../schema.ts';
import { isLoopback } from '../sections/service-settings.ts';

/** A configuration: its source and the validated result. */
export interface Configuration {
  /** The source, with environment references unresolved. */
  readonly source: JsonObject;
  /** Validated, with defaults and environment references filled in. */
  readonly config: Config;
}

/** A configuration that is built but not active yet. */
export interface Prepared {
  /** Faults found while building it; with any fault it isn't applied. */
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
  /** Activates it for new requests; requests in flight keep the previous one. */
  readonly apply: () => void;
}

/** The result of a configuration change. */
export type Change = Applied | Refused;

/** The change is active. */
export interface Applied {
  readonly type: 'applied';
  /** Those that the configuration before it didn't have. */
  readonly warnings: readonly Finding[];
  /** Changed fields that take effect only after a restart. */
  readonly restart: readonly string[];
  /** Other processes of the service that still use the previous configuration. */
  readonly behind: number;
}

/** The configuration is invalid; nothing was changed. */
export interface Refused {
  readonly type: 'refused';
  readonly faults: readonly Finding[];
  readonly warnings: readonly Finding[];
}

/** The settings that the schema marks, and where a configuration has them. */
const afterRestart = Object.entries(ServiceSettings.properties).flatMap(([name, field]) =>
  'restart' in field ? [[name, name.toLowerCase()] as const] : [],
);

/** The fields that differ and take effect only after a restart. */
export const needsRestart = (started: Config, next: Config): readonly string[] => {
  const [before, after]: readonly Readonly<Record<string, unknown>>[] = [{ ...started }, { ...next }];
  return [
    ...afterRestart.flatMap(([name, member]) => (isDeepStrictEqual(before?.[member], after?.[member]) ? [] : [name])),
    // See `effectiveApiKey`.
    ...(isLoopback(started.host) || next.apiKey ? [] : ['APIKEY']),
  ];
};

/**
 * The API key to require on a port opened at `host`. A configuration without a key is valid only for a loopback address; while
 * the port is still open to other machines, the previous key stays.
 */
export const effectiveApiKey = (host: string, before: string | undefined, { apiKey }: Config): string | undefined =>
  apiKey ?? (isLoopback(host) ? undefined : before);
