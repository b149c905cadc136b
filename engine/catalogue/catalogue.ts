import type { Provider } from '../config/config.ts';
import { type KnownModel, knownModel, type VendorOf } from './known-model.ts';
import { openPriceTable } from './price-table.ts';
import { addressOf, changeVendorLists, type KeptList, mergeLists, readVendorLists } from './vendor-lists.ts';

/** What is known of models: by the configuration, by the vendors' lists, by the package. */
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
      const pricing = vendor.because === 'plain' ? undefined : vendor.format.facts?.pricing;
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
