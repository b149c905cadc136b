import type { VendorFacts } from '../../../engine/model/models/model-facts.ts';

/**
 * The models on Groq. The keys of `source`:
 * - pi-ai: npm @earendil-works/pi-ai 1.5.2, dist/providers/data/<vendor>.json, 2026-11-10 (MIT; built from models.dev and the OpenRouter list)
 * - genai-prices: npm @pydantic/genai-prices 0.1.8, bundled data, 2026-09-23 (MIT)
 * - models.dev: github anomalyco/models.dev providers/<vendor>/models/*.toml at f3fc692, 2026-07-01 (MIT)
 * - groq-docs: console.groq.com/docs/models, /docs/deprecations, /docs/prompt-caching; github promptfoo/promptfoo PR 9933 (2026-07-01), braintrustdata/braintrust-proxy issue 1073
 * - groq-sdk: npm groq-sdk 1.6.0, resources/chat/completions.d.ts, 2026-08-27
 */
export const groqFacts: VendorFacts = {
  asOf: '2026-11-27',
  pricing: { tiers: { batch: 0.5, flex: 1 } },
  models: [
    {
      id: 'openai/gpt-oss-120b',
      context: 131_072,
      maxOutput: 65_536,
      input: ['text'],
      reasoning: true,
      tools: true,
      price: { input: 0.15, output: 0.6, cacheRead: 0.075 },
      source: ['pi-ai', 'genai-prices', 'models.dev', 'groq-docs'],
    },
    {
      id: 'openai/gpt-oss-20b',
      context: 131_072,
      maxOutput: 65_536,
      input: ['text'],
      reasoning: true,
      tools: true,
      price: { input: 0.075, output: 0.3, cacheRead: 0.0375 },
      source: ['pi-ai', 'genai-prices', 'models.dev', 'groq-docs'],
    },
    {
      id: 'openai/gpt-oss-safeguard-20b',
      context: 131_072,
      maxOutput: 65_536,
      input: ['text'],
      reasoning: true,
      tools: true,
      price: { input: 0.075, output: 0.3, cacheRead: 0.0375 },
      status: 'preview',
      source: ['pi-ai', 'models.dev'],
    },
    {
      id: 'qwen/qwen3.6-27b',
      context: 131_072,
      maxOutput: 16_384,
      input: ['text', 'image'],
      reasoning: true,
      tools: true,
      price: { input: 0.6, output: 3, cacheRead: 0.3 },
      status: 'preview',
      source: ['pi-ai', 'groq-docs', 'groq-sdk'],
    },
    {
      id: 'qwen/qwen3.8-27b',
      context: 131_072,
      maxOutput: 16_384,
      input: ['text', 'image'],
      reasoning: true,
      tools: true,
      price: { input: 0.8, output: 4 },
      status: 'preview',
      source: ['pi-ai', 'groq-sdk'],
    },
    // No token price of its own: the models and built-in tools it uses are billed; unpriced here.
    {
      id: 'groq/compound',
      context: 131_072,
      maxOutput: 8192,
      input: ['text'],
      reasoning: false,
      tools: false,
      source: ['models.dev', 'groq-docs'],
    },
  ],
  retired: [
    { on: '2026-04-15', names: ['moonshotai/kimi-k2-instruct-0905'] },
    { on: '2026-07-17', names: ['qwen/qwen3-32b', 'meta-llama/llama-4-scout-17b-16e-instruct'] },
    { on: '2026-08-16', names: ['llama-3.3-70b-versatile', 'llama-3.1-8b-instant'] },
  ],
};
