import { isJsonObject, type Json, type JsonObject } from '../json/json.ts';
import { type InputKind, inputKinds, type ListedModel, type ModelPrice } from '../models/model-facts.ts';

/** The longest name of a model that a list may have. */
const maxName = 256;

/**
 * A row of a vendor's list: its name and, where the row says it in one of the usual members, what else is known. Numbers of 0 or
 * less and texts that aren't numbers count as unknown. `undefined` for a row without a usable name. Source: the list of models in
 * the API references of the vendors and in the sources of the local servers.
 */
export const readListedModel = (row: Json, id: Json | undefined = member(row, 'id')): ListedModel | undefined => {
  if (typeof id !== 'string' || id.trim() === '' || id.length > maxName || !isJsonObject(row)) return undefined;
  const abilities = member(row, 'capabilities');
  const top = member(row, 'top_provider');
  const context = firstCount([
    row.loaded_context_length,
    row.max_model_len,
    member(top, 'context_length'),
    row.max_input_tokens,
    row.inputTokenLimit,
    row.context_length,
    row.context_window,
    row.contextLength,
    row.max_context_length,
    member(row.meta, 'n_ctx_train'),
  ]);
  const maxOutput = firstCount([
    member(top, 'max_completion_tokens'),
    row.max_tokens,
    row.max_completion_tokens,
    row.max_output_tokens,
    row.outputTokenLimit,
  ]);
  const input = inputOf(row, abilities);
  const tools = toolsOf(row, abilities);
  const reasoning = firstFlag([
    row.thinking,
    row.supports_reasoning,
    member(member(abilities, 'thinking'), 'supported'),
  ]);
  const price = priceOf(row.pricing);
  const retires = firstDay([row.retires_at, row.shutdown_date, row.expiration_date]);
  return {
    id,
    ...(context !== undefined && { context }),
    ...(maxOutput !== undefined && { maxOutput }),
    ...(input && { input }),
    ...(tools !== undefined && { tools }),
    ...(reasoning !== undefined && { reasoning }),
    ...(price && { price }),
    ...(retires !== undefined && { retires }),
  };
};

const member = (value: Json | undefined, name: string): Json | undefined =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;

const firstCount = (values: readonly (Json | undefined)[]): number | undefined =>
  values.find((value): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value > 0);

const firstFlag = (values: readonly (Json | undefined)[]): boolean | undefined =>
  values.find((value): value is boolean => typeof value === 'boolean');

const includes = (list: Json | undefined, word: string): boolean | undefined =>
  Array.isArray(list) ? list.includes(word) : undefined;

const toolsOf = (row: JsonObject, abilities: Json | undefined): boolean | undefined =>
  firstFlag([
    includes(row.supported_parameters, 'tools'),
    includes(abilities, 'tools'),
    member(abilities, 'function_calling'),
    member(abilities, 'trained_for_tool_use'),
    row.supportsTools,
  ]);

/** Kinds that a row names one by one, or images alone. */
const inputOf = (row: JsonObject, abilities: Json | undefined): readonly InputKind[] | undefined => {
  const named = member(row.architecture, 'input_modalities') ?? row.input_modalities;
  if (Array.isArray(named)) {
    const kinds = named.map((kind) => (kind === 'file' ? 'pdf' : kind));
    return inputKinds.filter((kind) => kinds.includes(kind));
  }
  const images = firstFlag([
    member(member(abilities, 'image_input'), 'supported'),
    member(abilities, 'vision'),
    includes(abilities, 'vision'),
    row.supports_image_in,
    row.supportsImageInput,
  ]);
  if (images === undefined) return undefined;
  const pdf = member(member(abilities, 'pdf_input'), 'supported') === true;
  return ['text', ...(images ? (['image'] as const) : []), ...(pdf ? (['pdf'] as const) : [])];
};

/** Texts are USD per token, numbers USD per million. Negative prices mean that they vary. */
const priceOf = (pricing: Json | undefined): ModelPrice | undefined => {
  const price = (...names: readonly string[]): number | undefined => {
    for (const name of names) {
      const given = member(pricing, name);
      const usd =
        typeof given === 'string' && given.trim() !== '' && given.length < 32 ? perMillion(Number(given)) : given;
      if (typeof usd === 'number' && Number.isFinite(usd) && usd >= 0) return usd;
    }
    return undefined;
  };
  const input = price('prompt', 'input');
  const output = price('completion', 'output');
  const cacheRead = price('input_cache_read', 'cached_input');
  const cacheWrite = price('input_cache_write');
  if (input === undefined || output === undefined) return undefined;
  return {
    input,
    output,
    ...(cacheRead !== undefined && { cacheRead }),
    ...(cacheWrite !== undefined && { cacheWrite }),
  };
};

/** Twelve digits are more than any price has, and drop what the multiplication adds. */
const perMillion = (usd: number): number => Number((usd * 1e6).toPrecision(12));

const firstDay = (values: readonly (Json | undefined)[]): string | undefined =>
  values
    .filter((value) => typeof value === 'string')
    .find((value) => /^\d{4}-\d{2}-\d{2}/.test(value))
    ?.slice(0, 10);
