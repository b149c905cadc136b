import { isJsonObject, type JsonDraft, type JsonObject, parseJson } from '../../engine/model/json.ts';
import type { ReplyContext } from '../../engine/model/protocol.ts';
import type { Reply, ReplyBlock } from '../../engine/model/reply.ts';
import { inputObject } from '../../engine/model/tool-input.ts';
import { encodeCitation } from './citations.ts';
import { encodeEnd } from './encode-end.ts';
import { noteCallSignature, wireCallId, wireMessageId, wireSignature } from './write-block.ts';

/** A whole answer → the body of a reply. Source: Anthropic API reference, "Create a Message", "Returns". */
export const encodeReply = (reply: Reply, context: ReplyContext): JsonObject => {
  const content: JsonObject[] = [];
  for (const block of reply.blocks) {
    const written = encodeBlock(block, content.length, context);
    if (written) content.push(written);
  }
  const refused = reply.blocks.some(({ type }) => type === 'refusal');
  const { delta, beside, usage } = encodeEnd(reply, reply.usage, refused, context);
  return {
    id: wireMessageId(reply.id, context),
    type: 'message',
    role: 'assistant',
    model: reply.model || context.model,
    content,
    ...delta,
    ...beside,
    usage,
  };
};

/** `undefined` for a block that holds nothing, or that only another wire format knows. */
const encodeBlock = (block: ReplyBlock, index: number, context: ReplyContext): JsonObject | undefined => {
  const at = `content[${index}]`;
  switch (block.type) {
    case 'text':
      return encodeText(block, at, context);
    case 'refusal':
      return block.text === '' ? undefined : { type: 'text', text: block.text };
    case 'thinking':
      if (block.text === '' && !block.signature) return undefined;
      return { type: 'thinking', thinking: block.text, signature: wireSignature(block.signature) };
    case 'redacted-thinking':
      return { type: 'redacted_thinking', data: wireSignature(block.signature) };
    case 'tool-call': {
      const input = inputObject(block.json);
      if (!input) context.losses.approximate(`${at}.input`, 'not a JSON object: given as {}');
      noteCallSignature(block.signature, index, context.losses);
      return { type: 'tool_use', id: wireCallId(block.id, index, context), name: block.name, input: input ?? {} };
    }
    case 'opaque':
      if (block.block.wire === 'messages') return foldOpaque(block, at, context);
      context.losses.drop(at, 'a block of another wire format');
      return undefined;
    default:
      return block satisfies never;
  }
};

const encodeText = (
  { text, citations }: Extract<ReplyBlock, { type: 'text' }>,
  at: string,
  { losses }: ReplyContext,
): JsonObject | undefined => {
  if (text === '') {
    if (citations.length > 0) losses.drop(`${at}.citations`, 'of an empty text');
    return undefined;
  }
  const cited = citations
    .map((citation) => encodeCitation(citation, at, losses))
    .filter((value) => value !== undefined);
  return cited.length > 0 ? { type: 'text', text, citations: cited } : { type: 'text', text };
};

/** A block of this wire's own with its deltas put in: a hosted tool's input, a compaction's content. */
const foldOpaque = (
  { block, deltas, json }: Extract<ReplyBlock, { type: 'opaque' }>,
  at: string,
  { losses }: ReplyContext,
): JsonObject => {
  const whole: JsonDraft = { ...block.raw };
  const input: string[] = [json];
  for (const delta of deltas) {
    if (delta.type === 'input_json_delta' && typeof delta.partial_json === 'string') input.push(delta.partial_json);
    else if (delta.type === 'compaction_delta') whole.content = delta.content;
    else losses.drop(`${at}.${delta.type}`);
  }
  const written = input.join('');
  if (written === '') return whole;
  const parsed = parseJson(written);
  if (isJsonObject(parsed)) whole.input = parsed;
  else losses.approximate(`${at}.input`, 'not a JSON object: left as the block began');
  return whole;
};
