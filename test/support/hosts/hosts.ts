import {
  distinctTools,
  functionsOnly,
  inRange,
  membersTogether,
  noMembers,
  noStrict,
  notTogether,
  oneOf,
  onlyMembers,
  toolNames,
} from './body-checks.ts';
import { type Breach, type Check, refuses } from './check.ts';
import { members, otherThan } from './looks.ts';
import {
  alternatingRoles,
  argumentsAsText,
  assistantAsString,
  callIds,
  callsWith,
  knownMessageMembers,
  knownRoles,
  lastIsNotAssistant,
  noEmptyText,
  noUserAfterTool,
  oneSystemFirst,
  pairedCalls,
  reasoningWithCalls,
  textAsString,
  textOnly,
} from './message-checks.ts';
import { geminiSchemas, moonshotSchemas, noReferences, noRootUnion, rootObject } from './schema-checks.ts';

/** A host that speaks Chat Completions, and what it refuses. */
export interface StrictHost {
  /** As users configure it, but for the scheme. */
  readonly baseUrl: string;
  readonly model: string;
  /** Options of the provider's format that the address doesn't tell. */
  readonly options?: object;
  readonly checks: readonly Check[];
  /** The status of a refusal. Default: 400. */
  readonly refusesWith?: number;
  /** The body of an error; `breaches`: what is refused, if that is what it is about. */
  readonly failure: (status: number, words: string, breaches?: readonly Breach[]) => unknown;
  /** The member of an answer that holds reasoning; absent: its answers show none. */
  readonly reasoning?: 'reasoning' | 'reasoning_content';
  /** Members that each call of an answer has beside the usual ones. */
  readonly callMembers?: Readonly<Record<string, unknown>>;
  /** How it says that the prompt is too long. */
  readonly overflow: { readonly status: number; readonly words: string };
}

const standardRoles = knownRoles('system', 'user', 'assistant', 'tool');

/** What all of them refuse, OpenAI as well. */
const everywhere: readonly Check[] = [pairedCalls, argumentsAsText, membersTogether, toolNames(), distinctTools];

/** What all others refuse. */
const common: readonly Check[] = [...everywhere, functionsOnly];

/** What the request types of servers and hosts know at least. */
const commonEfforts = oneOf('reasoning_effort', 'none', 'low', 'medium', 'high');

/** Servers whose template is the model's own, with a model of Qwen 3.5 or later. */
const qwenTemplate: readonly Check[] = [...common, standardRoles, oneSystemFirst];
const qwenServer: readonly Check[] = [...qwenTemplate, commonEfforts];

/** Source: reports of users, "invalid reasoning value". */
const ollamaEfforts = refuses(
  otherThan('reasoning_effort', 'high', 'medium', 'low', 'max', 'none'),
  ({ value }) => `invalid reasoning value: '${value}' (must be "high", "medium", "low", "max", or "none")`,
);

export const openAiFailure = (status: number, message: string, [breach]: readonly Breach[] = []) => ({
  error: {
    message,
    type: status < 500 ? 'invalid_request_error' : 'server_error',
    param: breach?.param ?? null,
    code: breach?.code ?? null,
  },
});

/** What a validator of Python's says of a body: each member with its place. */
const validationDetail = (breaches: readonly Breach[] = []) => ({
  detail: breaches.map(({ path, words }) => ({
    type: 'extra_forbidden',
    loc: ['body', ...path.split('.')],
    msg: words,
  })),
});

/** Source: reports of users, "Argument not supported on this model: presencePenalty". */
const xaiArguments = refuses(
  members('stop', 'presence_penalty', 'frequency_penalty'),
  ({ name }) => `Argument not supported on this model: ${name.replace(/_p/, 'P')}`,
);

const doorSignature = { extra_content: { google: { thought_signature: 'Q2lRQmp6MXJYMnRob3VnaHQ=' } } };

/**
 * Strict hosts, by name. Sources: the hosts' own pages, their clients' sources and reports of users, November 2026. What is merely
 * ignored isn't refused here.
 */
