import { promptTokens, tierOf, type Usage } from '../model/event.ts';
import type { ModelPrice, TokenPrices, VendorPricing } from '../model/model-facts.ts';
import type { KnownModel } from './known-model.ts';

/** Nano-dollars per USD. */
export const nanoPerUsd = 1e9;

/** Nano-dollars beyond which a request's cost isn't believed: 1,000 USD. */
const mostCost = 1e12;

/** Whether a request's cost is known and can be believed. */
export const isCost = (cost: number | undefined): cost is number => cost !== undefined && cost >= 0 && cost <= mostCost;

/**
 * What a request cost, in whole nano-dollars. `undefined` if that is unknown: there is no price, the upstream didn't report both
 * counts, or something is charged for whose price isn't known. `atMs` is the request's start in milliseconds since 1970.
 */
export const costOf = (
  usage: Usage,
  { price, pricing }: Pick<KnownModel, 'price' | 'pricing'>,
  atMs: number,
): number | undefined => {
  if (usage.costUsd !== undefined) return Math.round(usage.costUsd * nanoPerUsd);
  if (!price || usage.output === undefined || (usage.input ?? usage.cacheRead ?? usage.cacheWrite) === undefined)
    return undefined;
  const rates = ratesOf(price, promptTokens(usage), atMs);
  const factor = factorOf(usage, price, pricing);
  const fees = feesOf(usage, price, pricing);
  if (factor === undefined || fees === undefined) return undefined;
  const hour = usage.cacheWrite1h ?? 0;
  const write = rates.cacheWrite ?? rates.input;
  const microDollars =
    (usage.input ?? 0) * rates.input +
    (usage.cacheRead ?? 0) * (rates.cacheRead ?? rates.input) +
    Math.max(0, (usage.cacheWrite ?? 0) - hour) * write +
    hour * (rates.cacheWrite1h ?? write) +
    usage.output * rates.output;
  // Rounded once, at the end: rounded parts would add up to another sum.
  return Math.round((microDollars * factor + fees) * 1_000);
};

const ratesOf = ({ tiers, changes, peak, ...base }: ModelPrice, prompt: number, atMs: number): TokenPrices => {
  const tier = tiers?.findLast(({ aboveInputTokens }) => prompt > aboveInputTokens);
  if (tier) return tier;
  if (peak && isPeak(peak.hours, atMs)) return peak;
  return changes?.findLast(({ from }) => Date.parse(from) <= atMs) ?? base;
};

const isPeak = (hours: NonNullable<ModelPrice['peak']>['hours'], atMs: number): boolean => {
  const at = new Date(atMs);
  const day = at.getUTCDay();
  const hour = at.getUTCHours();
  return day >= 1 && day <= 5 && hours.some(([from, to]) => hour >= from && hour < to);
};

/** How many times the usual price holds; `undefined` for a service tier whose price isn't known. */
const factorOf = (
  { serviceTier, speed, geography }: Usage,
  { fast }: ModelPrice,
  pricing: VendorPricing | undefined,
): number | undefined => {
  if (!pricing) return 1;
  const tier = serviceTier === undefined ? 'default' : tierOf(serviceTier);
  const usual = tier === 'default' ? 1 : tier && pricing.tiers[tier];
  if (usual === undefined) return undefined;
  const byTier = usual > 1 ? (fast ?? usual) : usual;
  const bySpeed = speed === 'fast' ? fast : 1;
  return bySpeed === undefined ? undefined : byTier * bySpeed * (geography === 'us' ? (pricing.usGeography ?? 1) : 1);
};

/** Fees in millionths of a USD; `undefined` if they aren't known. */
const feesOf = (
  { webSearches = 0 }: Usage,
  { webSearchPer1000 }: ModelPrice,
  pricing: VendorPricing | undefined,
): number | undefined => {
  if (webSearches === 0) return 0;
  const each = webSearchPer1000 ?? pricing?.webSearchPer1000;
  return each === undefined ? undefined : webSearches * each * 1_000;
};
