import { dropExtra } from '../../engine/model/drop-extra.ts';
import type { JsonDraft, JsonObject } from '../../engine/model/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { RequestContext } from '../../engine/model/protocol.ts';
import type { ModelRequest } from '../../engine/model/request.ts';
import { dialectOf, type GeminiOptions } from './dialect.ts';
import { encodeContents } from './encode-contents.ts';
import { encodeGeneration } from './encode-generation.ts';
import { encodeOutput } from './encode-output.ts';
import { encodeParts } from './encode-parts.ts';
import { encodeTools } from './encode-tools.ts';

/**
 * Request → the body of `generateContent` and `streamGenerateContent`; the model's name and the streaming are the URL's. Throws
 * an `unsupported` fault for content and tools that the client must not lose unnoticed.
 */
export const encodeRequest =
  (options: GeminiOptions) =>
  (request: ModelRequest, { names, losses, relaysReply }: RequestContext): JsonObject => {
    const dialect = dialectOf(request.model, options);
    const context = { names, losses, relaysReply, dialect };
    // Declared names come first, so that a call in the history is written as its tool is.
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

/** Source: Gemini API reference, "GenerateContentRequest". Other vendors' words for the default ask for nothing. */
const encodeTier = (tier: string | undefined, losses: Losses): string | undefined => {
  if (tier === 'flex' || tier === 'priority') return tier;
  if (tier !== undefined && tier !== 'auto' && tier !== 'default' && tier !== 'standard_only')
    losses.drop('service_tier');
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
  dropExtra(request.extra, losses);
};
