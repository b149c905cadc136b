import type { ServiceTier } from '../../engine/model/event.ts';
import type { JsonObject } from '../../engine/model/json/json.ts';
import type { Losses } from '../../engine/model/loss.ts';
import type { CacheMark, Effort } from '../../engine/model/request.ts';
import { memberPath } from '../../engine/model/schema.ts';
import type { KnownModels } from '../../engine/model/transformer.ts';
import type { CallIdForm } from '../../engine/model/wire/call-ids.ts';
import { anyToolSchema, type ToolSchemaForm } from '../../engine/model/wire/tool-schema.ts';
import type { ChatRule } from './grammar.ts';

/** Request members that only some Chat Completions servers accept. */
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
  | 'custom_tools'
  /** `logprobs` and `top_logprobs`, for the probabilities of decisions. */
  | 'logprobs';

/**
 * A vendor's variant of Chat Completions, as data: each row overrides `plainDialect`. Describes the vendor's newest
 * models; separate rows list what other models are known to lack.
 */
export interface ChatDialect {
  /** The name of the output token limit. */
  readonly maxTokens: 'max_tokens' | 'max_completion_tokens';
  /** The role of instructions. */
  readonly systemRole: 'system' | 'developer';
  /**
   * Where instructions may stand. `first`: in one message at the front; later ones become the user's text at their place, and
   * messages of one role in a row become one, as strict chat templates require.
   */
  readonly systemPlace: 'anywhere' | 'first';
  /** Text-only content is one string, never a list, empty or null. */
  readonly plainText: boolean;
  /** It is known to refuse a list of texts as content. */
  readonly refusesTextLists: boolean;
  /** Leaves out members at their default: some servers reject members that they don't know, whatever the value. */
  readonly omitsDefaults: boolean;
  /** The optional members that it accepts; all others are recorded as losses. */
  readonly fields: ReadonlySet<ChatField>;
  /** Members that can't be sent with another one, or while reasoning is requested. */
  readonly excludes: readonly Exclusion[];
  /** Its names for members, where they differ. */
  readonly fieldNames: Readonly<Partial<Record<ChatField, string>>>;
  /** The lowest and the highest accepted temperature; absent: the reference's. */
  readonly temperatures: readonly [least: number, most: number] | undefined;
  /** The highest output token limit that it accepts; absent: the model's. */
  readonly mostTokens: number | undefined;
  /**
   * Which requests of chat clients are relayed: all, those without web search, those without what the vendor is known to
   * refuse, or none.
   */
  readonly relays: 'all' | 'without-web-search' | 'without-refused' | 'none';
  /** The members that it is known to refuse; others that `fields` lacks may be accepted. */
  readonly refused: ReadonlySet<ChatField>;
  /** Members of a chat client's body, mostly unmodelled ones, that this vendor rejects. */
  readonly rejectedExtra: ReadonlySet<string>;
  /**
   * For a vendor that rejects unknown members, also in messages and tools: the unmodelled body members that it
   * accepts.
   */
  readonly acceptedExtra: ReadonlySet<string> | undefined;
  /** The member for the end user's id, and the ids that fit it; others are hashed. */
  readonly user: { readonly field: 'user' | 'safety_identifier' | 'user_id'; readonly fits: RegExp } | undefined;
  /** The vendor's value for each service tier; a missing tier is a loss. */
  readonly serviceTiers: Readonly<Partial<Record<ServiceTier, string>>>;
  /** The call ids that it accepts; absent: all. */
  readonly callIds: CallIdForm | undefined;
  /** Its dialect of JSON Schema for a tool's parameters. */
  readonly toolSchema: ToolSchemaForm;
  /** Requires parameters on every function, also on one without arguments. */
  readonly requiresParameters: boolean;
  /** The values of `tool_choice` that it accepts besides `auto`. `named`: one function. */
  readonly toolChoices: ReadonlySet<'none' | 'required' | 'named'>;
  /** Its word for the tool choice `required`. */
  readonly requiredWord: 'required' | 'any';
  /** Accepts a user message directly after a tool message. */
  readonly userAfterTool: boolean;
  /** The maximum number of stop sequences. */
  readonly maxStops: number;
  /** The member for cache marks; absent: not supported. */
  readonly cacheMarks: 'cache_control' | 'prompt_cache_breakpoint' | undefined;
  /** Accepts `response_format` of the type `json_object`. */
  readonly jsonMode: boolean;
  /** Accepts `stream_options`, which ask for the usage of a stream. */
  readonly streamUsage: boolean;
  /** Requires the word "JSON" in the prompt of a JSON request. */
  readonly jsonWord: boolean;
  /** Accepts `response_format` of the type `json_schema`. */
  readonly jsonSchema: boolean;
  /** Accepts images. */
  readonly images: boolean;
  /** Accepts images by URL. */
  readonly imageUrls: boolean;
  /** Accepts images in tool messages. */
  readonly toolImages: boolean;
  /** Accepts `file` parts with a PDF in user messages. */
  readonly files: boolean;
  /** Accepts `input_audio` parts in user messages. */
  readonly audio: boolean;
  /**
   * A final assistant message. `kept`: the model may start a new one; `prefix`: marked so, the answer continues it; `followed`:
   * it is rejected, so a short user message follows it.
   */
  readonly finalAssistant: 'kept' | 'prefix' | 'followed';
  /** When it rejects a forced tool call: while thinking is requested, unless it is off, or in any case; absent: never. */
  readonly unforced: 'asked-to-think' | 'unless-off' | 'always' | undefined;
  /** Absent: no reasoning controls. */
  readonly reasoning: ReasoningControl | undefined;
  /** When reasoning must be off for tools: when an effort is requested, always, or when a call is forced; absent: never. */
  readonly toolsWithoutReasoning: 'asked' | 'always' | 'forced' | undefined;
  /** The members that make it return reasoning separately from the text; absent: none needed. */
  readonly reasoningReply: ReasoningReply | undefined;
  /** The members by which a client chooses the form of reasoning; they are mutually exclusive. */
  readonly reasoningMembers: readonly string[];
  /** The tags around reasoning that its models may write at the start of the text. */
  readonly reasoningTags: readonly string[];
  readonly reasoningHistory: ReasoningHistory | undefined;
  /** The rules of the format's grammar that its answers are known to break. */
  readonly breaks: readonly ChatRule[];
  /** How web search is requested; absent: not supported. */
  readonly webSearch: 'web_search_options' | 'plugins' | 'search_settings' | undefined;
}

