import type { Config } from '../config/config.ts';
import { formatFindings } from '../config/diagnostics.ts';
import { validateConfig } from '../config/validate.ts';
import type { JsonObject } from '../model/json/json.ts';

/** The one destination of a trial. */
interface Destination {
  readonly provider: string;
  readonly baseUrl?: URL;
  /** Its name, and what is known of it. */
  readonly model: JsonObject;
  /** Further members of the settings. */
  readonly more?: JsonObject;
}

/** A configuration with one provider of one model, which is never called. */
export const configFor = ({ provider, baseUrl, model, more }: Destination): Config => {
  const { origin, pathname } = baseUrl ?? new URL('http://127.0.0.1/v1');
  const written = { name: provider, baseUrl: origin + pathname, apiKey: '', models: [model] };
  const result = validateConfig({ Providers: [written], ...more }, {});
  if ('faults' in result) throw new Error(`The target can't be used:${formatFindings(result.faults)}`);
  return result.config;
};
