import { isJsonObject, type Json, type JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { ReplyContext } from '../../engine/model/protocol.ts';
import { packSignature, type Signature, writeSignature } from '../../engine/model/signature.ts';

/** A thinking block's `signature`: never empty, so that clients which demand one can replay the block. */
export const wireSignature = (signature: Signature | undefined): string =>
  signature ? writeSignature(signature, 'messages') : packSignature({ format: 'none', data: '' });

/** A tool call's id as the client gets it; made from the request's when the upstream gave none. */
export const wireCallId = (id: string, index: number, context: ReplyContext): string =>
  id === '' ? `toolu_${context.id}_${index}` : id;

/** The answer's id: the upstream's own where it looks like one of this wire's. */
export const wireMessageId = (id: string, context: ReplyContext): string =>
  id.startsWith('msg_') ? id : `msg_${context.id}`;

/** The payload of a tool call has no place in `tool_use`. */
export const noteCallSignature = (signature: Signature | undefined, index: number, losses: Losses): void => {
  if (signature) losses.drop(`content[${index}].signature`);
};

/** The input that an opaque block's start holds whole, as a hosted tool's call of an unstreamed answer does. */
export const wholeInput = (raw: JsonObject): JsonObject | undefined => {
  const input: Json | undefined = raw.input;
  return isJsonObject(input) && Object.keys(input).length > 0 ? input : undefined;
};
