import Type from 'typebox';
import { fail } from '../../engine/model/fault.ts';
import type { Json, JsonObject } from '../../engine/model/json/json.ts';
import {
  type ClientModel,
  type ClientModels,
  describeModel,
  noVendorModels,
  type VendorModels,
} from '../../engine/model/models/model-catalog.ts';
import { reader } from '../../engine/model/schema.ts';
import { readListedModel } from '../../engine/model/wire/listed-model.ts';
import { encodeFault } from './encode-fault.ts';

const models = reader(
  Type.Object({
    data: Type.Array(Type.Unsafe<Json>(Type.Object({ id: Type.String() }))),
    has_more: Type.Optional(Type.Boolean()),
    last_id: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  }),
);

const query = 'limit=1000';

/** Decodes Anthropic's model list. Source: Anthropic API reference, "List Models". */
export const messagesModelList: VendorModels = {
  query,
  decode(body) {
    if (!models.matches(body)) return noVendorModels();
    const { data, has_more: more, last_id: last } = body;
    return {
      models: data.flatMap((row) => readListedModel(row) ?? []),
      ...(more && last && { next: `${query}&after_id=${encodeURIComponent(last)}` }),
    };
  },
};

/** Default and maximum page size. Source: Anthropic API reference, "List Models". */
const usualPage = 20;
const largestPage = 1_000;

const encodeModel = (model: ClientModel, createdAtMs: number): JsonObject => ({
  type: 'model',
  id: model.id,
  display_name: model.title,
  description: describeModel(model),
  created_at: new Date(createdAtMs).toISOString(),
  max_input_tokens: model.facts.maxInput ?? model.facts.context ?? null,
  max_tokens: model.facts.maxOutput ?? null,
});

/**
 * Encodes the model list in Anthropic's format, with cursor pages. Some clients offer only names that contain the
 * vendor's, and assume its context window for names that start like its models: so an alias starts with the vendor's
 * name. Source: Anthropic API reference, "List Models".
 */
export const messagesModels: ClientModels = {
  matches: (header) => header('anthropic-version') !== undefined,
  aliasPrefix: 'anthropic-',
  encodeList(models, createdAtMs, query) {
    const { page, more } = pageOf(models, query);
    return {
      data: page.map((model) => encodeModel(model, createdAtMs)),
      has_more: more,
      first_id: page[0]?.id ?? null,
      last_id: page.at(-1)?.id ?? null,
    };
  },
  encodeModel,
  encodeFault,
};

/** `more` refers to the requested direction: towards the start with `before_id`, otherwise towards the end. */
const pageOf = (models: readonly ClientModel[], query: URLSearchParams) => {
  const limit = readLimit(query.get('limit'));
  const after = query.get('after_id');
  const before = query.get('before_id');
  if (after !== null && before !== null) fail('invalid-request', 'after_id and before_id exclude each other.');
  if (before !== null) {
    const end = placeOf(models, before, 'before_id');
    const start = Math.max(0, end - limit);
    return { page: models.slice(start, end), more: start > 0 };
  }
  const start = after === null ? 0 : placeOf(models, after, 'after_id') + 1;
  return { page: models.slice(start, start + limit), more: start + limit < models.length };
};

const readLimit = (text: string | null): number => {
  if (text === null) return usualPage;
  const limit = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= largestPage
    ? limit
    : fail('invalid-request', `limit must be a whole number from 1 to ${largestPage}.`, { param: 'limit' });
};

const placeOf = (models: readonly ClientModel[], id: string, param: string): number => {
  const place = models.findIndex((model) => model.id === id);
  return place >= 0 ? place : fail('invalid-request', `${param} names no model of this list.`, { param });
};
