import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { importTransformers, type KnownTransformers } from './import-transformers.ts';

/** What became of the fields of a configuration that was taken over. */
export interface ImportNotes {
  /** Paths of what was taken. */
  readonly taken: string[];
  readonly left: { readonly path: string; readonly why: string }[];
}

/** Providers in our spelling, and the transformer entries that their own fields stand for. */
export interface ImportedProviders {
  readonly providers: readonly (JsonObject & { readonly name: string })[];
  readonly transformers: readonly JsonObject[];
}

const fields = new Set(['name', 'api_base_url', 'api_key', 'baseUrl', 'apiKey', 'models', 'transformer']);

/** The other gateway's providers → ours. One without a name, an address or models is left. */
export const importProviders = (value: Json, notes: ImportNotes, known: KnownTransformers): ImportedProviders => {
  const imported = (Array.isArray(value) ? value : []).map((row: Json, index) =>
    importProvider(row, `Providers[${index}]`, notes, known),
  );
  return {
    providers: imported.flatMap(({ providers }) => providers),
    transformers: imported.flatMap(({ transformers }) => transformers),
  };
};

const importProvider = (row: Json, at: string, notes: ImportNotes, known: KnownTransformers): ImportedProviders => {
  const { name, models, transformer } = isJsonObject(row) ? row : {};
  const { api_base_url: address, api_key: key } = isJsonObject(row) ? row : {};
  const baseUrl = address ?? (isJsonObject(row) ? row.baseUrl : undefined);
  if (!isJsonObject(row) || typeof name !== 'string' || typeof baseUrl !== 'string' || !Array.isArray(models)) {
    notes.left.push({ path: at, why: 'it has no name, no address or no models' });
    return { providers: [], transformers: [] };
  }
  for (const field of Object.keys(row).filter((field) => !fields.has(field))) {
    notes.left.push({ path: `${at}.${field}`, why: 'providers have no such field here' });
  }
  notes.taken.push(`${at} (${name}, ${models.length} models)`);
  const apiKey = key ?? row.apiKey ?? '';
  return {
    providers: [{ name, baseUrl, apiKey, models }],
    transformers: importTransformers(transformer, { at: `${at}.transformer`, provider: name.trim() }, notes, known),
  };
};
