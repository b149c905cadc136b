import type { JsonDraft, JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { ModelRequest } from '../../engine/model/request.ts';
import type { GeminiDialect } from './dialect.ts';
import { encodeThinking } from './encode-thinking.ts';

/** Most stop sequences it takes. Source: Gemini API reference, "GenerationConfig". */
const maxStops = 5;

/** Limits, sampling and reasoning → `generationConfig`, but for the output format. */
export const encodeGeneration = (request: ModelRequest, dialect: GeminiDialect, losses: Losses): JsonObject => {
  const config: JsonDraft = {
    maxOutputTokens: request.maxTokens,
    temperature: request.temperature,
    topP: request.topP,
    topK: request.topK,
    stopSequences: encodeStop(request.stop, losses),
    seed: encodeSeed(request.seed, losses),
    presencePenalty: encodePenalty(request.presencePenalty, 'presence_penalty', losses),
    frequencyPenalty: encodePenalty(request.frequencyPenalty, 'frequency_penalty', losses),
    thinkingConfig: encodeThinking(request, dialect.thinking, losses),
  };
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
};

const encodeStop = (stop: readonly string[] | undefined, losses: Losses): readonly string[] | undefined => {
  const given = stop?.filter((sequence) => sequence !== '') ?? [];
  if (given.length > maxStops) losses.approximate('stop', `the first ${maxStops} of ${given.length}`);
  return given.length > 0 ? given.slice(0, maxStops) : undefined;
};

/** The wire holds 32 bits. */
const encodeSeed = (seed: number | undefined, losses: Losses): number | undefined => {
  if (seed === undefined || seed === (seed | 0)) return seed;
  losses.drop('seed', 'more than 32 bits');
  return undefined;
};

/** The ends of −2 to 2 are refused. */
const encodePenalty = (penalty: number | undefined, path: string, losses: Losses): number | undefined => {
  if (penalty === undefined || Math.abs(penalty) < 2) return penalty;
  const nearest = penalty > 0 ? 1.99 : -1.99;
  losses.approximate(path, String(nearest));
  return nearest;
};
