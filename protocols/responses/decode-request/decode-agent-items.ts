import { openSummary, summaryText } from '../../../engine/model/compaction.ts';
import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { TextPart } from '../../../engine/model/request.ts';
import { memberPath, reader } from '../../../engine/model/schema.ts';
import { addTurn, append, type Conversation, extraFor, standIn } from './conversation.ts';
import { decodeContent } from './decode-content.ts';
import { decodeOpaque } from './decode-opaque.ts';
import { AgentMessageItem, McpCallItem, SealedContent } from './schema-items.ts';
import { ConfigurationItem } from './schema-request.ts';

const messageReader = reader(AgentMessageItem);
const sealedReader = reader(SealedContent);
const mcpCallReader = reader(McpCallItem);
const configurationReader = reader(ConfigurationItem);

/**
 * Decodes a message between agents as the user's. `encrypted_content` is plain text if another vendor's model wrote the message:
 * the agent sends on what it got. Source: Codex 0.171, as recorded.
 */
export const decodeAgentMessage = (state: Conversation, item: JsonObject, at: string): void => {
  if (unreadablePart(item, at) !== undefined) {
    decodeOpaque(state, item, at, 'user');
    return;
  }
  const { author, recipient, content } = messageReader.read(item, at);
  const place = memberPath(at, 'content');
  const parts = decodeContent(typeof content === 'string' ? content : content.map(opened), place);
  const text = `Message from ${author ?? 'an agent'} to ${recipient ?? 'this agent'}:`;
  const head: TextPart = { type: 'text', text, at };
  const extra = extraFor(item, ['author', 'recipient', 'content'], at, "the user's message");
  addTurn(state, { role: 'user', parts: [...standIn([head, ...parts], extra)], at });
};

/** A sealed part as the text that it holds. */
const opened = (part: { readonly type: string }) => {
  if (part.type !== 'encrypted_content' || !sealedReader.matches(part)) return part;
  const { encrypted_content: text, ...more } = part;
  return { ...more, type: 'input_text', text };
};

/** The path of the first part of a message between agents that no other vendor can read; `undefined` if all are readable. */
export const unreadablePart = ({ content }: JsonObject, at: string): string | undefined => {
  if (!Array.isArray(content)) return undefined;
  const index = content.findIndex((part) => !isReadable(part));
  return index < 0 ? undefined : memberPath(memberPath(at, 'content'), index);
};

const isReadable = (part: unknown): boolean => {
  const type = typeof part === 'object' && part !== null && 'type' in part ? part.type : undefined;
  if (type === 'encrypted_content') return sealedReader.matches(part) && !isSealed(part.encrypted_content);
  return typeof type === 'string' && readable.has(type);
};

const readable: ReadonlySet<string> = new Set(['input_text', 'output_text', 'text', 'input_image', 'input_file']);

/** Whether a text is a Fernet token, as the vendor's seals are. */
const isSealed = (text: string): boolean => /^gAAAA\S*$/.test(text);

/** Decodes a call that the vendor made to an MCP server, with its output, as the model's words. */
export const decodeMcpCall = (state: Conversation, item: JsonObject, at: string): void => {
  const { name, server_label: server, arguments: input, output } = mcpCallReader.read(item, at);
  const { error } = item;
  const tool = server ? `${name} of ${server}` : name;
  const failed = typeof error === 'string' ? error : error ? JSON.stringify(error) : undefined;
  const end = failed === undefined ? `returned: ${output ?? ''}` : `failed: ${failed}`;
  const text = `The tool ${tool}, called with ${input || '{}'}, ${end}`;
  const extra = extraFor(item, ['name', 'server_label', 'arguments', 'output', 'error'], at, 'text');
  append(state, 'assistant', at, { type: 'text', text, at, extra });
};

/** Decodes a summary that the gateway has packed as the user's text, also for this format; a vendor's own is opaque. */
export const decodeSummary = (state: Conversation, item: JsonObject, at: string): void => {
  const { encrypted_content: payload } = item;
  const summary = openSummary(payload);
  if (summary === undefined) {
    const signature = typeof payload === 'string' ? { format: 'responses', data: payload } : undefined;
    append(state, 'assistant', at, {
      type: 'opaque',
      wire: 'responses',
      raw: item,
      at,
      ...(signature && { signature }),
    });
  } else addTurn(state, { role: 'user', parts: [{ type: 'text', text: summaryText(summary), at }], at });
};

/** Decodes settings for the rest of the conversation: the last ones are those of this answer. */
export const decodeConfiguration = (state: Conversation, item: JsonObject, at: string): void => {
  const { reasoning, text } = configurationReader.read(item, at);
  const { settings } = state;
  state.settings = {
    reasoning: { ...settings.reasoning, ...reasoning },
    text: { ...settings.text, ...text },
    ...(text?.format
      ? { formatAt: memberPath(at, 'text.format') }
      : settings.formatAt && { formatAt: settings.formatAt }),
  };
};
