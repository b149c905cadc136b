import type { ServiceTier } from './wire/service-tier.ts';

/** What a model takes besides, or instead of, text. */
export const inputKinds = ['text', 'image', 'pdf', 'audio', 'video'] as const;
export type InputKind = (typeof inputKinds)[number];

/** What a model may be known to lack: requests are adapted to it, with a loss. */
export type Lack = 'sampling' | 'forcedToolChoice' | 'reasoningOff' | 'reasoningBudget' | 'minimalEffort';

/** Prices in USD per million tokens. A cache price that is absent is that of `input`. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** For what is kept for an hour; absent: as `cacheWrite`. */
  readonly cacheWrite1h?: number;
}

/** What a model's tokens cost, by the size of the prompt and the time. */
export interface ModelPrice extends TokenPrices {
  /** From the lowest to the highest. The last one that applies replaces all prices of the whole request. */
  readonly tiers?: readonly PriceTier[];
  /** From the earliest to the latest; `from` is a day (UTC). */
  readonly changes?: readonly (TokenPrices & { readonly from: string })[];
  /** Prices of some hours (UTC) from Monday to Friday: from the first to before the second. */
  readonly peak?: TokenPrices & { readonly hours: readonly (readonly [from: number, to: number])[] };
  /** How many times as much a faster answer costs. */
  readonly fast?: number;
  /** USD per thousand searches; absent: the vendor's. */
  readonly webSearchPer1000?: number;
}

/** Prices of requests whose prompt has more tokens than this, cached ones included. */
type PriceTier = TokenPrices & { readonly aboveInputTokens: number };

/** What a vendor charges for all its models. */
export interface VendorPricing {
  /** USD per thousand searches. */
  readonly webSearchPer1000?: number;
  /** How many times as much each service tier costs; the default one costs what is listed, and of others nothing is known. */
  readonly tiers: Readonly<Partial<Record<ServiceTier, number>>>;
  /** How many times as much a request costs that is served inside the United States. */
  readonly usGeography?: number;
}

/** What is known of a model. What is absent is unknown: nothing is refused, dropped or changed for it. */
export interface ModelFacts {
  /** Tokens of its context window: the prompt, or the prompt and the answer together. */
  readonly context?: number;
  /** Tokens of a prompt, where that is less than `context`. */
  readonly maxInput?: number;
  /** Tokens of an answer. */
  readonly maxOutput?: number;
  readonly input?: readonly InputKind[];
  readonly reasoning?: boolean;
  readonly tools?: boolean;
  readonly price?: ModelPrice;
  readonly lacks?: readonly Lack[];
  /** The day on which it is shut down. */
  readonly retires?: string;
  /** It isn't shut down before that day. */
  readonly retiresNotBefore?: string;
  /** `legacy`: there is a newer one of its line. */
  readonly status?: 'legacy' | 'deprecated' | 'preview' | 'limited access';
}

/** A model in a vendor's own list. */
export interface ListedModel extends ModelFacts {
  /** Its name as used in requests. */
  readonly id: string;
}

/** What the package knows of a model. */
interface ShippedModel extends ListedModel {
  /** Other names of it. A date behind a name makes no difference. */
  readonly aliases?: readonly string[];
  /** Where the facts come from; the keys are explained beside the table. */
  readonly source: readonly string[];
}

/** What the package knows of a vendor's models. */
export interface VendorFacts {
  /** The day on which the facts were collected. */
  readonly asOf: string;
  readonly pricing: VendorPricing;
  readonly models: readonly ShippedModel[];
  /** Models that are shut down, of which nothing else is known. */
  readonly retired?: readonly { readonly on: string; readonly names: readonly string[] }[];
}

/** Whether a name is another one, or that with a date or a number of three digits behind it: `model-20260101`, `model-002`. */
export const isVersionOf = (name: string, model: string): boolean =>
  name.startsWith(model) && /^(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}))?$/.test(name.slice(model.length));
