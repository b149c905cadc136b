import { isJsonObject, type Json, type JsonObject } from '../../model/json/json.ts';
import type { SchemaFault } from '../../model/schema.ts';

/** The outcome for each field of an imported configuration. */
export interface ImportNotes {
  /** Paths of imported fields. */
  readonly taken: string[];
  readonly left: { readonly path: string; readonly why: string }[];
}

/** Converted providers, and the transformer entries that their `transformer` fields stand for. */
interface ImportedProviders {
  readonly providers: readonly (JsonObject & { readonly name: string })[];
  readonly transformers: readonly JsonObject[];
}

const fields = new Set(['name', 'api_base_url', 'api_key', 'baseUrl', 'apiKey', 'models', 'transformer']);

/** Converts the other gateway's providers. Skips those without a name, an address or models. */
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
    notes.left.push({ path: at, why: 'name, address or models are missing' });
    return { providers: [], transformers: [] };
  }
  for (const field of Object.keys(row).filter((field) => !fields.has(field))) {
    notes.left.push({ path: `${at}.${field}`, why: 'not supported' });
  }
  notes.taken.push(`${at} (${name}, ${models.length} models)`);
  const apiKey = key ?? row.apiKey ?? '';
  return {
    providers: [{ name, baseUrl, apiKey, models }],
    transformers: importTransformers(transformer, { at: `${at}.transformer`, provider: name.trim() }, notes, known),
  };
};

/** Options validators of our transformers, by lower-case name. */
export type KnownTransformers = ReadonlyMap<string, (options: JsonObject) => readonly SchemaFault[]>;

interface ProviderPath {
  readonly at: string;
  readonly provider: string;
}

/** Converts a provider's `transformer` field to entries of our list, in its order. */
const importTransformers = (
  field: Json | undefined,
  place: ProviderPath,
  notes: ImportNotes,
  known: KnownTransformers,
): readonly JsonObject[] =>
  Object.entries(isJsonObject(field) ? field : {}).flatMap(([key, value]) => {
    const uses = key === 'use' ? value : isJsonObject(value) ? value.use : undefined;
    const at = key === 'use' ? `${place.at}.use` : `${place.at}.${key}.use`;
    if (!Array.isArray(uses)) {
      notes.left.push({ path: `${place.at}.${key}`, why: 'not a list of transformers' });
      return [];
    }
    const narrowed = { provider: place.provider, ...(key !== 'use' && { models: [key] }) };
    return uses.flatMap((use: Json, index) => importUse(use, `${at}[${index}]`, narrowed, notes, known));
  });

const importUse = (
  use: Json,
  path: string,
  narrowed: JsonObject,
  notes: ImportNotes,
  known: KnownTransformers,
): readonly JsonObject[] => {
  const [name, given] = Array.isArray(use) ? use : [use];
  const ownName = typeof name === 'string' ? name.toLowerCase() : '';
  const faultsOf = known.get(ownName);
  if (!faultsOf) {
    notes.left.push({ path, why: `unknown transformer ${JSON.stringify(name ?? null)}` });
    return [];
  }
  const options = isJsonObject(given) ? given : {};
  const [fault] = faultsOf(options);
  if (fault)
    notes.left.push({ path: `${path}[1]`, why: `${fault.path} ${fault.message}; ${ownName} is used without options` });
  notes.taken.push(path);
  return [{ name: ownName, ...narrowed, ...(Object.keys(options).length > 0 && !fault && { options }) }];
};
