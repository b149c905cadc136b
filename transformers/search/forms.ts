import type { Batch, JsonObject, ModelEvent, StageContext } from 'junctor/transformer';
import { isObject, listIn, parsed, textIn } from './json.ts';
import { cut, type Outcome, type Page, type Search, toldOutcome } from './outcome.ts';

/** A search under way: its outcome comes later, and never rejects. */
export interface Pending extends Omit<Search, 'outcome'> {
  readonly outcome: Promise<Outcome>;
}

/** The form of searches for a client, in its own wire format. */
export interface Form {
  /** Prefix of the ids of searches. */
  readonly idPrefix: string;
  /** The blocks of these searches, as they go on. `place` gives each block its index. */
  readonly show: (searches: readonly Pending[], place: () => number) => AsyncIterable<Batch>;
  /** Whether the client sends back what was found. Otherwise the stage remembers it. */
  readonly carries: boolean;
}

/** A block that is whole at its start. */
const wholeBlock = (index: number, raw: JsonObject, deltas: readonly JsonObject[] = []): readonly ModelEvent[] => [
  { type: 'block-start', index, block: { type: 'opaque', wire: 'messages', raw } },
  ...deltas.map((delta) => ({ type: 'opaque-delta', index, raw: delta }) as const),
  { type: 'block-stop', index },
];

/** Source: Anthropic API reference, "Web search tool". */
const messages: Form = {
  idPrefix: 'srvtoolu',
  carries: true,
  async *show(searches, place) {
    yield searches.flatMap(({ id, query }) => {
      const raw = { type: 'server_tool_use', id, name: 'web_search', input: {} };
      return wholeBlock(place(), raw, [{ type: 'input_json_delta', partial_json: JSON.stringify({ query }) }]);
    });
    for (const { id, outcome } of searches) {
      const content = contentOf(await outcome);
      yield wholeBlock(place(), { type: 'web_search_tool_result', tool_use_id: id, content });
    }
  },
};

const contentOf = (outcome: Outcome): JsonObject | readonly JsonObject[] => {
  if (outcome.kind === 'failed') return { type: 'web_search_tool_result_error', error_code: outcome.code };
  return outcome.pages.map(({ url, title, excerpt, date }, index) => ({
    type: 'web_search_result',
    title,
    url,
    encrypted_content: packed({ excerpt, ...(index === 0 && outcome.summary && { summary: outcome.summary }) }),
    page_age: date ?? null,
  }));
};

/** Marks a payload as the stage's own; a vendor's is sealed. */
const ownMark = 'junctor-search.';

const packed = (value: JsonObject): string => ownMark + Buffer.from(JSON.stringify(value)).toString('base64url');

/** Longer payloads of a client aren't read. */
const maxPayload = 64_000;

const unpacked = (payload: unknown): Readonly<Record<string, unknown>> => {
  const text = textIn(payload);
  if (!text.startsWith(ownMark) || text.length > maxPayload) return {};
  const value = parsed(Buffer.from(text.slice(ownMark.length), 'base64url').toString('utf8'));
  return isObject(value) ? value : {};
};

/** The fields of what `contentOf` has made, or a vendor. */
export const contentFields = (content: unknown): Readonly<Record<string, unknown>> => {
  if (isObject(content)) return { code: textIn(content.error_code) };
  const results = listIn(content).filter(isObject);
  return {
    pages: results.map(({ url, title, encrypted_content: payload, page_age: date }) => ({
      url,
      title,
      date,
      excerpt: textIn(unpacked(payload).excerpt),
    })),
    summary: results
      .map(({ encrypted_content: payload }) => unpacked(payload).summary)
      .find((text) => text !== undefined),
  };
};

/** Source: OpenAI API reference, "Web search", and the events of its streams. */
const responses: Form = {
  idPrefix: 'ws',
  carries: false,
  async *show(searches, place) {
    for (const { id, query, outcome } of searches) {
      const index = place();
      const item = { type: 'web_search_call', id, action: { type: 'search', query, queries: [query] } };
      const delta = (raw: JsonObject): ModelEvent => ({ type: 'opaque-delta', index, raw });
      const progress = (step: string) => delta({ type: `response.web_search_call.${step}`, item_id: id });
      yield [
        {
          type: 'block-start',
          index,
          block: { type: 'opaque', wire: 'responses', raw: { ...item, status: 'in_progress' } },
        },
        progress('in_progress'),
        progress('searching'),
      ];
      const done = await outcome;
      const sources = done.kind === 'found' ? done.pages.map(({ url }) => ({ type: 'url', url })) : [];
      const whole = {
        ...item,
        status: done.kind === 'found' ? 'completed' : 'failed',
        action: { ...item.action, ...(sources.length > 0 && { sources }) },
      };
      yield [
        ...(done.kind === 'found' ? [progress('completed')] : []),
        delta({ type: 'response.output_item.done', item: whole }),
        { type: 'block-stop', index },
      ];
    }
  },
};

/** Chat Completions has no place for searches. */
const chat: Form = {
  idPrefix: 'call',
  carries: false,
  async *show(searches) {
    for (const { outcome } of searches) await outcome;
    yield [];
  },
};

export const forms: Readonly<Record<StageContext['client']['wire'], Form>> = { messages, chat, responses };

const maxCited = 150;

/** The citation of a page at a place of an answer, in a client's format. */
export const citationOf = (
  { url, title, excerpt }: Page,
  { start, end }: { readonly start: number; readonly end: number },
  wire: StageContext['client']['wire'],
): Extract<ModelEvent, { readonly type: 'citation-delta' }>['citation'] => {
  const quote = cut(excerpt, maxCited);
  const cited = { type: 'url', url, title, ...(quote !== '' && { quote }) } as const;
  if (wire !== 'messages') return { ...cited, start, end };
  const value = { type: 'web_search_result_location', url, title, encrypted_index: packed({ url }), cited_text: quote };
  return { ...cited, raw: { wire, value } };
};

/** The text that the model gets for a finished search. */
export const resultPart = (search: Search, at?: string) =>
  ({
    type: 'tool-result',
    id: search.id,
    content: [{ type: 'text', text: toldOutcome(search) }],
    ...(search.outcome.kind === 'failed' && { isError: true }),
    ...(at !== undefined && { at }),
  }) as const;
