import { isVersionOf, type ModelPrice } from '../../model/models/model-facts.ts';

/** The prices of a package, for the models of which nothing else says what they cost. */
interface PriceTable {
  /** The price of a model at this address; `undefined` if it is unknown. `atMs` chooses among prices of different dates. */
  readonly find: (baseUrl: URL, model: string, atMs: number) => ModelPrice | undefined;
  /** Loads the table, which is empty before. */
  readonly load: () => Promise<void>;
  /** Loads the table if it may have prices for this address. */
  readonly loadFor: (baseUrl: URL) => void;
}

/** The package's answer; its other members aren't used. */
interface PackagePrice {
  readonly model: { readonly id: string; readonly prices: unknown };
  readonly model_price: Readonly<Record<string, unknown>>;
}

type Calculate = (
  usage: Readonly<Record<string, number>>,
  model: string,
  options: { readonly providerApiUrl: string; readonly timestamp: Date },
) => PackagePrice | null;

/** Opens the table; the package is imported on first use, since it takes 40 ms. `onLoaded`: prices may now be found. */
export const openPriceTable = (onLoaded: () => void): PriceTable => {
  let calculate: Calculate | undefined;
  let loading: Promise<void> | undefined;
  const load = (): Promise<void> => {
    loading ??= import('@pydantic/genai-prices').then(
      ({ calcPrice }) => {
        calculate = calcPrice;
        onLoaded();
      },
      // Without the package, these prices stay unknown.
      () => undefined,
    );
    return loading;
  };
  return {
    load,
    loadFor(baseUrl) {
      if (!isPrivate(baseUrl)) void load();
    },
    find: (baseUrl, model, atMs) => (calculate ? lookUp(calculate, baseUrl, model, atMs) : undefined),
  };
};

/** Whether no vendor can be at this address. */
const isPrivate = ({ hostname }: URL): boolean =>
  !hostname.includes('.') || /^[\d.]+$|\.(?:local|internal|invalid)$/.test(hostname);

const lookUp = (calculate: Calculate, { href }: URL, model: string, atMs: number): ModelPrice | undefined => {
  try {
    const found = calculate({ input_tokens: 1, output_tokens: 1 }, model, {
      providerApiUrl: href,
      timestamp: new Date(atMs),
    });
    // The package also answers with a model whose name only begins alike, and has some hourly prices wrong.
    if (!found || !isVersionOf(model, found.model.id) || hasHours(found.model.prices)) return undefined;
    return priceOf(found.model_price);
  } catch {
    return undefined;
  }
};

const hasHours = (prices: unknown): boolean =>
  Array.isArray(prices) && JSON.stringify(prices).includes('"time_of_date"');

const priceOf = (prices: PackagePrice['model_price']): ModelPrice | undefined => {
  const rates = (from: number) => ({
    input: rateOf(prices.input_mtok, from),
    output: rateOf(prices.output_mtok, from),
    cacheRead: rateOf(prices.cache_read_mtok, from),
    cacheWrite: rateOf(prices.cache_write_mtok, from),
    cacheWrite1h: rateOf(prices.cache_write_1h_mtok, from),
  });
  const base = known(rates(0));
  const searches = prices.web_searches_kcount;
  if (!base) return undefined;
  const starts = [...new Set(Object.values(prices).flatMap(startsOf))].sort((one, other) => one - other);
  const tiers = starts.flatMap((start) => {
    const tier = known(rates(start));
    return tier ? [{ aboveInputTokens: wholeThousand(start), ...tier }] : [];
  });
  return {
    ...base,
    ...(tiers.length > 0 && { tiers }),
    ...(typeof searches === 'number' && { webSearchPer1000: searches }),
  };
};

/** Some tiers of the package begin one token too early, at 271,999. */
const wholeThousand = (start: number): number => (start % 1_000 === 999 ? start + 1 : start);

interface Tiered {
  readonly base: number;
  readonly tiers: readonly { readonly start: number; readonly price: number }[];
}

const isTiered = (price: unknown): price is Tiered =>
  typeof price === 'object' && price !== null && 'tiers' in price && Array.isArray(price.tiers);

const startsOf = (price: unknown): readonly number[] => (isTiered(price) ? price.tiers.map(({ start }) => start) : []);

const rateOf = (price: unknown, from: number): number | undefined => {
  if (typeof price === 'number') return price;
  if (!isTiered(price)) return undefined;
  return price.tiers.findLast(({ start }) => start <= from)?.price ?? price.base;
};

type Rates = Readonly<Record<'input' | 'output' | 'cacheRead' | 'cacheWrite' | 'cacheWrite1h', number | undefined>>;

const known = ({ input, output, cacheRead, cacheWrite, cacheWrite1h }: Rates) =>
  input === undefined || output === undefined
    ? undefined
    : {
        input,
        output,
        ...(cacheRead !== undefined && { cacheRead }),
        ...(cacheWrite !== undefined && { cacheWrite }),
        ...(cacheWrite1h !== undefined && { cacheWrite1h }),
      };
