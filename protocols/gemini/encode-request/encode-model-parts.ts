import type { JsonDraft, JsonObject } from '../../../engine/model/json/json.ts';
import type { Signature } from '../../../engine/model/reasoning/signature.ts';
import { inputObject, type Part, type ToolCallPart } from '../../../engine/model/request.ts';
import { hasOwnId, wireFormat, wireName } from '../tool-names.ts';
import { type ContentContext, dropMarks, encodeParts } from './encode-content.ts';

/** Replaces the signature of a call by another model. Source: Gemini API documentation, "Thought signatures". */
const placeholderSignature = 'skip_thought_signature_validator';

/**
 * A model turn → parts, each with its signature of this vendor. Only calls since the last user message must have one,
 * but older ones keep theirs: a changed prompt misses the cache.
 */
export const encodeModelParts = (turn: readonly Part[], at: string, context: ContentContext): readonly JsonObject[] => {
  const parts = turn.filter((part) => part.type !== 'text' || part.text !== '');
  const wire: JsonDraft[] = [];
  let textSignature = '';
  let calls = 0;
  for (const [index, part] of parts.entries()) {
    const place = part.at ?? at;
    switch (part.type) {
      case 'thinking': {
        dropMarks(part, place, context.losses);
        const data = ownPayload(part.signature);
        if (data === '') context.losses.drop(place, 'reasoning without a signature of this vendor');
        else wire.push({ text: part.text, thought: true, thoughtSignature: data });
        break;
      }
      case 'redacted-thinking': {
        dropMarks(part, place, context.losses);
        const data = ownPayload(part.signature);
        const before = parts[index - 1]?.type === 'text' ? wire.at(-1) : undefined;
        if (data === '') context.losses.drop(place, 'reasoning of another vendor');
        else if (before && before.thoughtSignature === undefined) before.thoughtSignature = data;
        // Some clients move all reasoning to the start of the turn.
        else if (parts[index + 1]?.type === 'text') textSignature = data;
        else wire.push({ text: '', thoughtSignature: data });
        break;
      }
      case 'tool-call':
        wire.push(encodeCall(part, place, calls === 0, context));
        calls += 1;
        break;
      default:
        for (const one of encodeParts([part], place, context)) {
          wire.push(textSignature === '' ? { ...one } : { ...one, thoughtSignature: textSignature });
          textSignature = '';
        }
    }
  }
  return wire;
};

/** The data of this vendor's signature; empty for any other and for none. */
const ownPayload = (signature: Signature | undefined): string =>
  signature?.format === wireFormat ? signature.data : '';

/** Encodes a call. `leads`: it is the call of its group that must be signed. */
const encodeCall = (part: ToolCallPart, at: string, leads: boolean, context: ContentContext): JsonDraft => {
  const { losses, names, dialect } = context;
  dropMarks(part, at, losses);
  const input = inputObject(part.input);
  if (!input) losses.approximate(`${at}.input`, 'not a JSON object: sent as {}');
  const call: JsonObject = {
    name: wireName(names, part.name),
    args: input ?? {},
    ...(hasOwnId(part) && { id: part.id }),
  };
  const own = ownPayload(part.signature);
  if (own !== '') return { functionCall: call, thoughtSignature: own };
  if (part.signature && part.signature.data !== '') losses.drop(`${at}.signature`, 'of another vendor');
  if (!leads || !dialect.signedCalls) return { functionCall: call };
  losses.approximate(`${at}.thought_signature`, 'a placeholder: the call has none of this vendor');
  return { functionCall: call, thoughtSignature: placeholderSignature };
};
