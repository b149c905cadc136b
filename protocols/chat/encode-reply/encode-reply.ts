import type { ReplyContext } from '../../../engine/model/context.ts';
import { replyTier } from '../../../engine/model/event.ts';
import type { JsonDraft, JsonObject } from '../../../engine/model/json/json.ts';
import type { Reply, ReplyBlock } from '../../../engine/model/reply.ts';
import { encodeCitation } from '../citations.ts';
import { readsFunctionCalls } from '../decode-request/decode-request.ts';
import { membersOfSignature, redactedEntry, thinkingEntry } from '../reasoning-details.ts';
import { encodeFinish, encodeUsage, finishIsLost } from '../reply-end.ts';

/** A whole reply → `chat.completion`. Source: OpenAI API reference, "The chat completion object". */
export const encodeReply = (reply: Reply, context: ReplyContext): JsonObject => {
  const { id, created, model } = replyHead(reply.id, reply.model, context);
  const refused = reply.blocks.some((block) => block.type === 'refusal');
  if (finishIsLost(reply.finish)) context.losses.approximate('reply.finish_reason', `stop for ${reply.finish}`);
  for (const name of Object.keys(reply.extra?.fields ?? {})) context.losses.drop(`reply.${name}`);
  const usage = encodeUsage(reply.usage);
  const serviceTier = replyTier('chat', reply.usage.serviceTier);
  return {
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message: encodeMessage(reply.blocks, context),
        logprobs: null,
        finish_reason: encodeFinish(reply.finish, refused, readsFunctionCalls(context.clientBody)),
      },
    ],
    ...(usage && { usage }),
    ...(serviceTier !== undefined && { service_tier: serviceTier }),
  };
};

/** Collects the message's members. */
interface Gathered {
  readonly text: string[];
  textLength: number;
  readonly refusal: string[];
  readonly reasoning: string[];
  readonly details: JsonObject[];
  readonly calls: JsonObject[];
  readonly annotations: JsonObject[];
}

const encodeMessage = (blocks: readonly ReplyBlock[], context: ReplyContext): JsonObject => {
  const gathered: Gathered = {
    text: [],
    textLength: 0,
    refusal: [],
    reasoning: [],
    details: [],
    calls: [],
    annotations: [],
  };
  for (const block of blocks) gather(gathered, block, context);
  const { text, refusal, reasoning, details, calls, annotations } = gathered;
  const message: JsonDraft = {
    role: 'assistant',
    content: text.length > 0 || (refusal.length === 0 && calls.length === 0) ? text.join('') : null,
    refusal: refusal.length > 0 ? refusal.join('') : null,
  };
  if (reasoning.length > 0) message.reasoning_content = reasoning.join('');
  if (details.length > 0) message.reasoning_details = details;
  if (readsFunctionCalls(context.clientBody)) {
    if (calls[0]) message.function_call = calls[0].function;
    if (calls.length > 1) context.losses.drop('reply.tool_calls', 'all but the first');
  } else if (calls.length > 0) message.tool_calls = calls;
  if (annotations.length > 0) message.annotations = annotations;
  return message;
};

const gather = (gathered: Gathered, block: ReplyBlock, context: ReplyContext): void => {
  const { text, refusal, reasoning, details, calls, annotations } = gathered;
  switch (block.type) {
    case 'text': {
      const start = gathered.textLength;
      gathered.textLength += block.text.length;
      text.push(block.text);
      for (const citation of block.citations) {
        const annotation = encodeCitation(citation, start, gathered.textLength);
        if (annotation) annotations.push(annotation);
        else context.losses.drop('reply.citations');
      }
      return;
    }
    case 'refusal':
      refusal.push(block.text);
      return;
    case 'thinking': {
      if (block.text !== '') reasoning.push(block.text);
      const entry = block.signature && thinkingEntry(block.signature, block.text, block.text, details.length);
      if (entry) details.push(entry);
      return;
    }
    case 'redacted-thinking':
      details.push(redactedEntry(block.signature, details.length));
      return;
    case 'tool-call': {
      const { id, name, json, signature } = block;
      const members = membersOfSignature(signature);
      if (signature && signature.data !== '' && !members) details.push(redactedEntry(signature, details.length, id));
      calls.push({ id, type: 'function', function: { name, arguments: json === '' ? '{}' : json }, ...members });
      return;
    }
    case 'opaque':
      context.losses.drop(`reply.${typeof block.block.raw.type === 'string' ? block.block.raw.type : 'block'}`);
      return;
    default:
      block satisfies never;
  }
};

/** The members that all records of a reply share. */
interface ReplyHead {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
}

/** Uses the upstream's id if it has this format's prefix, otherwise one made from the request id. */
export const replyHead = (id: string, model: string, context: ReplyContext): ReplyHead => ({
  id: /^chatcmpl-./.test(id) ? id : `chatcmpl-${context.id}`,
  created: Math.floor(context.startedAtMs / 1000),
  model: model === '' ? context.model : model,
});
