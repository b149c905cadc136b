import { isJsonObject, type Json } from './json/json.ts';
import type { Losses } from './loss.ts';
import type { Extra, OutputFormat, Reasoning, Tool } from './request.ts';
import { isOff } from './request.ts';
import { memberPath } from './schema.ts';

/** Maximum depth at which a loss looks for the lost members, and maximum number of members that it names one by one. */
const maxDepth = 2;
const maxNamed = 8;

/**
 * Records all unknown members of a node and of the object around it, and what the client's own object became; null members are
 * no loss.
 */
export const recordExtraLoss = (extra: Extra | undefined, losses: Losses): void => {
  if (!extra) return;
  if (extra.original?.became !== undefined) losses.approximate(extra.at, extra.original.became);
  for (const [name, value] of Object.entries(extra.fields)) recordMemberLoss(memberPath(extra.at, name), value, losses);
  recordExtraLoss(extra.outer, losses);
};

/** Records a member under the client's path; for a small object, each of its members. An empty list or object asks for nothing. */
export const recordMemberLoss = (path: string, value: Json | undefined, losses: Losses, depth = maxDepth): void => {
  if (value === undefined || value === null || isEmpty(value)) return;
  const inner = isJsonObject(value) && depth > 0 ? Object.entries(value) : [];
  if (inner.length === 0 || inner.length > maxNamed) losses.dropClientPath(path);
  else for (const [name, member] of inner) recordMemberLoss(memberPath(path, name), member, losses, depth - 1);
};

const isEmpty = (value: Json): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** Records that reasoning settings are dropped; the effort separately, since some formats have a field for it alone. */
export const recordReasoningLoss = ({ effort, mode, budget, show }: Reasoning, losses: Losses, note?: string): void => {
  const more = mode !== undefined || budget !== undefined || show !== undefined;
  if (more) losses.drop('reasoning', note);
  if (effort !== undefined) losses.drop(more ? 'reasoning.effort' : 'reasoning', note);
};

/** Records reasoning settings that have no effect because reasoning is off. */
export const recordMootLoss = (reasoning: Reasoning, losses: Losses): void => {
  if (!isOff(reasoning)) return;
  const { effort, show } = reasoning;
  if (effort !== undefined && effort !== 'none') losses.drop('reasoning.effort', 'reasoning is off');
  if (show !== undefined) losses.drop('reasoning.summary', 'reasoning is off');
};

/** Records the fields beside an output schema, for a wire format that takes only the schema. */
export const recordSchemaLoss = (
  { name, description, strict }: Extract<OutputFormat, { type: 'json-schema' }>,
  losses: Losses,
): void => {
  for (const [word, value] of Object.entries({ description, name, strict })) {
    if (value !== undefined) losses.drop(`response_format.${word}`);
  }
};

/** Records a tool that is not sent, and what its group says of it. */
export const recordDropped = (tool: Tool, why: string, losses: Losses): void => {
  losses.drop(tool.at ?? 'tools', why);
  if ('namespace' in tool && tool.namespace?.description !== undefined && tool.at !== undefined) {
    losses.drop(memberPath(tool.at.replace(/\.tools\[\d+\]$/, ''), 'description'), why);
  }
  recordExtraLoss(tool.extra?.outer, losses);
};

/**
 * Records the reasoning that a vendor left out of a history, as its answer's `input_transformations` say. Unknown kinds count;
 * reasoning that was read although it doesn't fit isn't lost. Source: Anthropic documentation, "Preserved thinking"; OpenAI API
 * reference, "The response object".
 */
export const recordTransformations = (transformations: unknown, losses: Losses): void => {
  for (const one of Array.isArray(transformations) ? transformations : []) {
    if (!isJsonObject(one) || one.type === 'thinking_mismatch_allowed') continue;
    const { reason } = one;
    const isWord = typeof reason === 'string' && /^[a-z_]{1,64}$/.test(reason);
    losses.drop('reply.input_transformations', `the provider left out reasoning${isWord ? `: ${reason}` : ''}`);
  }
};
