import { type KnownModels, traitsOf } from '../../engine/model/transformer.ts';

/** Options of a provider's configuration. */
export interface GeminiOptions {
  /**
   * The format of function parameters and output schemas: `json` for JSON Schema, `openapi` for the OpenAPI subset
   * that all servers accept. Absent: chosen by the model's name.
   */
  readonly schema?: SchemaForm | undefined;
  /** Vertex AI serves the models, which knows no mixture of functions and the vendor's own tools. Source: npm @google/genai 2.32. */
  readonly isCloud?: boolean;
}

type SchemaForm = 'json' | 'openapi';

/** A value of `thinkingConfig.thinkingLevel`. */
export type ThinkingLevel = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH' | 'XHIGH';

/** How thinking is controlled: by these levels, from the lowest to the highest, or by a token budget from `least` to `most`. */
export type ThinkingControl =
  | { readonly form: 'level'; readonly levels: readonly [ThinkingLevel, ...ThinkingLevel[]] }
  | { readonly form: 'budget'; readonly least: number; readonly most: number; readonly canBeOff: boolean };

/** The features that differ between models. */
export interface GeminiDialect {
  readonly schema: SchemaForm;
  /** Absent: no thinking, or no control over it. */
  readonly thinking: ThinkingControl | undefined;
  /** Calls since the last user message must carry a thought signature. */
  readonly signedCalls: boolean;
  /** Accepts functions together with the vendor's own tools. */
  readonly mixedTools: boolean;
  /** Accepts functions together with JSON output. */
  readonly jsonWithTools: boolean;
  /** Accepts images and PDF inside a function response. */
  readonly resultMedia: boolean;
  /** Accepts `temperature`, `topP` and `topK`. */
  readonly sampling: boolean;
  /** Accepts `presencePenalty` and `frequencyPenalty`. */
  readonly penalties: boolean;
  /** Accepts a conversation that ends with a model's turn, which the answer continues. */
  readonly prefill: boolean;
}

const levels = (...all: readonly [ThinkingLevel, ...ThinkingLevel[]]): ThinkingControl => ({
  form: 'level',
  levels: all,
});

const newest: GeminiDialect = {
  schema: 'json',
  thinking: levels('LOW', 'MEDIUM', 'HIGH', 'XHIGH'),
  signedCalls: true,
  mixedTools: true,
  jsonWithTools: true,
  resultMedia: true,
  sampling: false,
  penalties: false,
  prefill: false,
};

/** What models before 3.6 still accept. */
const older = { sampling: true, penalties: true, prefill: true } as const;

const beforeThird = {
  ...older,
  signedCalls: false,
  mixedTools: false,
  jsonWithTools: false,
  resultMedia: false,
} as const;

/**
 * Known differences from the newest models. Source: Gemini API documentation, "Thinking", "Function calling", "Gemini
 * 3 developer guide", "Models", as of November 2026.
 */
const known: readonly KnownModels<GeminiDialect>[] = [
  {
    names: /^(?:gemini-(?:pro|ultra)(?:-vision)?$|gemini-1(?!\d)|gemini-2\.0|gemma-[123](?!\d)|learnlm)/,
    differ: { ...beforeThird, schema: 'openapi', thinking: undefined },
  },
  { names: /^gemma-4(?!\d)/, differ: older },
  {
    names: /^gemini-2\.5/,
    // Of the hosts that serve them, only Vertex AI accepts penalties.
    differ: { ...beforeThird, penalties: false, thinking: { form: 'budget', least: 1, most: 24_576, canBeOff: true } },
  },
  {
    names: /^gemini-2\.5-flash-lite/,
    differ: { thinking: { form: 'budget', least: 512, most: 24_576, canBeOff: true } },
  },
  { names: /^gemini-2\.5-pro/, differ: { thinking: { form: 'budget', least: 128, most: 32_768, canBeOff: false } } },
  { names: /^gemini-3(?!\d)/, differ: { thinking: levels('LOW', 'MEDIUM', 'HIGH') } },
  { names: /^gemini-3(?:\.[0-5])?-/, differ: older },
  { names: /^gemini-3\.5-flash-lite/, differ: { sampling: false, penalties: false, prefill: false } },
  {
    names: /^gemini-3(?:\.[0-6])?-flash|^gemini-3(?:\.\d{1,2})?-flash-lite/,
    differ: { thinking: levels('MINIMAL', 'LOW', 'MEDIUM', 'HIGH') },
  },
  { names: /^gemini-3-pro/, differ: { thinking: levels('LOW', 'HIGH') } },
  { names: /^gemini-4-carbon/, differ: { thinking: levels('LOW', 'MEDIUM', 'HIGH') } },
  // Image and speech models; in the third generation only speech models don't think.
  {
    names: /^gemini-2\.5-.*(?:image|tts|audio|live)|^gemini-3(?!\d).*(?:tts|audio|live)/,
    differ: { thinking: undefined },
  },
];

/** The dialect of a model; configured options win. */
export const dialectOf = (model: string, { schema, isCloud }: GeminiOptions): GeminiDialect => {
  const own = traitsOf(newest, known, model);
  const traits = isCloud ? { ...own, mixedTools: false } : own;
  return schema === undefined ? traits : { ...traits, schema };
};
