import type { JsonDraft, JsonObject } from '../../engine/model/json.ts';
import type { Part, ToolCallPart } from '../../engine/model/request.ts';
import type { Signature } from '../../engine/model/signature.ts';
import { inputObject } from '../../engine/model/tool-input.ts';
import { hasOwnId, wireFormat } from './call-id.ts';
import { type ContentContext, encodeParts } from './encode-parts.ts';
import { dropMarks } from './losses.ts';
import { wireName } from './tool-name.ts';

/** Stands for the signature of a call that another model made. Source: Gemini API documentation, "Thought signatures". */
const standIn = 'skip_thought_signature_validator';

/**
 * The model's own turn → its parts, with this vendor's signatures on the parts that had them. Only the calls since the user's
 * last words must have one, but what was written once must stay as it was: a prompt that changes is no longer cached.
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
        // Some clients move all reasoning to the front of the turn.
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

/** What this vendor signed; empty when it was another or nobody. */
const ownPayload = (signature: Signature | undefined): string =>
  signature?.format === wireFormat ? signature.data : '';

/** `leads`: the call is the one of its group that must be signed. */
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
  losses.approximate(`${at}.thought_signature`, 'a stand-in: the call has none of this vendor');
  return { functionCall: call, thoughtSignature: standIn };
};
