import type { KnownModels } from '../../engine/model/transformer.ts';
import { nearestEfforts } from '../../engine/model/wire/efforts.ts';
import { narrowToolSchema } from '../../engine/model/wire/tool-schema.ts';
import { type ChatDialect, thinkingSwitch } from '../../protocols/chat/index.ts';
import { type DialectRow, without } from './dialect-row.ts';

/** A server that accepts Chat Completions as OpenAI's does, more or less. */
interface HostRow extends DialectRow {
  /** Its host names; a name also stands for those below it. */
  readonly hosts?: readonly string[];
  /** Its usual port. A host name of another row wins. */
  readonly port?: number;
  /** Its paths have no version. */
  readonly unversioned?: true;
  /** Differences of its models from the newest ones. */
  readonly models?: readonly KnownModels<ChatDialect>[];
}

/** Efforts of models that know three and always reason. */
const threeEfforts = nearestEfforts('low', 'high', 'max');

/** A model or host that knows these efforts alone. */
const effortsOf = (...known: Parameters<typeof nearestEfforts>): ChatDialect['reasoning'] => ({
  form: 'reasoning_effort',
  efforts: nearestEfforts(...known),
});

/** The efforts that all servers with `reasoning_effort` know. */
const commonEfforts = effortsOf('none', 'low', 'medium', 'high');

const onCalls = { on: 'calls', required: false } as const;

/** The switch of Qwen's chat template, which others took over. */
const templateSwitch: ChatDialect['reasoning'] = {
  form: 'switch',
  on: { chat_template_kwargs: { enable_thinking: true } },
  off: { chat_template_kwargs: { enable_thinking: false } },
  // The types for `reasoning_effort` of vLLM to 0.15 and of SGLang lack the other words.
  efforts: nearestEfforts('none', 'low', 'medium', 'high'),
};

const enableThinking = {
  form: 'switch',
  on: { enable_thinking: true },
  off: { enable_thinking: false },
  efforts: {},
  budget: 'thinking_budget',
} as const;

const noReasoning = { reasoning: undefined } as const;

const noStorage: ChatDialect['rejectedExtra'] = new Set(['store']);

/**
 * The known hosts: what differs from the form that all of them accept. Rules about prompts go with the model instead
 * (`modelFamilies`). Sources: the hosts' API references; the tables of client programs; reports of their users, as of
 * November 2026.
 */
