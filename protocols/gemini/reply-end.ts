import type { FinishReason, Usage } from '../../engine/model/event.ts';
import type { GroundingMetadata, UsageMetadata } from './schema-reply.ts';

/** Finish reasons of replies that ended normally or were cut off. Source: Gemini API reference, "FinishReason". */
const reasons: Readonly<Record<string, FinishReason>> = {
  STOP: 'end',
  MAX_TOKENS: 'length',
  CONTINUATION: 'length',
  SAFETY: 'filtered',
  RECITATION: 'filtered',
  BLOCKLIST: 'filtered',
  PROHIBITED_CONTENT: 'filtered',
  SPII: 'filtered',
  IMAGE_SAFETY: 'filtered',
  IMAGE_PROHIBITED_CONTENT: 'filtered',
  IMAGE_RECITATION: 'filtered',
  MODEL_ARMOR: 'filtered',
};

/**
 * Finish reason → finish; `undefined` for failures, such as an unusable function call. Unknown values count as
 * failures: all values added so far are.
 */
export const decodeFinish = (word: string): FinishReason | undefined =>
  Object.hasOwn(reasons, word) ? reasons[word] : undefined;

/** Token counts → usage. Source: Gemini API reference, "UsageMetadata". */
export const decodeUsage = (wire: UsageMetadata, grounding?: GroundingMetadata): Usage => {
  const { candidatesTokenCount, thoughtsTokenCount } = wire;
  const searches = grounding?.webSearchQueries?.filter((query) => query !== '').length;
  return {
    ...decodePromptUsage(wire),
    output: sum(candidatesTokenCount, thoughtsTokenCount),
    reasoning: thoughtsTokenCount ?? undefined,
    webSearches: searches === 0 ? undefined : searches,
    serviceTier: wire.serviceTier ?? undefined,
  };
};

/** Usage of the prompt only, as in a stream's first chunk. */
export const decodePromptUsage = (wire: UsageMetadata): Usage => {
  const prompt = sum(wire.promptTokenCount, wire.toolUsePromptTokenCount);
  const cached = wire.cachedContentTokenCount ?? undefined;
  return { input: prompt === undefined ? undefined : Math.max(prompt - (cached ?? 0), 0), cacheRead: cached };
};

const sum = (one: number | null | undefined, other: number | null | undefined): number | undefined =>
  one === null || one === undefined ? (other ?? undefined) : one + (other ?? 0);
