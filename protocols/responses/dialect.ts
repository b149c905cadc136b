import type { Effort } from '../../engine/model/request.ts';
import { type KnownModels, traitsOf } from '../../engine/model/transformer.ts';
import { type CallIdForm, shortCallIds } from '../../engine/model/wire/call-ids.ts';
import { type EffortWords, nearestEfforts } from '../../engine/model/wire/efforts.ts';
import { anyToolSchema, narrowToolSchema, type ToolSchemaForm } from '../../engine/model/wire/tool-schema.ts';

/** The features that differ between models over Responses. */
export interface ResponsesTraits {
  /** Accepts `reasoning`, and returns encrypted reasoning. */
  readonly reasoning: boolean;
  /** Reasons by default, so that encrypted reasoning may always be requested. */
  readonly reasonsByDefault: boolean;
  /** Accepts `temperature` and `top_p` while reasoning. */
  readonly sampling: boolean;
  /** The supported effort for each one. */
  readonly efforts: EffortWords;
  /** Accepts cache marks inside the prompt. */
  readonly cacheMarks: boolean;
  /** Its dialect of JSON Schema for a tool's parameters. */
  readonly toolSchema: ToolSchemaForm;
  /** Rejects call ids of another form than `callIdForm`. */
  readonly limitsCallIds: boolean;
}

/** A deployment may have any name, so for an unknown one nothing is added and nothing requested is left out. */
const newest: ResponsesTraits = {
  reasoning: true,
  reasonsByDefault: false,
  sampling: true,
  efforts: nearestEfforts('none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
  cacheMarks: true,
  toolSchema: anyToolSchema,
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

interface KnownEfforts {
  readonly names: RegExp;
  readonly efforts: readonly [Effort, ...Effort[]];
}

/** The efforts of OpenAI's models. Source: OpenAI guides "Reasoning", "Latest model", as of November 2026. */
export const openAiEfforts: readonly KnownEfforts[] = [
  { names: openAiModels.oSeries, efforts: ['low', 'medium', 'high'] },
  { names: openAiModels.firstGpt5, efforts: ['minimal', 'low', 'medium', 'high'] },
  { names: /^gpt-5\.1(?!\d|-codex-max)/, efforts: ['none', 'low', 'medium', 'high'] },
  { names: /^gpt-5\.[2-5](?!\d)/, efforts: ['none', 'low', 'medium', 'high', 'xhigh'] },
  {
    names: /^gpt-(?:5\.6(?!\d)|6-(?:sol|luna)|6\.1-terra)/,
    efforts: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
  },
  { names: /^gpt-(?:6-astra|6\.1-sol|6\.2-(?:astra|sol))/, efforts: ['low', 'medium', 'high', 'xhigh', 'max'] },
];

/** Models of others that are served over Responses too. Source: xAI documentation, "Reasoning", as of November 2026. */
const otherEfforts: readonly KnownEfforts[] = [
  { names: /^gpt-oss/, efforts: ['low', 'medium', 'high'] },
  { names: /^grok-4[.-]5(?!\d)/, efforts: ['low', 'medium', 'high'] },
  { names: /^grok-4[.-]6(?!\d)/, efforts: ['low', 'medium', 'high', 'xhigh'] },
];

const known: readonly KnownModels<ResponsesTraits>[] = [
  { names: openAiModels.all, differ: { limitsCallIds: true } },
  { names: openAiModels.reasoning, differ: { sampling: false, reasonsByDefault: true } },
  { names: openAiModels.withoutReasoning, differ: { reasoning: false, reasonsByDefault: false, sampling: true } },
  ...[...openAiEfforts, ...otherEfforts].map(({ names, efforts: [least, ...others] }) => ({
    names,
    differ: { efforts: nearestEfforts(least, ...others) },
  })),
  { names: openAiModels.withoutCacheMarks, differ: { cacheMarks: false } },
];

/**
 * Call ids: at most 64 characters. Source: OpenAI API reference, "Create a model response", `call_id`.
 */
export const callIdForm: CallIdForm = { ...shortCallIds, fits: /^[\s\S]{0,64}$/ };

/** The server of the models: one that knows all of the protocol, or one that may not. */
export type ResponsesServer = 'full' | 'narrow';

export const responsesTraits = (model: string, server: ResponsesServer = 'full'): ResponsesTraits => {
  const traits = traitsOf(newest, known, model);
  return server === 'narrow' ? { ...traits, cacheMarks: false, toolSchema: narrowToolSchema } : traits;
};
