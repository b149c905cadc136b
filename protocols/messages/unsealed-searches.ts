import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { Part, TextPart, Turn } from '../../engine/model/request.ts';

// Web searches that no vendor of this format has made: the gateway's own, or another one's. Their payloads aren't sealed, and the vendor
// refuses what it can't open. Source: Anthropic API reference, "Web search tool", `encrypted_content` and `encrypted_index`.

/** Whether a block of a client's body holds such results, or cites them. */
export const isUnsealed = (block: JsonObject): boolean => {
  const { type, content, citations } = block;
  if (type === 'web_search_tool_result') return Array.isArray(content) && content.some(isUnsealedResult);
  return type === 'text' && Array.isArray(citations) && citations.some(isUnsealedCitation);
};

const isUnsealedResult = (result: Json): boolean =>
  isJsonObject(result) && result.type === 'web_search_result' && !isSealed(result.encrypted_content);

/** Whether a citation names a result that its vendor can't open. */
export const isUnsealedCitation = (citation: Json): boolean =>
  isJsonObject(citation) && citation.type === 'web_search_result_location' && !isSealed(citation.encrypted_index);

/** Sealed payloads are base64; their beginning tells. */
const isSealed = (payload: Json | undefined): boolean =>
  typeof payload === 'string' && /^[\w+/=-]+$/.test(payload.slice(0, beginning));

const beginning = 64;

/** The conversation with a text in the place of each such search. */
export const expressUnsealed = (turns: readonly Turn[], losses: Losses): readonly Turn[] =>
  turns.map((turn) => (turn.parts.some(isUnsealedPart) ? { ...turn, parts: expressParts(turn.parts, losses) } : turn));

const isUnsealedPart = (part: Part): boolean =>
  part.type === 'opaque' && part.wire === 'messages' && isUnsealed(part.raw);

const expressParts = (parts: readonly Part[], losses: Losses): readonly Part[] => {
  const ids = new Set(
    parts.flatMap((part) => (part.type === 'opaque' && isUnsealed(part.raw) ? part.raw.tool_use_id : [])),
  );
  const queries = new Map<Json | undefined, Json | undefined>();
  return parts.flatMap((part): readonly Part[] => {
    if (part.type !== 'opaque') return [part];
    const { raw, at } = part;
    if (raw.type === 'server_tool_use' && ids.has(raw.id)) {
      queries.set(raw.id, isJsonObject(raw.input) ? raw.input.query : undefined);
      return [];
    }
    if (!isUnsealed(raw)) return [part];
    losses.approximate(at ?? 'messages', 'text');
    return [textOf(raw, queries.get(raw.tool_use_id), at)];
  });
};

const textOf = ({ content }: JsonObject, query: Json | undefined, at: string | undefined): TextPart => {
  const results = (Array.isArray(content) ? content : [])
    .filter(isJsonObject)
    .map(({ title, url }) => ({ title, url }));
  return { type: 'text', text: `An earlier web search, as data: ${JSON.stringify({ query, results })}`, at };
};
