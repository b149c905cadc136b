import { isJsonObject, type Json, type JsonObject } from '../model/json/json.ts';
import type { Lack } from '../model/models/model-facts.ts';

/** The subject: a provider's name and a model's, as in its calls. */
export interface Patient {
  readonly provider: string;
  readonly model: string;
}

/** A change of the configuration that concerns one model alone. */
export type Cure =
  /** A feature that the model lacks. */
  | { readonly to: 'lacks'; readonly lack: Lack }
  /** A fact about the model, in tokens. */
  | { readonly to: 'fact'; readonly name: 'context' | 'maxOutput'; readonly tokens: number }
  /** The inputs that the model accepts. */
  | { readonly to: 'input'; readonly kinds: readonly string[] }
  /** A JSON Merge Patch of the body of its calls. */
  | { readonly to: 'body'; readonly patch: JsonObject }
  /** Options of its format, beside those that it has. */
  | { readonly to: 'format'; readonly name: string; readonly options: JsonObject }
  /** A stage in front of it. */
  | { readonly to: 'stage'; readonly name: string };

/** The configuration with a change. The same members elsewhere, so that an edit keeps their text. */
export const applyChange = (source: JsonObject, patient: Patient, change: Cure): JsonObject => {
  switch (change.to) {
    case 'lacks':
      return withModel(source, patient, (model) => ({
        ...model,
        lacks: [...new Set([...listIn(model.lacks), change.lack])],
      }));
    case 'fact':
      return withModel(source, patient, (model) => ({ ...model, [change.name]: change.tokens }));
    case 'input':
      return withModel(source, patient, (model) => ({ ...model, input: change.kinds }));
    case 'body':
      return withModel(source, patient, (model) => ({
        ...model,
        body: joined(isJsonObject(model.body) ? model.body : {}, change.patch),
      }));
    case 'format':
      return withEntry(source, patient, change.name, change.options);
    case 'stage':
      return { ...source, transformers: [...listIn(source.transformers), entryFor(patient, change.name)] };
    default:
      return change satisfies never;
  }
};

/** The change as a user would write it. */
export const sayChange = ({ provider, model }: Patient, change: Cure): string => {
  const asModel = (fact: JsonObject): string =>
    `Providers[${provider}].models: ${JSON.stringify({ name: model, ...fact })}`;
  switch (change.to) {
    case 'lacks':
      return asModel({ lacks: [change.lack] });
    case 'fact':
      return asModel({ [change.name]: change.tokens });
    case 'input':
      return asModel({ input: change.kinds });
    case 'body':
      return asModel({ body: change.patch });
    case 'format':
      return `transformers: ${JSON.stringify({ ...entryFor({ provider, model }, change.name), options: change.options })}`;
    case 'stage':
      return `transformers: ${JSON.stringify(entryFor({ provider, model }, change.name))}`;
    default:
      return change satisfies never;
  }
};

const listIn = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : []);

const entryFor = ({ provider, model }: Patient, name: string) => ({ name, provider, models: [model] });

/** One patch that does what both do: unlike a merge, it keeps the `null`s. */
const joined = (first: JsonObject, second: JsonObject): JsonObject => {
  const both: Record<string, Json | undefined> = { ...first };
  for (const [name, value] of Object.entries(second)) {
    const before = both[name];
    both[name] = isJsonObject(before) && isJsonObject(value) ? joined(before, value) : value;
  }
  return both;
};

/** Changes a model's object in its provider's list, or adds it. */
const withModel = (
  source: JsonObject,
  { provider, model }: Patient,
  change: (model: JsonObject) => JsonObject,
): JsonObject => ({
  ...source,
  Providers: listIn(source.Providers).map((row) => {
    if (!isJsonObject(row) || nameOf(row) !== provider) return row;
    const models = listIn(row.models);
    const isListed = models.some((one) => nameOf(one) === model);
    const changed = models.map((one) =>
      nameOf(one) === model ? change(isJsonObject(one) ? one : { name: model }) : one,
    );
    return { ...row, models: isListed ? changed : [...changed, change({ name: model })] };
  }),
});

const nameOf = (one: Json): string | undefined => {
  const name = isJsonObject(one) ? one.name : one;
  return typeof name === 'string' ? name.trim() : undefined;
};

/** Changes the entry that names the format for this model alone; without one, it is added, and wins as the most specific. */
const withEntry = (source: JsonObject, patient: Patient, name: string, options: JsonObject): JsonObject => {
  const entries = listIn(source.transformers);
  const isOwn = (entry: Json): entry is JsonObject =>
    isJsonObject(entry) &&
    entry.name === name &&
    entry.provider === patient.provider &&
    isOnly(entry.models, patient.model);
  const changed = entries.map((entry) =>
    isOwn(entry) ? { ...entry, options: { ...(isJsonObject(entry.options) && entry.options), ...options } } : entry,
  );
  const added = entries.some(isOwn) ? [] : [{ ...entryFor(patient, name), options }];
  return { ...source, transformers: [...changed, ...added] };
};

const isOnly = (models: Json | undefined, model: string): boolean =>
  Array.isArray(models) && models.length === 1 && models[0] === model;
