import type { ReplyContext } from '../../../engine/model/context.ts';
import {
  isJsonObject,
  type Json,
  type JsonDraft,
  type JsonObject,
  parseJson,
} from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { packSignature, type Signature, writeSignature } from '../../../engine/model/reasoning/signature.ts';
import type { Reply, ReplyBlock } from '../../../engine/model/reply.ts';
import { inputObject } from '../../../engine/model/request.ts';
import { encodeCitation } from '../citations.ts';
import { encodeEnd, wireMessageId } from '../reply-end.ts';

/** Encodes a whole reply. Source: Anthropic API reference, "Create a Message", "Returns". */
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

/** `undefined` for an empty block and for one of another format. */
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
      if (!input) context.losses.approximate(`${at}.input`, 'not a JSON object: returned as {}');
      recordSignatureLoss(block.signature, index, context.losses);
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

/** An opaque block with its deltas applied: a hosted tool's input, a compaction's content. */
const foldOpaque = (
  { block, deltas, json }: Extract<ReplyBlock, { type: 'opaque' }>,
  at: string,
  { losses }: ReplyContext,
): JsonObject => {
  const whole: JsonDraft = { ...block.raw };
  const input: string[] = [json];
  for (const delta of deltas) {
    if (delta.type === 'input_json_delta' && typeof delta.partial_json === 'string') input.push(delta.partial_json);
    else if (delta.type === 'compaction_delta') {
      whole.content = delta.content;
      if (delta.encrypted_content !== undefined) whole.encrypted_content = delta.encrypted_content;
    } else losses.drop(`${at}.${delta.type}`);
  }
  const written = input.join('');
  if (written === '') return whole;
  const parsed = parseJson(written);
  if (isJsonObject(parsed)) whole.input = parsed;
  else losses.approximate(`${at}.input`, 'not a JSON object: left as the block began');
  return whole;
};

/** A thinking block's `signature`. Never empty, since some clients replay only blocks that have one. */
export const wireSignature = (signature: Signature | undefined): string =>
  signature ? writeSignature(signature, 'messages') : packSignature({ format: 'none', data: '' });

/** A tool call's id; derived from the request id if the upstream sent none. */
export const wireCallId = (id: string, index: number, context: ReplyContext): string =>
  id === '' ? `toolu_${context.id}_${index}` : id;

/** Records the loss of a call's signature: `tool_use` has no member for it. */
export const recordSignatureLoss = (signature: Signature | undefined, index: number, losses: Losses): void => {
  if (signature) losses.drop(`content[${index}].signature`);
};

/** The input that an opaque block's start holds complete, as in replies that aren't streamed. */
export const wholeInput = (raw: JsonObject): JsonObject | undefined => {
  const input: Json | undefined = raw.input;
  return isJsonObject(input) && Object.keys(input).length > 0 ? input : undefined;
};
