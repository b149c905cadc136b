import type { VendorFacts } from '../../../engine/model/models/model-facts.ts';

/** UTC, from Monday to Friday. Public holidays of China, which aren't peak, aren't known here. */
const peakHours = [
  [1, 4],
  [6, 10],
] as const;

/**
 * DeepSeek's models. The keys of `source`:
 * - deepseek-pricing: api-docs.deepseek.com/quick_start/pricing (copies of Sep-Oct 2026, checked 2026-10-27 in github benderandrew069/deepseek-api-pricing-2026)
 * - pi-ai: npm @earendil-works/pi-ai 1.5.2, dist/providers/data/<vendor>.json, 2026-11-10 (MIT; built from models.dev and the OpenRouter list)
 * - genai-prices: npm @pydantic/genai-prices 0.1.8, bundled data, 2026-09-23 (MIT)
 */
export const deepseekFacts: VendorFacts = {
  asOf: '2026-11-27',
  pricing: { tiers: {} },
  models: [
    // Serves DeepSeek-V4.1-Flash-1017; JSON mode is json_object; the aliases are accepted and billed as this.
    {
      id: 'deepseek-flash',
      aliases: ['deepseek-v4-flash', 'deepseek-v4-flash-vision-exp'],
      context: 1_000_000,
      maxOutput: 384_000,
      input: ['text', 'image'],
      reasoning: true,
      tools: true,
      price: {
        input: 0.15,
        output: 0.6,
        cacheRead: 0.003,
        peak: { hours: peakHours, input: 0.3, output: 1.2, cacheRead: 0.006 },
      },
      source: ['deepseek-pricing', 'pi-ai'],
    },
    // The vendor's release note of 2026-09-10 says that it is served and billed as deepseek-flash; its price page still lists it.
    {
      id: 'deepseek-v4-pro',
      context: 1_000_000,
      maxOutput: 384_000,
      input: ['text'],
      reasoning: true,
      tools: true,
      price: {
        input: 0.66,
        output: 1.98,
        cacheRead: 0.022,
        peak: { hours: peakHours, input: 1.32, output: 3.96, cacheRead: 0.044 },
      },
      status: 'legacy',
      source: ['deepseek-pricing', 'pi-ai', 'genai-prices'],
    },
  ],
  retired: [{ on: '2026-07-24', names: ['deepseek-chat', 'deepseek-reasoner'] }],
};
