import { type KnownModels, traitsOf } from '../../engine/model/transformer.ts';
import { type CallIdForm, shortCallIds } from '../../engine/model/wire/call-ids.ts';

/** The features that differ between models over Responses. */
export interface ResponsesTraits {
  /** Accepts `reasoning`, and returns encrypted reasoning. */
  readonly reasoning: boolean;
  /** Reasons by default, so that encrypted reasoning may always be requested. */
  readonly reasonsByDefault: boolean;
  /** Accepts `temperature` and `top_p` while reasoning. */
  readonly sampling: boolean;
  /** The lowest supported effort. */
  readonly leastEffort: 'none' | 'minimal' | 'low';
  /** Accepts cache marks inside the prompt. */
  readonly cacheMarks: boolean;
  /** Rejects call ids of another form than `callIdForm`. */
  readonly limitsCallIds: boolean;
}

/** A deployment may have any name, so for an unknown one nothing is added and nothing requested is left out. */
const newest: ResponsesTraits = {
  reasoning: true,
  reasonsByDefault: false,
  sampling: true,
  leastEffort: 'none',
  cacheMarks: true,
  limitsCallIds: false,
};

/**
 * Names of OpenAI's models, for tables of known limits here and over Chat Completions. Source: OpenAI guides
 * "Models", "Reasoning", "Prompt caching", "Latest model", as of November 2026.
 */
export const openAiModels = {
  all: /^(?:o\d|gpt-\d|chatgpt-|codex-)/,
  /** Reject sampling fields while reasoning. */
  reasoning: /^(?:o\d|gpt-(?:[5-9]|\d\d)|codex-)/,
  /** Reject reasoning controls. */
  withoutReasoning: /^(?:gpt-[34](?!\d)|chatgpt-|gpt-5[^/]*-chat)/,
  /** The first reasoning models; reasoning is always on. */
  oSeries: /^o[134](?!\d)/,
  /** Reasoning is always on. */
  firstGpt5: /^gpt-5(?![.\d])/,
  /** Reject cache marks. */
  withoutCacheMarks: /^(?:o[134](?!\d)|codex-|chatgpt-|gpt-[34](?!\d)|gpt-5(?:\.[0-5])?(?![.\d]))/,
} as const;

const known: readonly KnownModels<ResponsesTraits>[] = [
  { names: openAiModels.all, differ: { limitsCallIds: true } },
  { names: openAiModels.reasoning, differ: { sampling: false, reasonsByDefault: true } },
  { names: openAiModels.withoutReasoning, differ: { reasoning: false, reasonsByDefault: false, sampling: true } },
  { names: openAiModels.oSeries, differ: { leastEffort: 'low' } },
  { names: openAiModels.firstGpt5, differ: { leastEffort: 'minimal' } },
  { names: openAiModels.withoutCacheMarks, differ: { cacheMarks: false } },
];

/**
 * Call ids: at most 64 characters. Source: OpenAI API reference, "Create a model response", `call_id`.
 */
export const callIdForm: CallIdForm = { ...shortCallIds, fits: /^[\s\S]{0,64}$/ };

export const responsesTraits = (model: string): ResponsesTraits => traitsOf(newest, known, model);
