/** Fields that a refusal may name and that aren't the request itself. Turns, tools and the model aren't in it, so they are never touched. */
export interface TaughtField {
  /** Its names in refusals, in every wire format; hosts also write them with capitals in place of underscores. */
  readonly names: readonly string[];
  /** Its path in requests: members from the body's root; `[]` is every item of a list. */
  readonly paths: readonly string[];
  /** The gateway's name of it, as losses have it, where that isn't its path. */
  readonly loss?: string;
  /** An ordinary English word: it counts only in quotes, in a path, or beside "parameter" and the like. */
  readonly isWord?: true;
  /** Its values in their order, if the nearest allowed one may replace the one that is refused. */
  readonly order?: readonly string[];
  readonly group: TaughtGroup;
}

type TaughtGroup =
  | 'sampling'
  | 'effort'
  | 'verbosity'
  | 'output limit'
  | 'stream options'
  | 'storage'
  | 'service tier'
  | 'strict'
  | 'parallel calls'
  | 'identity'
  | 'cache'
  | 'vendor hints';

/** From the least to the most. */
const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const;

/** Members that hold an output limit. */
export const outputPaths = [
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
  'generationConfig.maxOutputTokens',
] as const;

const simple = (group: TaughtGroup, ...names: readonly string[]): readonly TaughtField[] =>
  names.map((name) => ({ group, names: [name], paths: [name] }));

/**
 * The table of what a refusal teaches. Source: the parameters of the hosts' own pages, and what their servers say in a 400 or 422
 * (vLLM, SGLang, llama.cpp, LM Studio, Ollama, NIM, OpenAI, Anthropic, Gemini and those that forward them).
 */
export const taughtFields: readonly TaughtField[] = [
  {
    group: 'sampling',
    names: ['temperature'],
    paths: ['temperature', 'generationConfig.temperature'],
    loss: 'temperature',
  },
  { group: 'sampling', names: ['top_p'], paths: ['top_p', 'generationConfig.topP'], loss: 'top_p' },
  { group: 'sampling', names: ['top_k'], paths: ['top_k', 'generationConfig.topK'], loss: 'top_k' },
  {
    group: 'sampling',
    names: ['stop', 'stop_sequences'],
    paths: ['stop', 'stop_sequences', 'generationConfig.stopSequences'],
    loss: 'stop',
    isWord: true,
  },
  { group: 'sampling', names: ['seed'], paths: ['seed', 'generationConfig.seed'], loss: 'seed' },
  {
    group: 'sampling',
    names: ['presence_penalty'],
    paths: ['presence_penalty', 'generationConfig.presencePenalty'],
    loss: 'presence_penalty',
  },
  {
    group: 'sampling',
    names: ['frequency_penalty'],
    paths: ['frequency_penalty', 'generationConfig.frequencyPenalty'],
    loss: 'frequency_penalty',
  },
  ...simple('sampling', 'min_p', 'repetition_penalty', 'logit_bias', 'logprobs', 'top_logprobs'),
  {
    group: 'effort',
    names: [
      ...['reasoning_effort', 'effort', 'thinking_level'],
      ...['reasoning_setting', 'reasoning_value', 'reasoning_configuration'],
    ],
    paths: [
      'reasoning_effort',
      'reasoning.effort',
      'output_config.effort',
      'generationConfig.thinkingConfig.thinkingLevel',
    ],
    loss: 'reasoning.effort',
    isWord: true,
    order: efforts,
  },
  { group: 'effort', names: ['reasoning.summary'], paths: ['reasoning.summary'] },
  { group: 'effort', names: ['reasoning'], paths: ['reasoning'], isWord: true },
  { group: 'effort', names: ['output_config'], paths: ['output_config.effort'], loss: 'reasoning.effort' },
  ...simple('effort', 'chat_template_kwargs', 'enable_thinking', 'include_reasoning'),
  {
    group: 'verbosity',
    names: ['verbosity'],
    paths: ['verbosity', 'text.verbosity'],
    loss: 'verbosity',
    order: ['low', 'medium', 'high'],
  },
  { group: 'verbosity', names: ['text'], paths: ['text.verbosity'], loss: 'verbosity', isWord: true },
  {
    group: 'output limit',
    names: ['max_tokens', 'max_new_tokens'],
    paths: outputPaths,
    loss: 'max_tokens',
  },
  { group: 'stream options', names: ['stream_options', 'include_usage'], paths: ['stream_options'] },
  { group: 'storage', names: ['store'], paths: ['store'], isWord: true },
  { group: 'storage', names: ['include'], paths: ['include'], isWord: true },
  ...simple('service tier', 'service_tier', 'inference_geo'),
  {
    group: 'strict',
    names: ['strict'],
    paths: ['tools[].function.strict', 'tools[].strict', 'tools[].tools[].strict'],
    isWord: true,
  },
  ...simple('parallel calls', 'parallel_tool_calls'),
  {
    group: 'parallel calls',
    names: ['disable_parallel_tool_use'],
    paths: ['tool_choice.disable_parallel_tool_use'],
    loss: 'parallel_tool_calls',
  },
  { group: 'identity', names: ['metadata', 'metadata.user_id'], paths: ['metadata'], isWord: true },
  { group: 'identity', names: ['user'], paths: ['user'], isWord: true },
  ...simple('identity', 'safety_identifier', 'client_metadata', 'user_id'),
  {
    group: 'cache',
    names: ['cache_control'],
    paths: [
      'cache_control',
      'system[].cache_control',
      'tools[].cache_control',
      'tools[].function.cache_control',
      'messages[].cache_control',
      'messages[].content[].cache_control',
      'messages[].content[].content[].cache_control',
    ],
  },
  ...simple('cache', 'prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options'),
  ...simple('vendor hints', 'context_management', 'safeguards', 'prediction'),
];

/** Members that are the request itself: what names them first isn't about anything else. */
export const requestMembers: ReadonlySet<string> = new Set([
  'messages',
  'input',
  'contents',
  'content',
  'system',
  'instructions',
  'systemInstruction',
  'tools',
  'tool_choice',
  'tool_calls',
  'tool_use',
  'tool_result',
  'functions',
  'function_call',
  'function_declarations',
  'functionDeclarations',
  'input_schema',
  'parameters',
  'model',
  'response_format',
  'thinking',
]);