/** What is left out beside another member, or while reasoning is requested. */
interface Exclusion {
  readonly beside: ChatField | 'reasoning';
  readonly left: readonly ChatField[];
}

/**
 * A vendor's reasoning controls. `reasoning_effort`: an effort value; `reasoning`: an object with an effort or a budget;
 * `switch`: members that switch it on or off, plus `reasoning_effort` if `efforts` has values.
 */
export type ReasoningControl = EffortControl | SwitchControl;

interface EffortControl {
  readonly form: 'reasoning_effort' | 'reasoning';
  /** The vendor's value for each effort; a missing effort is a loss. */
  readonly efforts: Readonly<Partial<Record<Effort, string | undefined>>>;
}

export interface SwitchControl extends Pick<EffortControl, 'efforts'> {
  readonly form: 'switch';
  readonly on: JsonObject;
  readonly off: JsonObject;
  /** The member for a budget in tokens; absent: budgets become efforts. */
  readonly budget?: string;
  /** Reasons only in streams: it must be switched off otherwise. */
  readonly streamsOnly?: boolean;
}

/** The switch `thinking: {type}`. */
export const thinkingSwitch = {
  form: 'switch',
  on: { thinking: { type: 'enabled' } },
  off: { thinking: { type: 'disabled' } },
  efforts: {},
} as const satisfies SwitchControl;

