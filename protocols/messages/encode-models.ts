import { fail } from '../../engine/model/fault.ts';
import type { JsonObject } from '../../engine/model/json.ts';
import type { ListedModel, ModelListing } from '../../engine/model/model-listing.ts';
import { encodeFault } from './faults.ts';

/** Rows of a page where the client names no number, and at most. Source: Anthropic API reference, "List Models". */
const usualPage = 20;
const largestPage = 1_000;

const encodeModel = ({ id, title }: ListedModel, createdAtMs: number): JsonObject => ({
  type: 'model',
  id,
  display_name: title,
  created_at: new Date(createdAtMs).toISOString(),
});

/**
 * The list of models as Anthropic has it: in pages, by cursors. Clients of it offer only names that begin as the vendor's own.
 * Source: Anthropic API reference, "List Models".
 */
export const messagesModels: ModelListing = {
  isAsked: (header) => header('anthropic-version') !== undefined,
  aliasPrefix: 'claude-',
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

/** `more` speaks of the direction that is asked for: towards the beginning with `before_id`, else towards the end. */
const pageOf = (models: readonly ListedModel[], query: URLSearchParams) => {
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

const placeOf = (models: readonly ListedModel[], id: string, param: string): number => {
  const place = models.findIndex((model) => model.id === id);
  return place >= 0 ? place : fail('invalid-request', `${param} names no model of this list.`, { param });
};
