import type { JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { recordExtraLoss } from '../../../engine/model/record-losses.ts';
import type { Part, ToolCallPart, ToolResultPart, Turn } from '../../../engine/model/request.ts';
import { memberPath } from '../../../engine/model/schema.ts';
import { continuation } from '../../../engine/model/wire/continuation.ts';
import { type ContentContext, encodeParts } from './encode-content.ts';
import { encodeModelParts } from './encode-model-parts.ts';
import { encodeResult, findResults, type Results, type WireResult } from './encode-tool-result.ts';

/** The content of one role. */
interface Content extends JsonObject {
  readonly role: 'user' | 'model';
  readonly parts: readonly JsonObject[];
}

/**
 * Turns → `contents`: roles alternate, each turn's calls are answered in order at the start of the next, and no
 * content is empty. Source: Gemini API documentation, "Function calling".
 */
export const encodeContents = (given: readonly Turn[], context: ContentContext): readonly JsonObject[] => {
  const turns = mergeTurns(given, context.losses);
  const results = findResults(turns, context.losses);
  const contents: Content[] = [];
  let calls: readonly ToolCallPart[] = [];
  for (const [index, turn] of turns.entries()) {
    const at = turn.at ?? 'messages';
    if (turn.role === 'assistant') {
      append(contents, 'model', encodeModelParts(turn.parts, at, context));
      calls = turn.parts.filter((part) => part.type === 'tool-call');
      if (index === turns.length - 1) append(contents, 'user', answer(calls, results, context));
    } else {
      const own = turn.parts.flatMap((part) => withoutResult(part, results, context));
      append(contents, 'user', [...answer(calls, results, context), ...encodeParts(own, at, context)]);
      calls = [];
    }
  }
  return fixStart(fixEnd(contents, turns.at(-1), context), context.losses);
};

/** Merges consecutive turns of one role. Mid-conversation instructions become user content. */
const mergeTurns = (turns: readonly Turn[], losses: Losses): readonly Turn[] => {
  const merged: (Turn & { parts: Part[] })[] = [];
  for (const turn of turns) {
    const at = turn.at ?? 'messages';
    if (turn.role === 'system') losses.approximate(at, "the user's text");
    if (turn.name !== undefined) losses.drop(memberPath(at, 'name'));
    recordExtraLoss(turn.extra, losses);
    const role = turn.role === 'assistant' ? 'assistant' : 'user';
    const last = merged.at(-1);
    if (last?.role === role) for (const part of turn.parts) last.parts.push(part);
    else merged.push({ role, at: turn.at, parts: [...turn.parts] });
  }
  return merged;
};

const isResult = (part: Part): part is ToolResultPart => part.type === 'tool-result';

const answer = (calls: readonly ToolCallPart[], results: Results, context: ContentContext): readonly JsonObject[] => {
  const answers: readonly WireResult[] = calls.map((call) => encodeResult(call, results.byCall.get(call), context));
  return [...answers.map(({ response }) => response), ...answers.flatMap(({ behind }) => behind)];
};

/** A result without a call would be rejected; its content becomes plain content. */
const withoutResult = (part: Part, { taken }: Results, { losses }: ContentContext): readonly Part[] => {
  if (!isResult(part)) return [part];
  if (taken.has(part)) return [];
  losses.approximate(part.at ?? 'messages', 'as plain content: no call has its id');
  return [{ type: 'text', text: 'Result of a tool call:', at: part.at }, ...part.content];
};

const append = (contents: Content[], role: Content['role'], parts: readonly JsonObject[]): void => {
  if (parts.length === 0) return;
  const last = contents.at(-1);
  if (last?.role === role) contents[contents.length - 1] = { role, parts: [...last.parts, ...parts] };
  else contents.push({ role, parts });
};

/** Newer models don't continue an answer that has begun. */
const fixEnd = (
  contents: readonly Content[],
  last: Turn | undefined,
  { dialect, losses }: ContentContext,
): readonly Content[] => {
  if (dialect.prefill || contents.at(-1)?.role !== 'model') return contents;
  losses.approximate(last?.at ?? 'messages', 'the model starts a new answer instead of continuing this text');
  return [...contents, { role: 'user', parts: [{ text: continuation }] }];
};

/** The conversation must not be empty or start with a call. */
const fixStart = (contents: readonly Content[], losses: Losses): readonly Content[] => {
  const [first] = contents;
  const begins = first?.role === 'model' && first.parts.some((part) => part.functionCall !== undefined);
  if (first && !begins) return contents;
  losses.approximate('messages', 'starts with a user message of one full stop');
  return [{ role: 'user', parts: [{ text: '.' }] }, ...contents];
};