/** Request members that choose the form of returned reasoning. */
interface ReasoningReply {
  /** When they are sent: always, or only with reasoning controls, since non-reasoning models reject them. */
  readonly when: 'always' | 'asked';
  /** Returns reasoning separately from the text. */
  readonly shown: JsonObject;
  /** Returns no reasoning; absent: it can't be hidden. */
  readonly hidden?: JsonObject;
}

/** How earlier reasoning is sent back; absent in a dialect: never. */
interface ReasoningHistory {
  readonly field: 'reasoning_content' | 'reasoning' | 'reasoning_details';
  /** The assistant messages that carry it: all, or only those with tool calls. */
  readonly on: 'all' | 'calls';
  /**
   * The model's vendor signs reasoning: unsigned text isn't sent back, and thinking is off in a tool loop whose calls
   * lack it.
   */
  readonly signed?: boolean;
  /** A message with tool calls must carry it unless reasoning is off; `placeholder` replaces missing reasoning. */
  readonly required: boolean;
  /** Absent: an empty text. */
  readonly placeholder?: string;
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

/** Chat Completions as in the reference, for vendors with no known differences. */
export const plainDialect: ChatDialect = {
  maxTokens: 'max_tokens',
  systemRole: 'system',
  systemPlace: 'anywhere',
  plainText: false,
  refusesTextLists: false,
  omitsDefaults: false,
  excludes: [],
  fieldNames: {},
  temperatures: undefined,
  mostTokens: undefined,
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
    'logprobs',
  ]),
  relays: 'all',
  refused: new Set(),
  rejectedExtra: new Set(),
  acceptedExtra: undefined,
  user: { field: 'user', fits: /^[\s\S]{1,64}$/ },
  serviceTiers: {
    auto: 'auto',
    default: 'default',
    flex: 'flex',
    scale: 'scale',
    priority: 'priority',
  },
  callIds: undefined,
  toolSchema: anyToolSchema,
  requiresParameters: false,
  toolChoices: new Set(['none', 'required', 'named']),
  requiredWord: 'required',
  userAfterTool: true,
  streamUsage: true,
  maxStops: 4,
  cacheMarks: undefined,
  jsonMode: true,
  jsonWord: false,
  jsonSchema: true,
  images: true,
  imageUrls: true,
  toolImages: false,
  files: true,
  audio: true,
  finalAssistant: 'kept',
  unforced: undefined,
  reasoning: { form: 'reasoning_effort', efforts: plainEfforts },
  toolsWithoutReasoning: undefined,
  reasoningReply: undefined,
  reasoningMembers: [],
  reasoningTags: [],
  reasoningHistory: undefined,
  breaks: [],
  webSearch: undefined,
};

/**
 * Models that request web search by a body member; newer ones don't. Source: OpenAI guide "Web search", as of
 * November 2026.
 */
export const searchModels: KnownModels<ChatDialect> = {
  names: /^gpt-.*search/,
  differ: { webSearch: 'web_search_options' },
};

/** Whether the dialect accepts this member. */
export const takes = ({ fields }: ChatDialect, field: ChatField): boolean => fields.has(field);

/** A cache mark as a member of the node at `at`; empty, with a loss, if the dialect has none. */
export const cacheMember = (
  cache: CacheMark | undefined,
  { cacheMarks }: ChatDialect,
  at: string | undefined,
  losses: Losses,
): JsonObject => {
  if (!cache) return {};
  const path = memberPath(at ?? 'messages', 'cache_control');
  if (!cacheMarks) {
    losses.drop(path);
    return {};
  }
  if (cacheMarks === 'cache_control') {
    return { cache_control: { type: 'ephemeral', ...(cache.ttl && { ttl: cache.ttl }) } };
  }
  losses.approximate(path, 'prompt_cache_breakpoint');
  return { prompt_cache_breakpoint: { mode: 'explicit' } };
};
