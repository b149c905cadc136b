import type { JsonObject } from '../../../engine/model/json/json.ts';
import { readSignature } from '../../../engine/model/reasoning/signature.ts';
import { reader } from '../../../engine/model/schema.ts';
import { unpackCallSignature } from '../call-signature.ts';
import { append, type Conversation } from './conversation.ts';
import { extraOf } from './decode-content.ts';
import { ReasoningItem } from './schema-request.ts';

const reasoningReader = reader(ReasoningItem);

/**
 * Decodes a `reasoning` item: thinking if it has text, even empty; otherwise redacted thinking or a call's signature.
 */
export const decodeReasoning = (state: Conversation, item: JsonObject, at: string): void => {
  const { summary, content, encrypted_content: payload } = reasoningReader.read(item, at);
  const call = payload ? unpackCallSignature(payload) : undefined;
  if (call) {
    state.callSignatures.set(call.callId, call.signature);
    return;
  }
  const texts = [...(summary ?? []), ...(content ?? [])].map(({ text }) => text);
  const signature = payload ? readSignature(payload, 'responses') : undefined;
  const extra = extraOf(item, ['type', 'id', 'status', 'summary', 'content', 'encrypted_content'], at);
  const node = { at, ...(extra && { extra }) };
  if (texts.length > 0) {
    const text = texts.join('\n\n');
    if (text !== '' || signature)
      append(state, 'assistant', at, { type: 'thinking', text, ...(signature && { signature }), ...node });
  } else if (signature) {
    append(state, 'assistant', at, { type: 'redacted-thinking', signature, ...node });
  }
};
