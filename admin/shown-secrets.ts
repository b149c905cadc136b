import Type from 'typebox';
import { hideSecrets } from '../engine/config/secrets.ts';
import type { HttpRequest } from '../engine/http/endpoint.ts';
import { fail } from '../engine/model/fault.ts';
import type { JsonObject } from '../engine/model/json/json.ts';

/** Query parameters of the routes that answer with a configuration. */
export const secretsQuery = {
  secrets: Type.Enum(['hidden'], {
    description: 'A placeholder, such as `•••• Providers[work].apiKey`, for each secret. Absent: secrets as written.',
  }),
};

/**
 * A configuration as a request asks for it: as written, secrets included, or with placeholders for them (`secrets=hidden`).
 * Throws an `invalid-request` fault for other values, so that a misspelled one reveals nothing.
 */
export const showSecrets = ({ query }: Pick<HttpRequest, 'query'>, source: JsonObject): JsonObject => {
  const asked = new URLSearchParams(query).getAll('secrets');
  if (asked.length === 0) return source;
  if (asked.some((value) => value !== 'hidden')) {
    fail('invalid-request', 'secrets must be hidden, or be left out.', { param: 'secrets' });
  }
  return hideSecrets(source);
};
