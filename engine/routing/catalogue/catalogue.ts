import type { Provider } from '../../config/config.ts';
import { promptTokens, tierOf, type Usage } from '../../model/event.ts';
import type { ModelPrice, TokenPrices, VendorPricing } from '../../model/models/model-facts.ts';
import { isVendors } from '../../model/transformer.ts';
import { type KnownModel, knownModel, type VendorOf } from './known-model.ts';
import { openPriceTable } from './price-table.ts';
import { addressOf, changeVendorLists, type KeptList, mergeLists, readVendorLists } from './vendor-lists.ts';

/** Known facts of models, from the configuration, the vendors' lists and the package. */
export interface ModelCatalogue {
  /** Grows whenever more may be known. */
  readonly version: () => number;
  /** Joins all sources. */
  readonly know: (provider: Provider, model: string, vendor: VendorOf) => KnownModel;
  /** The kept list of a provider; `undefined` if there is none of its address. */
  readonly listOf: (provider: Pick<Provider, 'name' | 'baseUrl'>) => KeptList | undefined;
  /** Keeps these lists in place of older ones of the same providers. Rejects with the system's error if they can't be written. */
  readonly keep: (lists: readonly KeptList[]) => Promise<void>;
  /** Takes what is in the folder now. */
  readonly reload: () => Promise<void>;
  /** Loads the package's prices. */
  readonly loadPrices: () => Promise<void>;
  /** Loads them in the background, if they may have a price of this provider. */
  readonly wantPrices: (provider: Pick<Provider, 'baseUrl'>) => void;
}

/** An empty catalogue, whose lists are kept in the folder `home`; absent: in memory. */
export const createCatalogue = (home: string | undefined): ModelCatalogue => {
  let version = 0;
  let lists: readonly KeptList[] = [];
  /** Models by name, per list. */
  const byName = new WeakMap<KeptList, ReadonlyMap<string, KeptList['models'][number]>>();
  const prices = openPriceTable(() => {
    version += 1;
  });
  /** Addresses whose prices were wanted before. */
  const wanted = new WeakSet<URL>();
  const use = (next: readonly KeptList[]): void => {
    lists = next;
    version += 1;
  };
  const listOf: ModelCatalogue['listOf'] = ({ name, baseUrl }) =>
    lists.find(({ provider, address }) => provider === name && address === addressOf(baseUrl));
  const listed = (provider: Provider, model: string): KeptList['models'][number] | undefined => {
    const list = listOf(provider);
    if (!list) return undefined;
    const known = byName.get(list) ?? new Map(list.models.map((row) => [row.id, row]));
    byName.set(list, known);
    return known.get(model);
  };
  return {
    version: () => version,
    know(provider, model, vendor) {
      const known = knownModel(provider, model, vendor, listed(provider, model));
      const price = known.price ? undefined : prices.find(provider.baseUrl, model, Date.now());
      const pricing = isVendors(vendor.because) ? vendor.format.facts?.pricing : undefined;
      return price ? { ...known, price, from: { ...known.from, price: 'prices' }, ...(pricing && { pricing }) } : known;
    },
    listOf,
    async keep(newer) {
      // Another process may have kept some since.
      const change = (others: readonly KeptList[]): readonly KeptList[] => {
        use(mergeLists(mergeLists(lists, others), newer));
        return lists;
      };
      if (home === undefined) change([]);
      else await changeVendorLists(home, change);
    },
    async reload() {
      if (home !== undefined) use(await readVendorLists(home));
    },
    loadPrices: prices.load,
    wantPrices({ baseUrl }) {
      if (wanted.has(baseUrl)) return;
      wanted.add(baseUrl);
      prices.loadFor(baseUrl);
    },
  };
};

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

/** The multiple of the usual price; `undefined` for a service tier whose price isn't known. */
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
