import type { ServiceTier } from '../event.ts';

/** The kinds of input that a model may accept. */
export const inputKinds = ['text', 'image', 'pdf', 'audio', 'video'] as const;
export type InputKind = (typeof inputKinds)[number];

/** A feature that a model may lack. Requests are adapted to that, with a loss. */
export type Lack = 'sampling' | 'forcedToolChoice' | 'reasoningOff' | 'reasoningBudget' | 'minimalEffort';

/** Prices in USD per million tokens. A cache price that is absent is that of `input`. */
export interface TokenPrices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
  /** For entries kept for an hour; absent: as `cacheWrite`. */
  readonly cacheWrite1h?: number;
}

/** Prices of a model's tokens, by the size of the prompt and the time. */
export interface ModelPrice extends TokenPrices {
  /** From the lowest to the highest. The last one that applies replaces all prices of the whole request. */
  readonly tiers?: readonly PriceTier[];
  /** From the earliest to the latest; `from` is a day (UTC). */
  readonly changes?: readonly (TokenPrices & { readonly from: string })[];
  /** Prices of some hours (UTC) from Monday to Friday: from the first to before the second. */
  readonly peak?: TokenPrices & { readonly hours: readonly (readonly [from: number, to: number])[] };
  /** The price factor of fast answers. */
  readonly fast?: number;
  /** USD per thousand searches; absent: the vendor's. */
  readonly webSearchPer1000?: number;
}

/** Prices of requests whose prompt has more tokens than this, cached ones included. */
type PriceTier = TokenPrices & { readonly aboveInputTokens: number };

/** Charges of a vendor for all its models. */
export interface VendorPricing {
  /** USD per thousand searches. */
  readonly webSearchPer1000?: number;
  /** The price factor of each service tier. The default tier has the list price; the price of an absent tier is unknown. */
  readonly tiers: Readonly<Partial<Record<ServiceTier, number>>>;
  /** The price factor of requests served inside the United States. */
  readonly usGeography?: number;
}

/** Known facts about a model. An absent fact is unknown and has no effect: nothing is rejected, dropped or changed. */
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
  /** Besides what the dialects know, whose tables cover all spellings of a name. */
  readonly lacks?: readonly Lack[];
  /** The day on which it is shut down. */
  readonly retires?: string;
  /** It isn't shut down before that day. */
  readonly retiresNotBefore?: string;
  /** `legacy`: its family has a newer model. */
  readonly status?: 'legacy' | 'deprecated' | 'preview' | 'limited access';
}

/** A model in a vendor's own list. */
export interface ListedModel extends ModelFacts {
  /** Its name as used in requests. */
  readonly id: string;
}

/** The package's facts about a model. */
interface ShippedModel extends ListedModel {
  /** Other names; a date after a name makes no difference. */
  readonly aliases?: readonly string[];
  /** The source of the facts; the keys are explained beside the table. */
  readonly source: readonly string[];
}

/** The package's facts about a vendor's models. */
export interface VendorFacts {
  /** The day on which the facts were collected. */
  readonly asOf: string;
  readonly pricing: VendorPricing;
  readonly models: readonly ShippedModel[];
  /** Retired models without other facts. */
  readonly retired?: readonly { readonly on: string; readonly names: readonly string[] }[];
}

/** Whether a name is `model`, possibly followed by a date or a three-digit number: `model-20260101`, `model-002`. */
export const isVersionOf = (name: string, model: string): boolean =>
  name.startsWith(model) && /^(?:[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|\d{3}))?$/.test(name.slice(model.length));
