/** What a provider's configuration may say about the servers behind it. */
export interface GeminiOptions {
  /**
   * How the parameters of functions and the schema of an answer are written: `json` as JSON Schema, `openapi` as the subset
   * of OpenAPI that every server takes. Absent: by the model's name.
   */
  readonly schema?: SchemaForm | undefined;
}

export type SchemaForm = 'json' | 'openapi';

/** A step of `thinkingConfig.thinkingLevel`. */
export type ThinkingLevel = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH';

/** How a model is told how much to think: in steps, or in tokens from `least` to `most`. */
export type ThinkingControl =
  | { readonly form: 'level'; readonly levels: ReadonlySet<ThinkingLevel> }
  | { readonly form: 'budget'; readonly least: number; readonly most: number; readonly canBeOff: boolean };

/** What one model takes, as far as models differ. */
export interface GeminiDialect {
  readonly schema: SchemaForm;
  /** Absent: the model doesn't think, or nobody knows how to tell it. */
  readonly thinking: ThinkingControl | undefined;
  /** Calls since the user's last words must carry a thought signature. */
  readonly signedCalls: boolean;
  /** Takes functions beside the vendor's own tools. */
  readonly mixedTools: boolean;
  /** Takes functions beside an answer in JSON. */
  readonly jsonWithTools: boolean;
  /** Takes images and PDF inside a function's response. */
  readonly resultMedia: boolean;
}

/**
 * What the model of this name takes. Names without a version that end in `latest` stand for the third generation; unknown ones
 * are taken for old models. Source: Gemini API documentation, "Thinking", "Function calling", "Gemini 3 developer guide".
 */
export const dialectOf = (model: string, options: GeminiOptions): GeminiDialect => {
  const version = versionOf(model);
  const third = version >= 3;
  return {
    schema: options.schema ?? (version >= 2.5 ? 'json' : 'openapi'),
    thinking: thinkingOf(model, version),
    signedCalls: third,
    mixedTools: third,
    jsonWithTools: third,
    resultMedia: third,
  };
};

/** `gemini-2.5-flash` is 2.5; 0 when the name has no version. */
const versionOf = (model: string): number => {
  const version = /gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1];
  if (version !== undefined) return Number(version);
  return /gemini-[a-z-]*latest$/.test(model) ? 3 : 0;
};

const thinkingOf = (model: string, version: number): ThinkingControl | undefined => {
  if (version < 2.5 || /-(?:image|tts|audio|live)\b/.test(model)) return undefined;
  const pro = /-pro\b/.test(model);
  if (version >= 3) return { form: 'level', levels: pro ? (version > 3 ? newerProLevels : proLevels) : flashLevels };
  if (pro) return { form: 'budget', least: 128, most: 32_768, canBeOff: false };
  return { form: 'budget', least: /-lite\b/.test(model) ? 512 : 1, most: 24_576, canBeOff: true };
};

const flashLevels: ReadonlySet<ThinkingLevel> = new Set<ThinkingLevel>(['MINIMAL', 'LOW', 'MEDIUM', 'HIGH']);
const newerProLevels: ReadonlySet<ThinkingLevel> = new Set<ThinkingLevel>(['LOW', 'MEDIUM', 'HIGH']);
const proLevels: ReadonlySet<ThinkingLevel> = new Set<ThinkingLevel>(['LOW', 'HIGH']);
