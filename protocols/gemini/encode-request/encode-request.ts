import type { RequestContext } from '../../../engine/model/context.ts';
import { tierOf } from '../../../engine/model/event.ts';
import type { JsonDraft, JsonObject } from '../../../engine/model/json/json.ts';
import type { Losses } from '../../../engine/model/loss.ts';
import { recordExtraLoss } from '../../../engine/model/record-losses.ts';
import type { ModelRequest } from '../../../engine/model/request.ts';
import { dialectOf, type GeminiOptions } from '../dialect.ts';
import { encodeParts } from './encode-content.ts';
import { encodeContents } from './encode-messages.ts';
import { encodeGeneration, encodeOutput } from './encode-output.ts';
import { encodeTools } from './encode-tools.ts';

/**
 * Encodes the body of `generateContent` and `streamGenerateContent`; model and streaming are in the URL. Throws an
 * `unsupported` fault for content and tools that must not get lost silently.
 */
export const encodeRequest =
  (options: GeminiOptions) =>
  (request: ModelRequest, { names, losses, replyIsRelayed }: RequestContext): JsonObject => {
    const dialect = dialectOf(request.model, options);
    const context = { names, losses, replyIsRelayed, dialect };
    // Declared names come first, so that calls in the history use their tool's name.
    const { tools, toolConfig } = encodeTools(request, context);
    const callsFunctions = tools?.some((tool) => 'functionDeclarations' in tool) ?? false;
    const output = encodeOutput(request.output, dialect, callsFunctions, losses);
    const system = [...encodeParts(request.system, 'system', context), ...(output.note ? [{ text: output.note }] : [])];
    const generation = { ...encodeGeneration(request, dialect, losses), ...output.config };
    const body: JsonDraft = {};
    if (system.length > 0) body.systemInstruction = { parts: system };
    body.contents = encodeContents(request.turns, context);
    if (tools) body.tools = tools;
    if (toolConfig) body.toolConfig = toolConfig;
    if (Object.keys(generation).length > 0) body.generationConfig = generation;
    const tier = encodeTier(request.serviceTier, losses);
    if (tier) body.serviceTier = tier;
    dropUncarried(request, losses);
    return body;
  };

/** `service_tier`. Names of the default tier are omitted. Source: Gemini API reference, "GenerateContentRequest". */
const encodeTier = (tier: string | undefined, losses: Losses): string | undefined => {
  const asked = tierOf(tier);
  if (asked === 'flex' || asked === 'priority') return asked;
  if (tier !== undefined && asked !== 'auto' && asked !== 'default') losses.drop('service_tier');
  return undefined;
};

const dropUncarried = (request: ModelRequest, losses: Losses): void => {
  const uncarried = {
    logit_bias: request.logitBias,
    user: request.user,
    metadata: request.metadata,
    verbosity: request.verbosity,
    prompt_cache_key: request.promptCacheKey,
    cache_control: request.cache,
    store: request.store || undefined,
  };
  for (const [name, value] of Object.entries(uncarried)) if (value !== undefined) losses.drop(name);
  recordExtraLoss(request.extra, losses);
};
