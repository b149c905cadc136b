import type { ReplyContext } from '../../../engine/model/context.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { Reply, ReplyBlock } from '../../../engine/model/reply.ts';
import { packCallSignature } from '../call-signature.ts';
import { encodeCitation, isPlaced } from '../citations.ts';
import { encodeFinish } from '../reply-end.ts';
import { calledTool } from '../tool-names.ts';
import { compactedObject } from './compacted-object.ts';
import { CustomInput } from './custom-input.ts';
import {
  callIdOf,
  callItem,
  callPrefix,
  encodeSignature,
  type ItemStatus,
  itemId,
  messageItem,
  reasoningItem,
  refusalPart,
  textPart,
} from './output-item.ts';
import { responseObject } from './response-object.ts';
import { wholeItem } from './write-hosted-tools.ts';

/** Encodes a whole reply as the final response object of a stream. */
export const encodeReply = (reply: Reply, context: ReplyContext): JsonObject => {
  const refused = reply.blocks.some(({ type }) => type === 'refusal');
  const outcome = encodeFinish(reply.finish, refused, reply.usage);
  if (reply.finish === 'pause' || reply.finish === 'compaction') {
    context.losses.approximate('status', `completed for ${reply.finish}`);
  }
  const output = encodeBlocks(reply.blocks, context, outcome.status === 'incomplete' ? 'incomplete' : 'completed');
  if (context.request.compaction?.byPath) return compactedObject(reply, output, context);
  return responseObject(context, reply, outcome, output);
};

/** Consecutive texts and refusals share one message. Only the last item can be incomplete. */
const encodeBlocks = (blocks: readonly ReplyBlock[], context: ReplyContext, last: ItemStatus): JsonObject[] => {
  const items: JsonObject[] = [];
  let message: JsonObject[] | undefined;
  const lastOther = blocks.findLastIndex((block) => !isText(block));
  blocks.forEach((block, index) => {
    if (block.type !== 'text' && block.type !== 'refusal') {
      message = undefined;
      const status = index === blocks.length - 1 ? last : 'completed';
      for (const item of encodeBlock(block, context, items.length, status)) items.push(item);
      return;
    }
    const part = encodePart(block, context);
    if (part === undefined) return;
    if (message === undefined) {
      message = [];
      const status = index > lastOther ? last : 'completed';
      items.push(messageItem(itemId('msg', context.id, items.length), status, message));
    }
    message.push(part);
  });
  return items;
};

const isText = ({ type }: ReplyBlock): boolean => type === 'text' || type === 'refusal';

const encodePart = (block: Extract<ReplyBlock, { type: 'text' | 'refusal' }>, context: ReplyContext) => {
  if (block.type === 'refusal') return block.text === '' ? undefined : refusalPart(block.text);
  if (block.text === '' && block.citations.length === 0) return undefined;
  const { citations, text } = block;
  const inOrder = [...citations.filter(isPlaced), ...citations.filter((citation) => !isPlaced(citation))];
  const annotations = inOrder
    .map((citation) => encodeCitation(citation, text.length))
    .filter((annotation) => annotation !== undefined);
  if (annotations.length < citations.length) {
    context.losses.drop('output.content.annotations', 'a citation specific to another protocol');
  }
  return textPart(text, annotations);
};

const encodeBlock = (
  block: Exclude<ReplyBlock, { type: 'text' | 'refusal' }>,
  context: ReplyContext,
  index: number,
  status: ItemStatus,
): readonly JsonObject[] => {
  switch (block.type) {
    case 'thinking': {
      const { text, signature } = block;
      if (text === '' && signature === undefined) return [];
      return [reasoningItem(itemId('rs', context.id, index), [text], signature && encodeSignature(signature))];
    }
    case 'redacted-thinking':
      return [reasoningItem(itemId('rs', context.id, index), [], encodeSignature(block.signature))];
    case 'tool-call':
      return encodeCall(block, context, index, status);
    case 'opaque': {
      const { wire, raw } = block.block;
      if (wire === 'responses') return [block.deltas.map(wholeItem).findLast((item) => item !== undefined) ?? raw];
      context.losses.drop(`output.${raw.type ?? wire}`, 'a block specific to another protocol');
      return [];
    }
    default:
      return block satisfies never;
  }
};

const encodeCall = (
  { id, name, json, signature }: Extract<ReplyBlock, { type: 'tool-call' }>,
  context: ReplyContext,
  index: number,
  status: ItemStatus,
): readonly JsonObject[] => {
  const callId = callIdOf(id, context.id, index);
  const tool = calledTool(context.request, name);
  const signatureItem = signature
    ? [reasoningItem(itemId('rs', context.id, index), [], packCallSignature({ callId, signature }))]
    : [];
  const input = tool.kind === 'custom' ? unwrapped(json) : json || '{}';
  return [
    ...signatureItem,
    callItem(itemId(callPrefix(tool), context.id, index + signatureItem.length), status, callId, tool, input),
  ];
};

const unwrapped = (json: string): string => {
  const input = new CustomInput();
  return input.push(json) + input.end();
};
