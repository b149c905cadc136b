import type { JsonObject } from '../../engine/model/json.ts';
import type { Effort } from '../../engine/model/request.ts';

/** Request members that not every speaker of Chat Completions knows. */
export type ChatField =
  | 'temperature'
  | 'top_p'
  | 'top_k'
  | 'stop'
  | 'seed'
  | 'presence_penalty'
  | 'frequency_penalty'
  | 'logit_bias'
  | 'parallel_tool_calls'
  | 'service_tier'
  | 'metadata'
  | 'verbosity'
  | 'prompt_cache_key'
  /** `messages[].name`. */
  | 'name'
  /** `tools[].function.strict`. */
  | 'strict'
  /** `refusal` parts in an assistant message. */
  | 'refusal'
  /** `tool_choice` of the type `allowed_tools`. */
  | 'allowed_tools'
  /** Tools of the type `custom`, and their calls. */
  | 'custom_tools';

/** How one vendor's Chat Completions differ from another's, as data: a vendor's row gives its own members over `plainDialect`. */
export interface ChatDialect {
  /** The name of the limit on the answer's tokens. */
  readonly maxTokens: 'max_tokens' | 'max_completion_tokens';
  /** The role of instructions. */
  readonly systemRole: 'system' | 'developer';
  /** The optional members that it takes; all others are recorded as losses. */
  readonly fields: ReadonlySet<ChatField>;
  /** Which requests of chat clients may go out as they came: the vendor takes all that the reference has, or nearly so. */
  readonly asItCame: 'all' | 'without-web-search' | 'none';
  /** Members of a chat client's body, unknown to the model of requests, that this vendor would refuse. */
  readonly refusedExtra: ReadonlySet<string>;
  /** For a vendor that refuses all it doesn't know, in messages and tools too: those of them that it takes in the body. */
  readonly takenExtra: ReadonlySet<string> | undefined;
  /** Models that refuse some of `fields`, such as reasoning models that take no sampling. */
  readonly rigid: { readonly models: RegExp; readonly refuses: ReadonlySet<ChatField> } | undefined;
  /** The member that takes the end user's name, what it may hold at most, and which texts fit it. */
  readonly user: { readonly field: 'user' | 'safety_identifier' | 'user_id'; readonly fits: RegExp } | undefined;
  /** Its word for each service tier that clients name; one that is missing is a loss. */
  readonly serviceTiers: Readonly<Record<string, string>>;
  /** Most stop sequences it takes. */
  readonly maxStops: number;
  /** Where cache marks go, and for which models; absent: nowhere. */
  readonly cacheMarks:
    | { readonly form: 'cache_control' | 'prompt_cache_breakpoint'; readonly models: RegExp }
    | undefined;
  /** Whether it takes `response_format` of the type `json_object`. */
  readonly jsonMode: boolean;
  /** Whether the prompt of a request for JSON must hold the word. */
  readonly jsonWord: boolean;
  /** Models that take `response_format` of the type `json_schema`; absent: none. */
  readonly jsonSchema: RegExp | undefined;
  /** Models that see images; absent: none. */
  readonly images: RegExp | undefined;
  /** Whether tool messages may hold images. */
  readonly toolImages: boolean;
  /** Whether user messages may hold `file` parts with a PDF. */
  readonly files: boolean;
  /** Whether user messages may hold `input_audio` parts. */
  readonly audio: boolean;
  /** Whether an assistant's message at the end goes on as the answer once it is marked `prefix`. */
  readonly prefix: boolean;
  /** Models that can't be made to call a tool while they think, and those of them that think unless told not to. */
  readonly unforced: { readonly models: RegExp; readonly thinkers: RegExp } | undefined;
  readonly reasoning: ReasoningControl | undefined;
  /** How a model is told to give its reasoning, where it wouldn't give it apart from the text by itself; the first match counts. */
  readonly reasoningReply: readonly ReasoningReply[];
  readonly reasoningHistory: ReasoningHistory | undefined;
  /** How it is asked to search the web, and which models can; absent: it can't. */
  readonly webSearch:
    | { readonly form: 'web_search_options' | 'plugins' | 'search_settings'; readonly models: RegExp }
    | undefined;
}

/** How a vendor is told how much to think. */
export interface ReasoningControl {
  /**
   * `reasoning_effort`: a word; `thinking`: a switch `{type: "enabled" | "disabled"}` and, where `efforts` has one, a word in
   * `reasoning_effort`; `reasoning`: an object that takes an effort or a budget.
   */
  readonly form: 'reasoning_effort' | 'thinking' | 'reasoning';
  /** The vendor's word for each effort; one that is missing is a loss. */
  readonly efforts: Readonly<Partial<Record<Effort, string>>>;
  /** Models that take it; others would refuse it. */
  readonly models: RegExp;
  /** Models with words of their own in place of `efforts`; the first match counts. */
  readonly special?: readonly { readonly models: RegExp; readonly efforts: ReasoningControl['efforts'] }[];
}

/** Members of a request that tell models how to give their reasoning. */
export interface ReasoningReply {
  readonly models: RegExp;
  /** Apart from the text. */
  readonly shown: JsonObject;
  /** Not at all. */
  readonly hidden: JsonObject;
}

/** How earlier reasoning is sent back. Absent in a dialect: not at all. */
export interface ReasoningHistory {
  readonly field: 'reasoning_content' | 'reasoning' | 'reasoning_details';
  /** On which of the assistant's messages: all, or only those that call tools. */
  readonly on: 'all' | 'calls';
  /**
   * Models whose vendor seals its reasoning: text without a seal isn't sent to them, and they don't think in a tool loop whose
   * calls come without it.
   */
  readonly sealed?: RegExp;
  /** Whether a message that calls tools must have it while reasoning isn't off: an empty text stands for what was lost. */
  readonly required: boolean;
}

/** Every effort under its own name. */
export const plainEfforts = {
  none: 'none',
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'max',
} as const satisfies Record<Effort, string>;

/** Chat Completions as its reference has it, for a vendor of which nothing more is known. */
export const plainDialect: ChatDialect = {
  maxTokens: 'max_tokens',
  systemRole: 'system',
  fields: new Set<ChatField>([
    'temperature',
    'top_p',
    'stop',
    'seed',
    'presence_penalty',
    'frequency_penalty',
    'logit_bias',
    'parallel_tool_calls',
    'service_tier',
    'metadata',
    'verbosity',
    'prompt_cache_key',
    'name',
    'strict',
    'refusal',
    'allowed_tools',
    'custom_tools',
  ]),
  asItCame: 'all',
  refusedExtra: new Set(),
  takenExtra: undefined,
  rigid: undefined,
  user: { field: 'user', fits: /^[\s\S]{1,512}$/ },
  serviceTiers: {
    auto: 'auto',
    default: 'default',
    standard_only: 'default',
    flex: 'flex',
    scale: 'scale',
    priority: 'priority',
  },
  maxStops: 4,
  cacheMarks: undefined,
  jsonMode: true,
  jsonWord: false,
  jsonSchema: /./,
  images: /./,
  toolImages: false,
  files: true,
  audio: true,
  prefix: false,
  unforced: undefined,
  reasoning: { form: 'reasoning_effort', efforts: plainEfforts, models: /./ },
  reasoningReply: [],
  reasoningHistory: undefined,
  webSearch: { form: 'web_search_options', models: /search/ },
};
