import test from 'ava';
import type { Usage } from '../../../../engine/model/event.ts';
import { costOf } from '../../../../engine/routing/catalogue/catalogue.ts';
import { knownModel } from '../../../../engine/routing/catalogue/known-model.ts';
import { formats } from '../../../../transformers/index.ts';

/** What the package knows of a vendor's model. */
const known = (vendor: string, model: string) =>
  knownModel({}, model, { format: formats.get(vendor) ?? {}, because: 'host' }, undefined);

const usd = 1e9;
const sunday = Date.parse('2026-11-22T02:00:00Z');
const monday = Date.parse('2026-11-23T02:00:00Z');
const haiku = { input: 8_000, cacheRead: 100_000, cacheWrite: 12_000, cacheWrite1h: 2_000, output: 1_000 };

const cases: readonly (readonly [
  title: string,
  vendor: string,
  model: string,
  usage: Usage,
  cost: number | undefined,
  atMs?: number,
])[] = [
  [
    'the upper tier, two kinds of cache and a search',
    'anthropic',
    'claude-haiku-5-5',
    { ...haiku, webSearches: 1 },
    0.02975,
  ],
  ['the same without the search', 'anthropic', 'claude-haiku-5-5', haiku, 0.01975],
  ['exactly at a tier: the lower one', 'anthropic', 'claude-haiku-5-5', { input: 100_000, output: 0 }, 0.01],
  ['one token above it', 'anthropic', 'claude-haiku-5-5', { input: 100_001, output: 0 }, 0.0500005],
  ['a batch', 'anthropic', 'claude-sonnet-4-6', { input: 1e6, output: 1e6, serviceTier: 'batch' }, 9],
  ['fast answers of one model', 'anthropic', 'claude-opus-4-7', { input: 1e6, output: 0, speed: 'fast' }, 30],
  [
    'fast answers of a model whose price for them is unknown',
    'anthropic',
    'claude-sonnet-5',
    { input: 1, output: 1, speed: 'fast' },
    undefined,
  ],
  ['an answer from one country', 'anthropic', 'claude-opus-5', { input: 1e6, output: 0, geography: 'us' }, 5.5],
  ['a version with a date', 'openai', 'gpt-5.2-2025-12-11', { input: 1e6, output: 0 }, 1.75],
  ['priority, with an exception', 'openai', 'gpt-5.5', { input: 100_000, output: 0, serviceTier: 'priority' }, 1.25],
  ['cache reads without a price of their own', 'openai', 'gpt-5.5-pro', { input: 0, cacheRead: 100_000, output: 0 }, 3],
  [
    'a service tier of which nothing is known',
    'openai',
    'gpt-5.5',
    { input: 1, output: 1, serviceTier: 'scale' },
    undefined,
  ],
  [
    'before a change of prices',
    'gemini',
    'gemini-4-argon',
    { input: 1e6, output: 0 },
    2,
    Date.parse('2026-11-30T23:59:59Z'),
  ],
  ['after it', 'gemini', 'gemini-4-argon', { input: 1e6, output: 0 }, 4, Date.parse('2026-12-01T00:00:00Z')],
  ['the newest, in its tier', 'openai', 'gpt-6.2-sol', { input: 272_001, output: 0 }, 1.088_004],
  [
    'the same change, of a newer one',
    'gemini',
    'gemini-4-carbon',
    { input: 0, output: 1e6 },
    20,
    Date.parse('2026-12-01T00:00:00Z'),
  ],
  ['searches without a known fee', 'gemini', 'gemini-2.5-flash', { input: 1, output: 1, webSearches: 1 }, undefined],
  ['a peak hour', 'deepseek', 'deepseek-v4-pro', { input: 1e6, output: 0 }, 1.32, monday],
  ['the same hour on a Sunday', 'deepseek', 'deepseek-v4-pro', { input: 1e6, output: 0 }, 0.66, sunday],
  ['what the upstream says itself', 'openrouter', 'no/model', { costUsd: 0.00085 }, 0.00085],
  ['no price', 'groq', 'groq/compound', { input: 1, output: 1 }, undefined],
  ['an unknown model', 'anthropic', 'claude-sonnet-5-5-x', { input: 1, output: 1 }, undefined],
  ['no count of the answer', 'anthropic', 'claude-sonnet-5', { input: 1 }, undefined],
  ['no count of the prompt', 'anthropic', 'claude-sonnet-5', { output: 1 }, undefined],
];
for (const [title, vendor, model, usage, cost, atMs = monday] of cases) {
  test(`the cost of a request: ${title}`, (t) => {
    const expected = cost === undefined ? undefined : Math.round(cost * usd);
    t.is(costOf(usage, known(vendor, model), atMs), expected);
  });
}

test("a configured price has no tiers by length, but the vendor's fees and service tiers", (t) => {
  const modelFacts = new Map([['claude-haiku-5-5', { price: { input: 1, output: 2 } }]]);
  const vendor = { format: formats.get('anthropic') ?? {}, because: 'host' } as const;
  const facts = knownModel({ modelFacts }, 'claude-haiku-5-5', vendor, undefined);
  t.is(costOf({ input: 200_000, cacheWrite: 100_000, output: 0, webSearches: 1 }, facts, 0), 0.31 * usd);
  t.is(costOf({ input: 200_000, output: 0, serviceTier: 'batch' }, facts, 0), 0.1 * usd);
});
