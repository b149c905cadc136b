import type { JsonObject } from '../../engine/model/json.ts';
import { promptTokens, type Usage } from '../../engine/model/usage.ts';

/**
 * Usage → token counts; `undefined` when nothing is known. The wire's prompt count includes cached tokens. Source: OpenAI API
 * reference, "The chat completion object".
 */
export const encodeUsage = (usage: Usage): JsonObject | undefined => {
  const { input, cacheRead, cacheWrite, output, reasoning } = usage;
  if ([input, cacheRead, cacheWrite, output].every((count) => count === undefined)) return undefined;
  const prompt = promptTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: output ?? 0,
    total_tokens: prompt + (output ?? 0),
    prompt_tokens_details: {
      cached_tokens: cacheRead ?? 0,
      ...(cacheWrite !== undefined && { cache_write_tokens: cacheWrite }),
    },
    completion_tokens_details: { reasoning_tokens: reasoning ?? 0 },
  };
};
