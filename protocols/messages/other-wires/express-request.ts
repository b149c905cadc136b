import { unsupported } from '../../../engine/model/fault.ts';
import { isJsonObject, type Json, type JsonDraft, type JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import {
  askedEffort,
  type Extra,
  type ModelRequest,
  type OpaquePart,
  type Part,
  type Tool,
  type Turn,
} from '../../../engine/model/request.ts';
import { reader } from '../../../engine/model/schema.ts';
import { userIn } from '../decode-request/decode-request.ts';
import { ToolReferenceBlock } from '../schema-request.ts';
import { blockUse } from './block-uses.ts';
import { fromSummary } from './compaction.ts';
import { declaredTools } from './declared-tools.ts';

/**
 * Expresses a request of this format in terms that others have too: tool references as text, tool changes as tools, a summary as
 * text, the effort of a message as the request's. Throws an `unsupported` fault for blocks and tools that the answer depends on and
 * that no other format can express. `keepsHosted`: blocks of the vendor's own tools stay, for stages that read them.
 */
export const expressRequest = (request: ModelRequest, losses: Losses, keepsHosted = false): ModelRequest => {
  const { tools, turns, reasoning, user, extra } = request;
  const isOwn = turns.some(saysMore);
  const effort = isOwn ? askedEffort(request) : reasoning?.effort;
  return {
    ...request,
    tools: isOwn || tools.some(isOwnTool) ? declaredTools(request, losses) : tools,
    turns: isOwn ? expressTurns(turns, { losses, keepsHosted }) : turns,
    ...(effort !== reasoning?.effort && { reasoning: { wire: 'messages', ...reasoning, effort } }),
    ...(user !== undefined && { user: userIn(user) }),
    ...(extra && { extra: { ...extra, fields: withoutMoot(extra.fields) } }),
  };
};

/** Whether a turn may have something that only this format has. */
const saysMore = ({ parts, extra }: Turn): boolean => extra !== undefined || parts.some(isOrContainsOpaque);

/** Whether a tool may have something that only this format has, such as its deferral. */
const isOwnTool = ({ type, extra }: Tool): boolean => type === 'hosted' || extra !== undefined;

/** The receiver of losses, and whether blocks of the vendor's own tools stay. */
interface Expressing {
  readonly losses: Losses;
  readonly keepsHosted: boolean;
}

const expressTurns = (turns: readonly Turn[], expressing: Expressing): readonly Turn[] => {
  const kept = fromSummary(turns, expressing.losses);
  const lastUser = kept.findLastIndex(({ role }) => role === 'user');
  return kept.flatMap((turn, index) => {
    const { extra } = turn;
    if (index < lastUser && extra?.fields.clear_at === untilNextUser) return [];
    const parts = expressParts(turn.parts, turn.role, expressing);
    if (parts.length === 0 && turn.parts.length > 0) return [];
    if (parts === turn.parts && !extra) return [turn];
    return [{ ...turn, parts, ...(extra && { extra: { ...extra, fields: withoutUnderstood(turn, extra) } }) }];
  });
};

/** A message with this mark ends where the user speaks again. */
const untilNextUser = 'next_user_message';

/** The members of a message that have no counterpart and aren't followed here. */
const withoutUnderstood = ({ effort }: Turn, { fields }: Extra): JsonObject => {
  const { clear_at: cleared, output_config: config, ...others } = fields;
  const kept: JsonDraft = { ...others };
  if (cleared !== undefined && cleared !== untilNextUser && cleared !== 'never') kept.clear_at = cleared;
  if (config !== undefined) kept.output_config = effort ? without(config, 'effort') : config;
  return kept;
};

/** The members of the request that ask for something. */
const withoutMoot = ({ diagnostics: _, context_management: context, ...fields }: JsonObject): JsonObject => {
  const kept: JsonDraft = { ...fields };
  if (context !== undefined && !clearsThinkingOnly(context)) kept.context_management = context;
  // The binding of thinking matters only if it goes back to the vendor.
  if (kept.thinking !== undefined) kept.thinking = without(kept.thinking, 'block_binding');
  return kept;
};

/** Other vendors get no thinking of this one's anyway. */
const clearsThinkingOnly = (context: Json): boolean => {
  const edits = isJsonObject(context) ? context.edits : undefined;
  return Array.isArray(edits) && edits.every((edit) => isJsonObject(edit) && edit.type === 'clear_thinking_20251015');
};

const without = (value: Json, name: string): Json => {
  if (!isJsonObject(value)) return value;
  const { [name]: _, ...others } = value;
  return others;
};

/** The parts with those of this format alone expressed by others; the same list if there are none. */
const expressParts = (parts: readonly Part[], role: Turn['role'], expressing: Expressing): readonly Part[] => {
  if (!parts.some(isOrContainsOpaque)) return parts;
  const references = parts.filter(isReference);
  return parts.flatMap((part) => {
    if (isReference(part)) return part === references[0] ? [foundTools(references, expressing.losses)] : [];
    return expressPart(part, role, expressing);
  });
};

const isOpaque = (part: Part): part is OpaquePart => part.type === 'opaque' && part.wire === 'messages';

const isReference = (part: Part): part is OpaquePart => isOpaque(part) && part.raw.type === 'tool_reference';

const isOrContainsOpaque = (part: Part): boolean => {
  if (part.type === 'tool-result') return part.content.some(isOrContainsOpaque);
  if (part.type === 'document') return part.source.kind === 'content' && part.source.parts.some(isOrContainsOpaque);
  return isOpaque(part);
};

const expressPart = (part: Part, role: Turn['role'], expressing: Expressing): readonly Part[] => {
  if (part.type === 'tool-result') return [withResult(part, expressing)];
  if (part.type === 'document' && part.source.kind === 'content') {
    return [{ ...part, source: { kind: 'content', parts: expressParts(part.source.parts, 'user', expressing) } }];
  }
  return isOpaque(part) ? expressOpaque(part, role, expressing) : [part];
};

/** Some vendors reject a result without a text. */
const withResult = (part: Extract<Part, { type: 'tool-result' }>, expressing: Expressing): Part => {
  const content = expressParts(part.content, 'user', expressing);
  if (content.length > 0 || part.content.length === 0) return { ...part, content };
  return { ...part, content: [{ type: 'text', text: '(no output)', at: part.at }] };
};

const expressOpaque = (part: OpaquePart, role: Turn['role'], { losses, keepsHosted }: Expressing): readonly Part[] => {
  const { raw, at = 'messages' } = part;
  const use = blockUse(raw, role);
  switch (use) {
    case 'tool-change':
      losses.approximate(at, 'the declared tools');
      return [];
    case 'tool-reference':
      return [foundTools([part], losses)];
    case 'compaction':
      // Without a text: there was nothing to summarize.
      return [];
    case 'dropped':
      if (keepsHosted) return [part];
      losses.drop(at, String(raw.type));
      return [];
    case 'refused':
      return unsupported(at, `${at}: this provider has no content of the type ${String(raw.type)}.`);
    default:
      return use satisfies never;
  }
};

const reference = reader(ToolReferenceBlock);

/** One line that names the tools that a search found. */
const foundTools = (references: readonly OpaquePart[], losses: Losses): Part => {
  const names = references.map(({ raw, at = 'messages' }) => {
    losses.approximate(at, 'text');
    return reference.read(raw, at).tool_name;
  });
  return { type: 'text', text: `Found, and now available: ${names.join(', ')}`, at: references[0]?.at };
};
