import { type KnownModels, traitsOf } from '../../engine/model/transformer.ts';
import { type EffortWords, nearestEfforts } from '../../engine/model/wire/efforts.ts';

/** The features that differ between models over Messages. */
export interface MessagesTraits {
  /**
   * The model's name is known. Fields of a same-format client reach an unknown model unchanged: the vendor validates
   * them.
   */
  readonly isKnown: boolean;
  /**
   * The vendor signs thinking, and accepts only its own: Anthropic's rules hold. Others sign nothing, take any thinking and require
   * it back.
   */
  readonly signs: boolean;
  /** Binds each piece of thinking to all that went before it, and takes an option that says what happens to one that doesn't fit. */
  readonly binds: boolean;
  /** The mode of thinking: `adaptive` chooses the amount by itself, `budget` needs a token budget. */
  readonly thinking: 'adaptive' | 'budget';
  /** The switch for thinking for clients of other formats, if it needs no budget: `effort` alone, without a `thinking` member. */
  readonly switchedBy: 'adaptive' | 'enabled' | 'effort';
  /** Accepts a token budget from clients of this format. */
  readonly budgets: boolean;
  /** Thinking can be switched off. */
  readonly canBeOff: boolean;
  /** The efforts that it takes; `undefined`: none, it has only budgets. */
  readonly efforts: EffortWords | undefined;
  /** With thinking off, it takes no effort above `high`. */
  readonly offUpToHigh: boolean;
  /** Accepts other than default values of `temperature`, `top_p` and `top_k`. */
  readonly sampling: boolean;
  /** The lowest accepted temperature. */
  readonly leastTemperature: number;
  /** Accepts `temperature` and `top_p` together. */
  readonly samplingPair: boolean;
  /** Accepts a forced tool call. */
  readonly forcedCalls: boolean;
  /** Continues a last assistant message. */
  readonly prefill: boolean;
  /**
   * The default output limit in tokens, since the vendor requires one: enough for a coding agent, and within the
   * model's maximum with a thinking budget on top.
   */
  readonly maxTokens: number;
}

const newest: MessagesTraits = {
  isKnown: false,
  signs: true,
  binds: false,
  thinking: 'adaptive',
  switchedBy: 'adaptive',
  budgets: true,
  canBeOff: false,
  efforts: nearestEfforts('low', 'medium', 'high', 'xhigh', 'max'),
  offUpToHigh: false,
  sampling: false,
  leastTemperature: 0,
  samplingPair: true,
  forcedCalls: true,
  prefill: true,
  maxTokens: 16_000,
};

/** Models of other vendors: none of the vendor's own rules, and nothing that its newest models lack. */
const otherVendors: MessagesTraits = { ...newest, signs: false, canBeOff: true, sampling: true };

const budget = { thinking: 'budget', canBeOff: true, sampling: true, prefill: true } as const;

/**
 * Known differences from the newest models. Source: Anthropic documentation, "Models overview", "Extended thinking",
 * "Adaptive thinking", "Effort", as of November 2026.
 */
const known: readonly KnownModels<MessagesTraits>[] = [
  { names: /^claude-(?:\d|instant|(?:opus|sonnet|haiku|fable|mythos)-\d)/, differ: { ...newest, isKnown: true } },
  { names: /claude|fable|mythos/, differ: { prefill: false, canBeOff: false, sampling: false } },
  { names: /^claude-(?:opus|sonnet|haiku|fable|mythos)-(?:[5-9]|\d\d)(?!\d)/, differ: { budgets: false } },
  { names: /^claude-(?:[123](?!\d)|instant)/, differ: budget },
  { names: /^claude-(?:[12](?!\d)|instant|3-(?:opus|sonnet|haiku))/, differ: { maxTokens: 4096 } },
  { names: /^claude-3[-.]5/, differ: { maxTokens: 8192 } },
  // A date takes the place of the minor version: `claude-opus-4-20250514`.
  { names: /^claude-(?:opus|sonnet|haiku)-4(?:$|@|:|-latest|-\d{6,}|[-.][0-5](?!\d))/, differ: budget },
  {
    names: /^claude-(?:opus|sonnet)-4[-.]6(?!\d)/,
    differ: { canBeOff: true, sampling: true, efforts: nearestEfforts('low', 'medium', 'high', 'max') },
  },
  { names: /^claude-(?:sonnet|haiku)-4[-.]5(?!\d)/, differ: { efforts: undefined } },
  { names: /^claude-(?:opus-5(?![-.]\d{1,2}(?!\d))|haiku-5[-.]5(?!\d))/, differ: { offUpToHigh: true } },
  // Source: the API's own errors, as reported for each of these models.
  { names: /^claude-(?:opus|sonnet|haiku)-4[-.][1-6](?!\d)/, differ: { samplingPair: false } },
  { names: /^claude-opus-4[-.][78](?!\d)/, differ: { canBeOff: true, budgets: false } },
  { names: /^claude-(?:opus|sonnet)-5(?![-.]\d{1,2}(?!\d))|^claude-haiku-5[-.]5(?!\d)/, differ: { canBeOff: true } },
  { names: /^claude-(?:opus|sonnet)-5[-.]5(?!\d)|^claude-fable-5[-.][12](?!\d)/, differ: { forcedCalls: false } },
  // Other models refuse the option. Source: Anthropic documentation, "Preserved thinking".
  {
    names: /^claude-(?:opus|sonnet|haiku)-5[-.]5(?!\d)|^claude-(?:fable|mythos)-5[-.][12](?!\d)/,
    differ: { binds: true },
  },
  // Models of other vendors. Source: the vendors' pages on their Messages endpoints; the sources of their clients.
  { names: /^deepseek-/, differ: { efforts: nearestEfforts('low', 'high', 'max') } },
  {
    names: /^kimi-/,
    differ: { sampling: false, canBeOff: false, switchedBy: 'effort', efforts: nearestEfforts('low', 'high', 'max') },
  },
  { names: /^kimi-k2/, differ: { canBeOff: true, switchedBy: 'enabled', efforts: undefined } },
  { names: /^minimax-/, differ: { leastTemperature: 0.01 } },
];

/**
 * Who serves the models: their vendor; a cloud, which has the vendor's models alone but not all that is around them; or any server,
 * whose models have the vendor's traits only if their names are known.
 */
export type MessagesServer = 'vendor' | 'cloud' | 'any';

export const messagesTraits = (model: string, server: MessagesServer): MessagesTraits =>
  traitsOf(server === 'any' ? otherVendors : newest, known, model);