export const strictHosts = {
  openai: {
    baseUrl: 'http://api.openai.com/v1',
    model: 'gpt-5.5',
    options: { api: 'chat' },
    checks: [...everywhere, rootObject, callIds(/^.{1,40}$/, 'string too long. Expected maximum length 40')],
    failure: openAiFailure,
    overflow: {
      status: 400,
      words: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
    },
  },
  vllm: {
    baseUrl: 'http://vllm.lan:8000/v1',
    model: 'Qwen/Qwen3.8-27B',
    checks: qwenServer,
    failure: (code, message) => ({ error: { message, type: 'BadRequestError', param: null, code } }),
    reasoning: 'reasoning',
    overflow: {
      status: 400,
      words: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens in the messages.",
    },
  },
  sglang: {
    baseUrl: 'http://sglang.lan:30000/v1',
    model: 'Qwen/Qwen3.8-27B',
    checks: qwenServer,
    failure: (code, message) => ({ object: 'error', message, type: 'BadRequest', param: null, code }),
    reasoning: 'reasoning_content',
    overflow: {
      status: 400,
      words: "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    },
  },
  'llama.cpp': {
    baseUrl: 'http://llama.lan:8080/v1',
    model: 'qwen3.8-27b-q4_k_m',
    checks: [...qwenTemplate, noReferences],
    refusesWith: 500,
    failure: (code, message) => ({ error: { code, message, type: 'server_error' } }),
    reasoning: 'reasoning_content',
    overflow: {
      status: 400,
      words: 'request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it',
    },
  },
  ollama: {
    baseUrl: 'http://ollama.lan:11434/v1',
    model: 'qwen3.8:27b',
    checks: [...qwenTemplate, ollamaEfforts],
    failure: openAiFailure,
    reasoning: 'reasoning',
    overflow: { status: 400, words: 'prompt too long; exceeded max context length by 808 tokens' },
  },
  'ollama cloud': {
    baseUrl: 'http://ollama.com/v1',
    model: 'qwen3.8-coder:480b-cloud',
    checks: [...qwenTemplate, ollamaEfforts, textAsString],
    failure: (_status, error) => ({ error }),
    reasoning: 'reasoning',
    overflow: { status: 400, words: 'prompt too long; exceeded max context length by 808 tokens' },
  },
  'lm studio': {
    baseUrl: 'http://lmstudio.lan:1234/v1',
    model: 'qwen/qwen3.8-27b',
    checks: [...qwenServer, alternatingRoles, oneOf('tool_choice', 'auto', 'none', 'required')],
    failure: (_status, error) => ({ error }),
    reasoning: 'reasoning_content',
    overflow: {
      status: 400,
      words:
        'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 9000 >= n_ctx: 8192).',
    },
  },
  mistral: {
    baseUrl: 'http://api.mistral.ai/v1',
    model: 'devstral-medium-2607',
    checks: [
      ...common,
      standardRoles,
      noUserAfterTool,
      lastIsNotAssistant,
      callIds(/^[A-Za-z0-9]{9}$/, 'Tool call id must be a-z, A-Z, 0-9, with a length of 9'),
      onlyMembers(
        ...['model', 'messages', 'temperature', 'top_p', 'max_tokens', 'stream', 'stop', 'random_seed', 'tools'],
        ...['response_format', 'tool_choice', 'presence_penalty', 'frequency_penalty', 'n', 'prediction'],
        ...['parallel_tool_calls', 'prompt_mode', 'safe_prompt'],
      ),
      knownMessageMembers('role', 'content', 'tool_calls', 'tool_call_id', 'name', 'prefix'),
    ],
    failure: (status, message, breaches) =>
      status === 422
        ? {
            object: 'error',
            message: validationDetail(breaches),
            type: 'invalid_request_error',
            param: null,
            code: null,
          }
        : { object: 'error', message, type: 'invalid_request_message_order', param: null, code: '3230' },
    overflow: {
      status: 400,
      words: 'Prompt contains 9000 tokens, too large for model with 8192 maximum context length',
    },
  },
  xai: {
    baseUrl: 'http://api.x.ai/v1',
    model: 'grok-4.20-reasoning',
    checks: [
      ...common,
      standardRoles,
      xaiArguments,
      refuses(
        members('reasoning_effort'),
        () => 'Model grok-4.20-reasoning does not support parameter reasoningEffort.',
      ),
      noMembers('store'),
    ],
    failure: (_status, error) => ({ code: 'Client specified an invalid argument', error }),
    reasoning: 'reasoning_content',
    overflow: {
      status: 400,
      words: "This model's maximum prompt length is 8192 but the request contains 9000 tokens.",
    },
  },
  'xai 4.5': {
    baseUrl: 'http://api.x.ai/v1',
    model: 'grok-4.5',
    checks: [
      ...common,
      standardRoles,
      xaiArguments,
      noMembers('store'),
      oneOf('reasoning_effort', 'low', 'medium', 'high'),
    ],
    failure: (_status, error) => ({ code: 'Client specified an invalid argument', error }),
    reasoning: 'reasoning_content',
    overflow: {
      status: 400,
      words: "This model's maximum prompt length is 8192 but the request contains 9000 tokens.",
    },
  },
  fireworks: {
    baseUrl: 'http://api.fireworks.ai/inference/v1',
    model: 'accounts/fireworks/models/gpt-oss-120b',
    checks: [...common, oneOf('reasoning_effort', 'low', 'medium', 'high')],
    failure: (_status, message) => ({ error: { message, object: 'error', type: 'invalid_request_error', code: null } }),
    reasoning: 'reasoning_content',
    overflow: { status: 400, words: 'The prompt is too long: 9000, model maximum context length: 8192' },
  },
  copilot: {
    baseUrl: 'http://api.githubcopilot.com',
    model: 'claude-sonnet-4.6',
    checks: [
      ...common,
      notTogether('temperature', 'top_p'),
      notTogether('reasoning_effort', 'temperature'),
      oneOf('reasoning_effort', 'low', 'medium', 'high', 'max'),
    ],
    failure: (_status, message) => ({ error: { message, code: 'invalid_request_body' } }),
    overflow: { status: 400, words: 'prompt token count of 9000 exceeds the limit of 8192' },
  },
  kimi: {
    baseUrl: 'http://api.moonshot.ai/v1',
    model: 'kimi-k3',
    checks: [
      ...common,
      standardRoles,
      rootObject,
      moonshotSchemas,
      noStrict,
      noMembers('temperature', 'top_p', 'n', 'presence_penalty', 'frequency_penalty', 'thinking'),
      oneOf('reasoning_effort', 'low', 'high', 'max'),
      reasoningWithCalls('reasoning_content'),
    ],
    failure: (_status, message) => ({ error: { message, type: 'invalid_request_error' } }),
    reasoning: 'reasoning_content',
    overflow: { status: 400, words: 'Your request exceeded model token limit: 8192 (requested: 9000)' },
  },
  'z.ai': {
    baseUrl: 'http://api.z.ai/api/paas/v4',
    model: 'glm-5.3',
    checks: [
      ...common,
      standardRoles,
      noEmptyText,
      textOnly,
      noStrict,
      inRange('max_tokens', 1, 131_072),
      noMembers('max_completion_tokens', 'store'),
      oneOf('reasoning_effort', 'low', 'high', 'max'),
    ],
    failure: (_status, message) => ({ error: { code: /exceeds/.test(message) ? '1261' : '1210', message } }),
    reasoning: 'reasoning_content',
    overflow: { status: 400, words: 'prompt exceeds max length' },
  },
  dashscope: {
    baseUrl: 'http://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    model: 'qwen3.8-max',
    checks: [...qwenServer, oneOf('tool_choice', 'auto', 'none')],
    failure: (_status, message) => ({
      error: { code: 'invalid_parameter_error', message, type: 'invalid_request_error' },
      request_id: 'request',
    }),
    reasoning: 'reasoning_content',
    overflow: { status: 400, words: 'Range of input length should be [1, 8192]' },
  },
  minimax: {
    baseUrl: 'http://api.minimax.io/v1',
    model: 'MiniMax-M3',
    checks: [...common, standardRoles, oneSystemFirst, inRange('temperature', Number.MIN_VALUE, 1)],
    failure: (_status, message) => ({ type: 'error', error: { type: 'bad_request_error', message } }),
    overflow: { status: 400, words: 'invalid params, context window exceeds limit (2013)' },
  },
  cerebras: {
    baseUrl: 'http://api.cerebras.ai/v1',
    model: 'gpt-oss-120b',
    checks: [
      ...common,
      oneOf('reasoning_effort', 'low', 'medium', 'high'),
      oneOf('tool_choice', 'auto', 'none'),
      refuses(
        members(
          ...['frequency_penalty', 'presence_penalty', 'logit_bias', 'parallel_tool_calls', 'service_tier'],
          ...['prompt_cache_key', 'store'],
        ),
        ({ name }) => `property '${name}' is unsupported`,
      ),
    ],
    failure: (_status, message) => ({
      message,
      type: 'invalid_request_error',
      param: 'validation_error',
      code: 'wrong_api_format',
    }),
    reasoning: 'reasoning',
    overflow: { status: 400, words: 'Please reduce the length of the messages or completion.' },
  },
  together: {
    baseUrl: 'http://api.together.xyz/v1',
    model: 'zai-org/GLM-5.3',
    checks: [...common, standardRoles, noStrict, noMembers('store', 'reasoning_effort', 'max_completion_tokens')],
    failure: openAiFailure,
    reasoning: 'reasoning',
    overflow: {
      status: 400,
      words: "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
    },
  },
  nim: {
    baseUrl: 'http://integrate.api.nvidia.com/v1',
    model: 'deepseek-ai/deepseek-v3.2',
    checks: [
      ...common,
      standardRoles,
      assistantAsString,
      noStrict,
      refuses(
        members('store', 'reasoning_effort', 'max_completion_tokens'),
        ({ name }) => `Validation: Unsupported parameter(s): \`${name}\``,
      ),
    ],
    failure: (code, message) => ({ message, type: 'Bad Request', code }),
    reasoning: 'reasoning_content',
    overflow: {
      status: 400,
      words: "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens in the messages.",
    },
  },
  "gemini's door": {
    baseUrl: 'http://generativelanguage.googleapis.com/v1beta/openai',
    model: 'gemini-3.6-flash',
    checks: [
      ...common,
      rootObject,
      noRootUnion,
      geminiSchemas,
      oneOf('reasoning_effort', 'minimal', 'low', 'medium', 'high'),
      refuses(
        members('store', 'presence_penalty', 'frequency_penalty'),
        ({ name }) => `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`,
      ),
      callsWith(doorSignature, 'Function call is missing a thought_signature in functionCall parts.'),
    ],
    failure: (code, message) => [{ error: { code, message, status: 'INVALID_ARGUMENT' } }],
    callMembers: doorSignature,
    overflow: {
      status: 400,
      words: 'The input token count (9000) exceeds the maximum number of tokens allowed (8192).',
    },
  },
} as const satisfies Readonly<Record<string, StrictHost>>;
