import { bodyFaults } from '../../../config/sections/call-extras.ts';
import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../../../model/json/json.ts';
import type { SchemaFault } from '../../../model/schema.ts';
import { claudeCodeRouter } from './field-tables.ts';

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
  const uses = importTransformers(transformer, { at: `${at}.transformer`, provider: name.trim() }, notes, known);
  const own = bodyOf(uses, undefined);
  const withBodies = models.flatMap((model: Json, index): readonly Json[] => {
    if (typeof model !== 'string' || model.trim() === '') {
      notes.left.push({ path: `${at}.models[${index}]`, why: 'not a name' });
      return [];
    }
    const body = bodyOf(uses, model);
    return [Object.keys(body).length > 0 ? { name: model, body } : model];
  });
  const provider = { name, baseUrl, apiKey, models: withBodies };
  return {
    providers: [Object.keys(own).length > 0 ? { ...provider, body: own } : provider],
    transformers: uses.flatMap(({ entries }) => entries),
  };
};

/** The equivalent of a use of one of its transformers. */
interface ImportedUse {
  /** The model that it is for; `undefined`: all of the provider's. */
  readonly model: string | undefined;
  readonly entries: readonly JsonObject[];
  /** Members that calls have in their body. */
  readonly body: JsonObject;
}

/** The members of all uses for a model. A later one's win. */
const bodyOf = (uses: readonly ImportedUse[], model: string | undefined): JsonObject =>
  Object.assign({}, ...uses.map((use) => (use.model === model ? use.body : {})));

/** Options validators of our transformers, by lower-case name. */
export type KnownTransformers = ReadonlyMap<string, (options: JsonObject) => readonly SchemaFault[]>;

interface ProviderPath {
  readonly at: string;
  readonly provider: string;
}

/** Converts a provider's `transformer` field to entries of our list, in its order, and members of bodies. */
const importTransformers = (
  field: Json | undefined,
  place: ProviderPath,
  notes: ImportNotes,
  known: KnownTransformers,
): readonly ImportedUse[] =>
  Object.entries(isJsonObject(field) ? field : {}).flatMap(([key, value]) => {
    const model = key === 'use' ? undefined : key;
    const uses = key === 'use' ? value : isJsonObject(value) ? value.use : undefined;
    const at = key === 'use' ? `${place.at}.use` : `${place.at}.${key}.use`;
    if (!Array.isArray(uses)) {
      notes.left.push({ path: `${place.at}.${key}`, why: 'not a list of transformers' });
      return [];
    }
    const narrowed = { provider: place.provider, ...(model !== undefined && { models: [model] }) };
    return uses.map((use: Json, index): ImportedUse => {
      const path = `${at}[${index}]`;
      const [named, given] = Array.isArray(use) ? use : [use];
      const name = typeof named === 'string' ? named.toLowerCase() : '';
      const options = isJsonObject(given) ? given : {};
      if (!claudeCodeRouter.bodyTransformers.has(name)) {
        return { model, entries: importEntry({ name, options, path }, narrowed, notes, known), body: {} };
      }
      const { name: limit, transformer } = claudeCodeRouter.limitOption;
      const { [limit]: most, ...members } = options;
      const limits = most === undefined ? [] : [{ name: transformer, options: { [limit]: most }, path }];
      const own = known.has(name) ? [{ name, options: {}, path }] : [];
      const entries = [...own, ...limits].flatMap((entry) => importEntry(entry, narrowed, notes, known));
      return { model, entries, body: importBody(members, path, notes) };
    });
  });

/** A use of a transformer that exists here. */
interface NamedUse {
  /** In lower case. */
  readonly name: string;
  readonly options: JsonObject;
  readonly path: string;
}

const importEntry = (
  { name, options, path }: NamedUse,
  narrowed: JsonObject,
  notes: ImportNotes,
  known: KnownTransformers,
): readonly JsonObject[] => {
  const faultsOf = known.get(name);
  if (!faultsOf) {
    notes.left.push({ path, why: `unknown transformer ${JSON.stringify(name)}` });
    return [];
  }
  const [fault] = faultsOf(options);
  if (fault)
    notes.left.push({ path: `${path}[1]`, why: `${fault.path} ${fault.message}; ${name} is used without options` });
  notes.taken.push(path);
  return [{ name, ...narrowed, ...(Object.keys(options).length > 0 && !fault && { options }) }];
};

const importBody = (members: JsonObject, path: string, notes: ImportNotes): JsonObject => {
  const body: JsonDraft = { ...members };
  for (const [member, why] of bodyFaults(members)) {
    delete body[member];
    notes.left.push({ path: `${path}[1].${member}`, why });
  }
  for (const member of Object.keys(body)) notes.taken.push(`${path}[1].${member} (as body.${member})`);
  return body;
};