export const hostRows: readonly HostRow[] = [
  {
    name: 'mistral',
    title: 'Mistral',
    recognised: '`api.mistral.ai`',
    gets: '`tool_choice: any` for `required`; `random_seed`; no `stream_options`, no reasoning controls, no unknown member',
    hosts: ['api.mistral.ai', 'codestral.mistral.ai'],
    refuses: ['logit_bias', 'parallel_tool_calls', 'name', 'logprobs'],
    differ: {
      acceptedExtra: new Set(['guardrails', 'prompt_mode', 'random_seed', 'safe_prompt']),
      fieldNames: { seed: 'random_seed' },
      requiredWord: 'any',
      streamUsage: false,
      reasoning: undefined,
      reasoningHistory: undefined,
    },
  },
  {
    name: 'xai',
    title: 'xAI',
    recognised: '`api.x.ai`',
    gets: 'no earlier reasoning',
    hosts: ['api.x.ai'],
    differ: { rejectedExtra: noStorage, reasoningHistory: undefined },
  },
  {
    name: 'moonshot',
    title: 'Moonshot (Kimi)',
    recognised: '`api.moonshot.ai`, `api.moonshot.cn`, `api.kimi.com`',
    gets:
      'effort `low`, `high` or `max`, `thinking: {type}` for K2; earlier reasoning on messages with calls, never empty; ' +
      'lists with a schema for each place as `prefixItems`',
    hosts: ['api.moonshot.ai', 'api.moonshot.cn', 'api.kimi.com'],
    refuses: ['strict'],
    differ: {
      toolSchema: { ...narrowToolSchema, tuples: 'prefixItems' },
      reasoning: { form: 'reasoning_effort', efforts: threeEfforts },
      reasoningHistory: {
        field: 'reasoning_content',
        on: 'calls',
        required: true,
        placeholder: '(The reasoning is not available.)',
      },
    },
    models: [
      { names: /^kimi-k2/, differ: { reasoning: thinkingSwitch } },
      { names: /^(?:moonshot-v1|kimi-k2-(?!thinking))/, differ: { reasoning: undefined, reasoningHistory: undefined } },
    ],
  },
  {
    name: 'zai',
    title: 'z.ai (GLM)',
    recognised: '`api.z.ai`, `open.bigmodel.cn`',
    gets: 'effort `low`, `high` or `max`, `thinking: {type}` before GLM-5.3; at most 131,072 tokens; images for `*v` only',
    hosts: ['api.z.ai', 'open.bigmodel.cn'],
    refuses: ['strict'],
    differ: {
      mostTokens: 131_072,
      rejectedExtra: noStorage,
      reasoning: { form: 'reasoning_effort', efforts: threeEfforts },
      reasoningHistory: { field: 'reasoning_content', ...onCalls },
    },
    models: [
      { names: /^glm-[45](?:\.\d+)?(?:-|$)/, differ: { images: false } },
      { names: /^glm-(?:4|5(?:\.[0-2])?(?![.\d]))/, differ: { reasoning: thinkingSwitch } },
    ],
  },
  {
    name: 'dashscope',
    title: 'DashScope (Qwen)',
    recognised: '`dashscope.aliyuncs.com`, `dashscope-intl.aliyuncs.com`, `dashscope-us.aliyuncs.com`',
    gets:
      '`enable_thinking` and `thinking_budget`; for Qwen, `enable_thinking: false` unless streamed; no forced tool while ' +
      'thinking',
    hosts: ['dashscope.aliyuncs.com', 'dashscope-intl.aliyuncs.com', 'dashscope-us.aliyuncs.com'],
    differ: {
      reasoning: enableThinking,
      reasoningHistory: { field: 'reasoning_content', ...onCalls },
      unforced: 'asked-to-think',
    },
    models: [{ names: /^qwen/, differ: { reasoning: { ...enableThinking, streamsOnly: true } } }],
  },
  {
    name: 'minimax',
    title: 'MiniMax',
    recognised: '`api.minimax.io`, `api.minimaxi.com`',
    gets:
      '`max_completion_tokens`; a temperature in (0, 1]; `reasoning_split`, and reasoning back as it came; ' +
      '`thinking: {type: adaptive}` or `disabled` from M3 on; a forced tool is a 400; images from M3 on',
    hosts: ['api.minimax.io', 'api.minimaxi.com'],
    differ: {
      maxTokens: 'max_completion_tokens',
      temperatures: [0.01, 1],
      toolChoices: new Set(),
      reasoning: { ...thinkingSwitch, on: { thinking: { type: 'adaptive' } } },
      reasoningReply: { when: 'always', shown: { reasoning_split: true } },
      reasoningMembers: ['reasoning_split'],
      reasoningHistory: { field: 'reasoning_details', on: 'all', required: false },
    },
    models: [{ names: /^minimax-m[12](?!\d)/, differ: { reasoning: undefined, images: false } }],
  },
  {
    name: 'cerebras',
    title: 'Cerebras',
    recognised: '`api.cerebras.ai`',
    gets: '`tool_choice` `auto` or `none`: a forced tool is a 400; efforts to `high`, for `gpt-oss*` and newer; no earlier reasoning',
    hosts: ['api.cerebras.ai'],
    refuses: ['frequency_penalty', 'presence_penalty', 'logit_bias', 'parallel_tool_calls'],
    differ: {
      rejectedExtra: new Set(['store', 'service_tier', 'prompt_cache_key']),
      toolChoices: new Set(['none']),
      reasoning: commonEfforts,
      reasoningHistory: undefined,
    },
    models: [
      { names: /^(?:qwen|llama|glm-4)/, differ: noReasoning },
      {
        names: /^qwen/,
        differ: ({ fields, refused }) => ({
          fields: without(fields, new Set(['strict'])),
          refused: new Set([...refused, 'strict']),
        }),
      },
    ],
  },
  {
    name: 'fireworks',
    title: 'Fireworks',
    recognised: '`api.fireworks.ai`',
    gets: 'efforts by model; earlier reasoning on all messages; `prompt_cache_isolation_key` for `prompt_cache_key`',
    hosts: ['api.fireworks.ai'],
    accepts: ['prompt_cache_key'],
    differ: {
      fieldNames: { prompt_cache_key: 'prompt_cache_isolation_key' },
      reasoningHistory: { field: 'reasoning_content', on: 'all', required: false },
    },
    models: [
      { names: /^kimi-k2/, differ: { reasoning: effortsOf('low', 'medium', 'high') } },
      { names: /^glm-5/, differ: { reasoning: effortsOf('none', 'high', 'max') } },
      { names: /^deepseek-v4/, differ: { reasoning: effortsOf('none', 'low', 'medium', 'high', 'xhigh') } },
    ],
  },
  {
    name: 'together',
    title: 'Together',
    recognised: '`api.together.xyz`, `api.together.ai`',
    gets: '`reasoning: {enabled}`, no effort; no earlier reasoning',
    hosts: ['api.together.xyz', 'api.together.ai'],
    refuses: ['strict'],
    differ: {
      rejectedExtra: new Set(['store', 'reasoning_effort']),
      reasoning: {
        form: 'switch',
        on: { reasoning: { enabled: true } },
        off: { reasoning: { enabled: false } },
        efforts: {},
      },
      reasoningHistory: undefined,
    },
  },
  {
    name: 'nim',
    title: 'NVIDIA NIM',
    recognised: '`integrate.api.nvidia.com`',
    gets: 'no reasoning controls',
    hosts: ['integrate.api.nvidia.com'],
    refuses: ['strict'],
    differ: { ...noReasoning, rejectedExtra: noStorage },
  },
  {
    name: 'cloudflare',
    title: 'Cloudflare',
    recognised: '`api.cloudflare.com`, `gateway.ai.cloudflare.com`',
    gets: 'no reasoning controls',
    hosts: ['api.cloudflare.com', 'gateway.ai.cloudflare.com'],
    refuses: ['strict'],
    differ: { ...noReasoning, rejectedExtra: noStorage },
  },
  {
    name: 'copilot',
    title: 'GitHub Copilot',
    recognised: '`githubcopilot.com`',
    gets: 'paths without a version; no earlier reasoning; no effort for Claude 4.5',
    hosts: ['githubcopilot.com'],
    unversioned: true,
    differ: { reasoningHistory: undefined },
    models: [
      {
        names: /^claude-/,
        // Without an effort, they don't think.
        differ: {
          reasoning: {
            form: 'reasoning_effort',
            efforts: { ...nearestEfforts('low', 'medium', 'high', 'xhigh', 'max'), none: undefined },
          },
        },
      },
      { names: /^claude-.*4[.-]5/, differ: noReasoning },
    ],
  },
  {
    name: 'gemini',
    title: "Gemini's door for OpenAI clients",
    recognised: '`generativelanguage.googleapis.com` with a path that ends in `/openai`',
    gets: 'images as data, not by URL',
    hosts: ['generativelanguage.googleapis.com'],
    refuses: ['presence_penalty', 'frequency_penalty'],
    differ: { rejectedExtra: noStorage, imageUrls: false },
  },
  {
    name: 'ollama',
    title: 'Ollama',
    recognised: '`ollama.com`, port 11434',
    gets: 'images as data, not by URL; no effort `minimal` or `xhigh`; earlier reasoning as `reasoning`',
    hosts: ['ollama.com'],
    port: 11_434,
    differ: {
      imageUrls: false,
      refusesTextLists: true,
      reasoning: effortsOf('none', 'low', 'medium', 'high', 'max'),
      reasoningHistory: { field: 'reasoning', ...onCalls },
    },
  },
  {
    name: 'lmstudio',
    title: 'LM Studio',
    recognised: 'port 1234',
    gets: '`required` and only that tool for a forced one; efforts to `high`; images ' + 'as data, not by URL',
    port: 1_234,
    differ: { imageUrls: false, toolChoices: new Set(['none', 'required']), reasoning: commonEfforts },
  },
  {
    name: 'llamacpp',
    title: 'llama.cpp',
    recognised: 'port 8080',
    gets: '',
    port: 8_080,
    differ: { reasoningHistory: { field: 'reasoning_content', ...onCalls } },
  },
  {
    name: 'vllm',
    title: 'vLLM',
    recognised: 'port 8000',
    gets: '`chat_template_kwargs: {enable_thinking}`, and the effort; earlier reasoning as `reasoning`',
    port: 8_000,
    differ: { reasoning: templateSwitch, reasoningHistory: { field: 'reasoning', ...onCalls } },
  },
  {
    name: 'sglang',
    title: 'SGLang',
    recognised: 'port 30000',
    gets: '`chat_template_kwargs: {enable_thinking}`, and the effort; earlier reasoning as `reasoning_content`',
    port: 30_000,
    differ: { reasoning: templateSwitch, reasoningHistory: { field: 'reasoning_content', ...onCalls } },
  },
  {
    name: 'litellm',
    title: 'LiteLLM',
    recognised: 'port 4000',
    gets: '',
    port: 4_000,
  },
];

/** The reason for choosing a row. */
type HostReason = 'option' | 'host' | 'port';

/** The row of a provider, and how it was chosen; `configured`: its name in the options. */
export const hostOf = (
  { hostname, port }: URL,
  configured: string | undefined,
): { readonly row: HostRow; readonly because: HostReason } | undefined => {
  const found = (
    because: HostReason,
    matches: (row: HostRow) => boolean,
  ): { readonly row: HostRow; readonly because: HostReason } | undefined => {
    const row = hostRows.find(matches);
    return row && { row, because };
  };
  if (configured !== undefined) return found('option', ({ name }) => name === configured);
  return (
    found('host', ({ hosts = [] }) => hosts.some((host) => hostname === host || hostname.endsWith(`.${host}`))) ??
    found('port', (row) => row.port !== undefined && String(row.port) === port)
  );
};
