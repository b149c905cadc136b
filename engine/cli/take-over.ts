import { isLoopback } from '../config/loopback.ts';
import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../model/json.ts';
import { type ImportNotes, importProviders } from './import-providers.ts';
import type { KnownTransformers } from './import-transformers.ts';

/** What is known of the gateway that a configuration comes from. */
export interface OtherGateway {
  readonly sameFields: readonly string[];
  readonly scenarios: readonly string[];
  readonly untaken: ReadonlyMap<string, string>;
}

/** A configuration with another gateway's taken over. */
export interface TakenOver extends ImportNotes {
  readonly written: JsonObject;
}

/**
 * Another gateway's configuration in our spelling, put over ours: what it sets takes the place of what we have, providers by
 * their names; the rest of ours stays. Says of each field what became of it.
 */
export const takeOver = (
  theirs: JsonObject,
  ours: JsonObject,
  gateway: OtherGateway,
  known: KnownTransformers,
): TakenOver => {
  const notes: ImportNotes = { taken: [], left: [] };
  const written: JsonDraft = { ...ours };
  for (const [field, value] of Object.entries(theirs)) {
    if (value === undefined) continue;
    if (field === 'Providers' || field === 'providers') {
      const imported = importProviders(value, notes, known);
      const names = new Set(imported.providers.map(({ name }) => name));
      const isOther = (entry: Json, key: 'name' | 'provider'): boolean =>
        !isJsonObject(entry) || typeof entry[key] !== 'string' || !names.has(entry[key]);
      written.Providers = [...listOf(ours.Providers).filter((entry) => isOther(entry, 'name')), ...imported.providers];
      const entries = listOf(ours.transformers).filter((entry) => isOther(entry, 'provider'));
      if (entries.length + imported.transformers.length > 0)
        written.transformers = [...entries, ...imported.transformers];
    } else if (field === 'Router') written.Router = takeRouter(value, written.Router, gateway, notes);
    else if (field === 'fallback') written.Router = takeFallback(value, written.Router, gateway, notes);
    else if (field === 'API_TIMEOUT_MS') takeTimeout(value, written, notes);
    else if (field === 'HOST' && isOpen(value, theirs)) {
      notes.left.push({ path: field, why: 'it can be reached from other machines, and there is no APIKEY' });
    } else if (gateway.sameFields.includes(field)) {
      written[field] = value;
      notes.taken.push(field);
    } else notes.left.push({ path: field, why: gateway.untaken.get(field) ?? 'nothing here has that meaning' });
  }
  return { ...notes, written };
};

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

const isOpen = (host: Json, { APIKEY }: JsonObject): boolean =>
  typeof host === 'string' && !isLoopback(host) && !APIKEY;

const takeRouter = (theirs: Json, ours: Json | undefined, gateway: OtherGateway, notes: ImportNotes): JsonObject => {
  const router: JsonDraft = { ...(isJsonObject(ours) ? ours : {}) };
  const routes: JsonDraft = { ...(isJsonObject(router.routes) ? router.routes : {}) };
  for (const [name, value] of Object.entries(isJsonObject(theirs) ? theirs : {})) {
    const path = `Router.${name}`;
    // An empty text is how it writes "no route".
    if (value === undefined || value === '') continue;
    if (name === 'default' || name === 'longContextThreshold') router[name] = value;
    else if (gateway.scenarios.includes(name)) routes[name] = value;
    else {
      notes.left.push({ path, why: 'there is no such rule here' });
      continue;
    }
    notes.taken.push(path);
  }
  return Object.keys(routes).length > 0 ? { ...router, routes } : router;
};

const takeFallback = (theirs: Json, ours: Json | undefined, gateway: OtherGateway, notes: ImportNotes): JsonObject => {
  const router: JsonObject = isJsonObject(ours) ? ours : {};
  const fallback: JsonDraft = { ...(isJsonObject(router.fallback) ? router.fallback : {}) };
  for (const [name, value] of Object.entries(isJsonObject(theirs) ? theirs : {})) {
    if (value === undefined) continue;
    const path = `fallback.${name}`;
    if (name !== 'default' && !gateway.scenarios.includes(name)) {
      notes.left.push({ path, why: 'there is no such rule here' });
      continue;
    }
    fallback[name] = value;
    notes.taken.push(path);
  }
  return Object.keys(fallback).length > 0 ? { ...router, fallback } : router;
};

const takeTimeout = (value: Json, written: JsonDraft, notes: ImportNotes): void => {
  const ms = Number(value);
  if (!Number.isInteger(ms) || ms < 1) {
    notes.left.push({ path: 'API_TIMEOUT_MS', why: 'it is no number of milliseconds' });
    return;
  }
  written.TIMEOUTS = { ...(isJsonObject(written.TIMEOUTS) ? written.TIMEOUTS : {}), firstByteMs: ms };
  notes.taken.push('API_TIMEOUT_MS (as TIMEOUTS.firstByteMs)');
};
