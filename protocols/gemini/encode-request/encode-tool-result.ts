import { isJsonObject, type JsonDraft, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import type { Part, ToolCallPart, ToolResultPart, Turn } from '../../../engine/model/request.ts';
import { hasOwnId, wireName } from '../tool-names.ts';
import { type ContentContext, dropMarks, encodeParts } from './encode-content.ts';

/** A call's function response, and the media that don't fit inside it. */
export interface WireResult {
  readonly response: JsonObject;
  readonly behind: readonly JsonObject[];
}

/**
 * Encodes a call's result as its function response. The vendor matches by name, and by id if it issued one. It
 * requires a response for each call, so a missing result becomes an error response. Source: Gemini API reference,
 * "FunctionResponse".
 */
export const encodeResult = (
  call: ToolCallPart,
  result: ToolResultPart | undefined,
  context: ContentContext,
): WireResult => {
  if (!result) {
    context.losses.approximate(call.at ?? 'messages', 'answered as an error: the conversation holds no result');
    return { response: functionResponse(call, { error: 'This call was not carried out.' }, [], context), behind: [] };
  }
  const at = result.at ?? 'messages';
  dropMarks(result, at, context.losses);
  const parts = encodeParts(result.content, at, context);
  const texts = parts.flatMap((part) => (typeof part.text === 'string' ? [part.text] : []));
  const media = parts.filter((part) => typeof part.text !== 'string');
  const goesInside = (part: JsonObject): boolean => context.dialect.resultMedia && fitsInside(part);
  const inside = media.filter(goesInside);
  const behind = media.filter((part) => !goesInside(part));
  if (behind.length > 0) {
    context.losses.approximate(at, 'its media follow the function responses');
    texts.push('(What else it gave follows the function responses.)');
  }
  const said = texts.join('\n\n');
  const response = functionResponse(call, result.isError ? { error: said } : { output: said }, inside, context);
  return { response, behind };
};

const functionResponse = (
  call: ToolCallPart,
  response: JsonObject,
  parts: readonly JsonObject[],
  { names }: ContentContext,
): JsonObject => {
  const wire: JsonDraft = { name: wireName(names, call.name), response };
  if (hasOwnId(call)) wire.id = call.id;
  if (parts.length > 0) wire.parts = parts;
  return { functionResponse: wire };
};

/** Whether a function response may contain the media. Source: Gemini API documentation, "Multimodal function responses". */
const fitsInside = ({ inlineData }: JsonObject): boolean =>
  isJsonObject(inlineData) &&
  typeof inlineData.mimeType === 'string' &&
  /^(?:image\/(?:png|jpeg|webp)|application\/pdf|text\/plain)$/.test(inlineData.mimeType);

/** Matches results with calls. */
export interface Results {
  readonly byCall: ReadonlyMap<ToolCallPart, ToolResultPart>;
  /** The results that have a call. */
  readonly taken: ReadonlySet<Part>;
}

/** Finds the first later result for each call's id. Turns of one role must be merged already. */
export const findResults = (turns: readonly Turn[], losses: Losses): Results => {
  const waiting = new Map<string, { readonly call: ToolCallPart; readonly turn: number }[]>();
  const byCall = new Map<ToolCallPart, ToolResultPart>();
  const taken = new Set<Part>();
  for (const [index, { parts }] of turns.entries()) {
    for (const part of parts) {
      if (part.type === 'tool-call') {
        const same = waiting.get(part.id);
        if (same) same.push({ call: part, turn: index });
        else waiting.set(part.id, [{ call: part, turn: index }]);
      }
      if (part.type !== 'tool-result') continue;
      const asked = waiting.get(part.id)?.shift();
      if (!asked) continue;
      byCall.set(asked.call, part);
      taken.add(part);
      if (asked.turn !== index - 1) losses.approximate(part.at ?? 'messages', 'moved to its call');
    }
  }
  return { byCall, taken };
};
