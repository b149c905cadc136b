import type { JsonDraft, JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { recordSchemaLoss } from '../../../engine/model/record-losses.ts';
import type { ModelRequest, OutputFormat } from '../../../engine/model/request.ts';
import type { GeminiDialect } from '../dialect.ts';
import { cleanSchema } from '../tool-schema/clean-schema.ts';
import { encodeThinking } from './encode-reasoning.ts';

/** The output format as members of `generationConfig`, or as an instruction where those are rejected. */
interface EncodedOutput {
  readonly config: JsonObject;
  readonly note?: string;
}

/**
 * Encodes the output format. Older models reject JSON together with functions. Source: Gemini API documentation,
 * "Structured output".
 */
export const encodeOutput = (
  output: OutputFormat | undefined,
  { schema: form, jsonWithTools }: GeminiDialect,
  callsFunctions: boolean,
  losses: Losses,
): EncodedOutput => {
  if (!output || output.type === 'text') return { config: {} };
  const schema = output.type === 'json-schema' ? output.schema : undefined;
  if (output.type === 'json-schema') recordSchemaLoss(output, losses);
  if (callsFunctions && !jsonWithTools) {
    losses.approximate('response_format', 'an instruction');
    const note = 'When you answer without calling a tool, answer with one JSON value and nothing else.';
    return { config: {}, note: schema ? `${note} It must fit this JSON Schema:\n${JSON.stringify(schema)}` : note };
  }
  const config = { responseMimeType: 'application/json' };
  if (!schema) return { config };
  if (form === 'json') return { config: { ...config, responseJsonSchema: schema } };
  return { config: { ...config, responseSchema: cleanSchema(schema, 'response_format.schema', losses) } };
};

/** The maximum number of stop sequences. Source: Gemini API reference, "GenerationConfig". */
const maxStops = 5;

/** Limits, sampling and reasoning → `generationConfig`, without the output format. */
export const encodeGeneration = (request: ModelRequest, dialect: GeminiDialect, losses: Losses): JsonObject => {
  const config: JsonDraft = {
    maxOutputTokens: request.maxTokens,
    ...encodeSampling(request, dialect, losses),
    stopSequences: encodeStop(request.stop, losses),
    seed: encodeSeed(request.seed, losses),
    presencePenalty: encodePenalty(request.presencePenalty, 'presence_penalty', dialect, losses),
    frequencyPenalty: encodePenalty(request.frequencyPenalty, 'frequency_penalty', dialect, losses),
    thinkingConfig: encodeThinking(request, dialect.thinking, losses),
  };
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined));
};

const encodeStop = (stop: readonly string[] | undefined, losses: Losses): readonly string[] | undefined => {
  const given = stop?.filter((sequence) => sequence !== '') ?? [];
  if (given.length > maxStops) losses.approximate('stop', `the first ${maxStops} of ${given.length}`);
  return given.length > 0 ? given.slice(0, maxStops) : undefined;
};

/** A seed has 32 bits. */
const encodeSeed = (seed: number | undefined, losses: Losses): number | undefined => {
  if (seed === undefined || seed === (seed | 0)) return seed;
  losses.drop('seed', 'more than 32 bits');
  return undefined;
};

/** Models without these members have the default values. */
const encodeSampling = (
  { temperature, topP, topK }: ModelRequest,
  { sampling }: GeminiDialect,
  losses: Losses,
): JsonDraft => {
  if (sampling) return { temperature, topP, topK };
  if (temperature !== undefined && temperature !== 1) losses.drop('temperature', 'the model refuses it');
  if (topP !== undefined && topP !== 1) losses.drop('top_p', 'the model refuses it');
  if (topK !== undefined) losses.drop('top_k', 'the model refuses it');
  return {};
};

/** The range −2 to 2 excludes both ends. */
const encodePenalty = (
  penalty: number | undefined,
  path: string,
  { penalties }: GeminiDialect,
  losses: Losses,
): number | undefined => {
  if (penalty !== undefined && !penalties) {
    if (penalty !== 0) losses.drop(path, 'the model refuses it');
    return undefined;
  }
  if (penalty === undefined || Math.abs(penalty) < 2) return penalty;
  const nearest = penalty > 0 ? 1.99 : -1.99;
  losses.approximate(path, String(nearest));
  return nearest;
};
