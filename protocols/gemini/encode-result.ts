import type { JsonDraft, JsonObject } from '../../engine/model/json.ts';
import { isJsonObject } from '../../engine/model/json.ts';
import type { ToolCallPart, ToolResultPart } from '../../engine/model/request.ts';
import { hasOwnId } from './call-id.ts';
import { type ContentContext, encodeParts } from './encode-parts.ts';
import { dropMarks } from './losses.ts';
import { wireName } from './tool-name.ts';

/** What answers one call: its response, and the media that have no place in it. */
export interface WireResult {
  readonly response: JsonObject;
  readonly behind: readonly JsonObject[];
}

/**
 * A call's result → its function response. The vendor finds the call by name, and by id where it gave one. A call without a
 * result is answered with an error: it must have as many responses as calls.
 * Source: Gemini API reference, "FunctionResponse".
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
  const inside = context.dialect.resultMedia ? media.filter(fitsInside) : [];
  const behind = media.filter((part) => !inside.includes(part));
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

/** Source: Gemini API documentation, "Function calling", "Multimodal function responses". */
const fitsInside = ({ inlineData }: JsonObject): boolean =>
  isJsonObject(inlineData) &&
  typeof inlineData.mimeType === 'string' &&
  /^(?:image\/(?:png|jpeg|webp)|application\/pdf|text\/plain)$/.test(inlineData.mimeType);
