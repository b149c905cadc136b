import type { Usage } from '../../engine/model/event.ts';
import type { GroundingMetadata, UsageMetadata } from './schema-reply.ts';

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
