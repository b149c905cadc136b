import { isDeepStrictEqual } from 'node:util';
import type { Provider } from '../../config/config.ts';
import {
  isVersionOf,
  type ListedModel,
  type ModelFacts,
  type VendorFacts,
  type VendorPricing,
} from '../../model/models/model-facts.ts';
import { type Format, type FormatReason, isVendors, plainName } from '../../model/transformer.ts';

/** The source of a fact: the configuration, the vendor's list, the package, or its price table. */
type FactSource = 'configuration' | 'list' | 'package' | 'prices';

/** All that is known of a provider's model. */
export interface KnownModel extends ModelFacts {
  readonly from: Readonly<Partial<Record<keyof ModelFacts, FactSource>>>;
  /** The vendor's charges besides tokens; absent if the price is unknown, or the server only imitates the vendor's. */
  readonly pricing?: VendorPricing;
}

/** The format of a provider's model, and whether the provider is known to be the format's vendor. */
export interface VendorOf {
  readonly format: Pick<Format, 'facts'>;
  readonly because: FormatReason;
}

/** The package's facts of a model by its name. Exact names come first: an older version may differ from the newest. */
const shippedFacts = (facts: VendorFacts | undefined, name: string): ModelFacts | undefined => {
  if (!facts) return undefined;
  const { models, retired = [] } = facts;
  const gone = (matches: (other: string) => boolean): ModelFacts | undefined => {
    const found = retired.find(({ names }) => names.some(matches));
    return found && { retires: found.on };
  };
  const isName = (other: string): boolean => name === other;
  const isVersion = (other: string): boolean => isVersionOf(name, other);
  return (
    models.find(({ id, aliases }) => isName(id) || aliases?.some(isName)) ??
    gone(isName) ??
    models.find(({ id }) => isVersion(id)) ??
    gone(isVersion)
  );
};

const factNames = [
  'context',
  'maxInput',
  'maxOutput',
  'input',
  'reasoning',
  'tools',
  'price',
  'lacks',
  'retires',
  'retiresNotBefore',
  'status',
] as const satisfies readonly (keyof ModelFacts)[];

/** Facts that only a vendor itself decides. */
const vendorsOwn: ReadonlySet<keyof ModelFacts> = new Set(['price', 'retires', 'retiresNotBefore', 'status']);

/**
 * Joins what the sources say of a model: the configuration wins over the vendor's list, and this over the package. Prices and dates
 * of the package hold for the vendor alone: a server that is only alike may charge anything, and go on with any model.
 */
export const knownModel = (
  { modelFacts }: Pick<Provider, 'modelFacts'>,
  model: string,
  { format, because }: VendorOf,
  listed: ListedModel | undefined,
): KnownModel => {
  const shipped = shippedFacts(format.facts, model) ?? shippedFacts(format.facts, plainName(model));
  const configured = modelFacts?.get(model);
  const known: { -readonly [Name in keyof ModelFacts]: ModelFacts[Name] } = {};
  const from: Partial<Record<keyof ModelFacts, FactSource>> = {};
  const takeOne = <Name extends keyof ModelFacts>(name: Name, facts: ModelFacts, source: FactSource): void => {
    const value = facts[name];
    if (value === undefined || (source === 'package' && !isVendors(because) && vendorsOwn.has(name))) return;
    known[name] = value;
    from[name] = source;
  };
  const take = (facts: ModelFacts | undefined, source: FactSource): void => {
    if (facts) for (const name of factNames) takeOne(name, facts, source);
  };
  take(shipped, 'package');
  take(listed, 'list');
  take(configured, 'configuration');
  // Of a window that is said otherwise, the package's part for prompts is unknown.
  if (from.context !== from.maxInput) {
    delete known.maxInput;
    delete from.maxInput;
  }
  const pricing = from.price === undefined || !isVendors(because) ? undefined : format.facts?.pricing;
  return { ...known, from, ...(pricing && { pricing }) };
};

/** Facts of all models that may answer to one name: the smallest limits, the kinds that all take, a price that is the same. */
export const commonFacts = (all: readonly ModelFacts[]): ModelFacts => {
  const [first = {}, ...others] = all;
  return others.reduce<ModelFacts>((common, one) => {
    const context = smallest(common.context, one.context);
    const maxInput = smallest(common.maxInput, one.maxInput ?? one.context);
    const maxOutput = smallest(common.maxOutput, one.maxOutput);
    const input = common.input && one.input ? common.input.filter((kind) => one.input?.includes(kind)) : undefined;
    const price = isDeepStrictEqual(common.price, one.price) ? common.price : undefined;
    return {
      ...(context !== undefined && { context }),
      ...(maxInput !== undefined && { maxInput }),
      ...(maxOutput !== undefined && { maxOutput }),
      ...(input && { input }),
      ...(price && { price }),
    };
  }, first);
};

const smallest = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
