import type { JsonObject } from '../../../engine/model/json/json.ts';
import { chatVendor } from '../vendors/chat.ts';
import { geminiVendor } from '../vendors/gemini.ts';
import { messagesVendor } from '../vendors/messages.ts';
import { responsesVendor } from '../vendors/responses.ts';
import { type Breach, refuses } from './check.ts';
import { hostVendor } from './host-vendor.ts';
import { openAiFailure, strictHosts } from './hosts.ts';
import { betasBut, memberList, members, otherThan, outputOver, outside, together } from './looks.ts';
import { host, type RefusingHost, type Row, refusing } from './refusing.ts';

export const chat = { format: 'openai', base: '/v1', model: 'model-x' };
export const responses = { ...chat, options: { api: 'responses' } };
export const messages = { format: 'anthropic', model: 'model-x' };
export const openrouter = { format: 'openrouter', base: '/api/v1', model: 'vendor/model-x' };
const gemini = { format: 'gemini', model: 'gemini-9-flash' };

/** The same members from clients of every protocol. */
const fromAll = (body: JsonObject): Row['asks'] => ({
  messages: { body },
  chat: { body },
  responses: { body },
});

const temperature = fromAll({ temperature: 0.3 });
const pair = fromAll({ temperature: 0.3, top_p: 0.9 });

const effort = (word: string): Row['asks'] => ({
  messages: { body: { output_config: { effort: word } } },
  chat: { body: { reasoning_effort: word } },
  responses: { body: { reasoning: { effort: word } } },
});

/** What Claude Code asks of every model that it doesn't know, and more than some models give. */
export const output = (tokens: number): Row['asks'] => ({
  messages: { body: { max_tokens: tokens } },
  chat: { body: { max_completion_tokens: tokens } },
  responses: { body: { max_output_tokens: tokens } },
});

/** In place of the name that the SDK's own users give. */
const olderLimit = { max_tokens: 4_000, max_completion_tokens: undefined };

const stop: Row['asks'] = {
  messages: { body: { stop_sequences: ['END'] } },
  chat: { body: { stop: ['END'] } },
};

const penalty: Row['asks'] = { chat: { body: { presence_penalty: 0.5 } } };
const penalties: Row['asks'] = { chat: { body: { presence_penalty: 0.5, frequency_penalty: 0.5 } } };
const oneCall: Row['asks'] = {
  messages: { body: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } } },
  chat: { body: { parallel_tool_calls: false } },
  responses: { body: { parallel_tool_calls: false } },
};
const chatVerbosity: Row['asks'] = { chat: { body: { verbosity: 'low' } } };
const verbosity: Row['asks'] = { ...chatVerbosity, responses: { body: { text: { verbosity: 'low' } } } };
const cacheKey: Row['asks'] = { chat: { body: { prompt_cache_key: 'key' } } };
const tier: Row['asks'] = { chat: { body: { service_tier: 'flex' } } };

const unsupported = (param: string) => ({
  words: `Unsupported parameter: '${param}' is not supported with this model.`,
  param,
  code: 'unsupported_parameter',
});

const listed = (words: readonly string[], quote = "'"): string => words.map((word) => quote + word + quote).join(', ');

/** 'low', 'medium', and 'high' */
const enumerated = (words: readonly string[]): string => listed(words).replace(/, ([^,]*)$/, ', and $1');

const openAiError = ([first]: readonly [Breach, ...Breach[]]) => openAiFailure(400, first.words, [first]);

/** Chat Completions of OpenAI and Azure. Source: their errors, as reported. */
const openai: Readonly<Record<string, RefusingHost>> = {
  'openai: a temperature': host(
    refusing(chatVendor, {
      checks: [
        refuses(members('temperature'), ({ value }) => ({
          words: `Unsupported value: 'temperature' does not support ${value} with this model. Only the default (1) value is supported.`,
          param: 'temperature',
          code: 'unsupported_value',
        })),
      ],
      failure: openAiError,
    }),
    { provider: chat, asks: temperature, becomes: { temperature: undefined } },
  ),
  'openai: stop words': host(
    refusing(chatVendor, { checks: [refuses(members('stop'), ({ name }) => unsupported(name))], failure: openAiError }),
    { provider: chat, asks: stop, becomes: { 'stop.0': undefined } },
  ),
  'openai: one call at a time': host(
    refusing(chatVendor, {
      checks: [refuses(members('parallel_tool_calls'), ({ name }) => unsupported(name))],
      failure: openAiError,
    }),
    { provider: chat, asks: oneCall, becomes: { parallel_tool_calls: undefined } },
  ),
  'openai: an effort above its own': host(
    refusing(chatVendor, {
      checks: [
        refuses(otherThan('reasoning_effort', 'minimal', 'low', 'medium', 'high'), ({ value, allowed }) => ({
          words: `Unsupported value: 'reasoning_effort' does not support '${value}' with this model. Supported values are: ${enumerated(allowed)}.`,
          param: 'reasoning_effort',
          code: 'unsupported_value',
        })),
      ],
      failure: openAiError,
    }),
    { provider: chat, asks: effort('xhigh'), becomes: { reasoning_effort: 'high' } },
  ),
  'openai: a verbosity': host(
    refusing(chatVendor, {
      checks: [
        refuses(otherThan('verbosity', 'medium'), ({ value }) => ({
          words: `Unsupported value: 'verbosity' does not support '${value}' with this model. Supported values are: 'medium'.`,
          param: 'verbosity',
          code: 'unsupported_value',
        })),
      ],
      failure: openAiError,
    }),
    { provider: chat, asks: chatVerbosity, becomes: { verbosity: 'medium' } },
  ),
  'openai: the older name of the limit': host(
    refusing(chatVendor, {
      checks: [
        refuses(members('max_tokens'), () => ({
          words: `${unsupported('max_tokens').words} Use 'max_completion_tokens' instead.`,
          param: 'max_tokens',
          code: 'unsupported_parameter',
        })),
      ],
      failure: openAiError,
    }),
    {
      provider: chat,
      asks: { ...output(4_000), chat: { body: olderLimit } },
      becomes: { max_tokens: undefined, max_completion_tokens: 4_000 },
      isLossless: true,
    },
  ),
  'openai: a long answer': host(
    refusing(chatVendor, {
      checks: [
        refuses(outputOver(16_384), ({ value, name }) => ({
          words: `${name} is too large: ${value}. This model supports at most 16384 completion tokens, whereas you provided ${value}.`,
          param: name,
          code: 'invalid_value',
        })),
      ],
      failure: openAiError,
    }),
    { provider: chat, asks: output(128_000), becomes: { 'output limit': 16_384 } },
  ),
  'azure: an effort': host(
    refusing(chatVendor, {
      checks: [refuses(members('reasoning_effort'), ({ name }) => `Unrecognized request argument supplied: ${name}`)],
      failure: openAiError,
    }),
    { provider: chat, asks: effort('high'), becomes: { reasoning_effort: undefined } },
  ),
  'azure: two penalties': host(
    refusing(chatVendor, {
      checks: [
        refuses(
          memberList('presence_penalty', 'frequency_penalty'),
          ({ names }) => `Unrecognized request arguments supplied: ${names.join(', ')}`,
        ),
      ],
      failure: openAiError,
    }),
    { provider: chat, asks: penalties, becomes: { presence_penalty: undefined, frequency_penalty: undefined } },
  ),
};

/** Responses of OpenAI, of its plans and of LM Studio. */
const overResponses: Readonly<Record<string, RefusingHost>> = {
  'openai responses: an effort': host(
    refusing(responsesVendor, {
      checks: [refuses(members('reasoning.effort'), ({ path }) => unsupported(path))],
      failure: openAiError,
    }),
    { provider: responses, asks: effort('high'), becomes: { 'reasoning.effort': undefined } },
  ),
  'openai responses: a verbosity': host(
    refusing(responsesVendor, {
      checks: [
        refuses(otherThan('text.verbosity', 'medium'), ({ path, value }) => ({
          words: `Unsupported value: '${value}' is not supported with the 'model-x' model. Supported values are: 'medium'.`,
          param: path,
          code: 'unsupported_value',
        })),
      ],
      failure: openAiError,
    }),
    { provider: responses, asks: verbosity, becomes: { 'text.verbosity': 'medium' } },
  ),
  'openai responses: an unknown member': host(
    refusing(responsesVendor, {
      checks: [
        refuses(members('client_metadata'), ({ name }) => ({
          words: `Unknown parameter: '${name}'.`,
          param: name,
          code: 'unknown_parameter',
        })),
      ],
      failure: openAiError,
    }),
    {
      provider: responses,
      asks: { responses: { body: { client_metadata: { session: 's' } } } },
      becomes: { 'client_metadata.session': undefined },
    },
  ),
  'openai responses: sealed reasoning': host(
    refusing(responsesVendor, {
      checks: [
        refuses(members('include'), () => ({
          words: 'Encrypted content is not supported with this model.',
          param: 'include',
        })),
      ],
      failure: openAiError,
    }),
    {
      provider: responses,
      asks: { responses: { body: { include: ['reasoning.encrypted_content'] } } },
      becomes: { 'include.0': undefined },
    },
  ),
  'a plan of openai: an output limit': host(
    refusing(responsesVendor, {
      checks: [refuses(members('max_output_tokens'), ({ name }) => `Unsupported parameter: ${name}`)],
      failure: ([{ words }]) => ({ detail: words }),
    }),
    { provider: responses, asks: output(32_000), becomes: { 'output limit': undefined } },
  ),
  'a plan of openai: a verbosity': host(
    refusing(responsesVendor, {
      checks: [refuses(members('text'), ({ name }) => `Unsupported parameter: ${name}`)],
      failure: ([{ words }]) => ({ detail: words }),
    }),
    { provider: responses, asks: verbosity, becomes: { 'text.verbosity': undefined } },
  ),
  'lm studio: a setting of reasoning': host(
    refusing(responsesVendor, {
      checks: [
        refuses(otherThan('reasoning.effort', 'low', 'medium', 'high'), ({ value, allowed }) => ({
          words: `Reasoning setting '${value}' is not supported by model 'model-x'. Supported settings: ${listed(allowed)}.`,
          param: 'reasoning',
          code: 'invalid_value',
        })),
      ],
      failure: openAiError,
    }),
    { provider: responses, asks: effort('xhigh'), becomes: { 'reasoning.effort': 'high' } },
  ),
  'lm studio: no reasoning': host(
    refusing(responsesVendor, {
      checks: [
        refuses(members('reasoning'), () => ({
          words: "Model 'model-x' does not expose reasoning configuration.",
          param: 'reasoning',
          code: 'invalid_value',
        })),
      ],
      failure: openAiError,
    }),
    { provider: responses, asks: effort('high'), becomes: { 'reasoning.effort': undefined } },
  ),
};

/** Messages of Anthropic, and of those who resell it. */
const claude: Readonly<Record<string, RefusingHost>> = {
  'anthropic: a temperature': host(
    refusing(messagesVendor, {
      checks: [refuses(members('temperature'), ({ name }) => `${name}: Extra inputs are not permitted`)],
    }),
    { provider: messages, asks: { messages: { body: { temperature: 0.3 } } }, becomes: { temperature: undefined } },
  ),
  'anthropic: two that exclude each other': host(
    refusing(messagesVendor, {
      checks: [
        refuses(
          together('temperature', 'top_p'),
          ({ names }) =>
            `${names.map((name) => `\`${name}\``).join(' and ')} cannot both be specified for this model. Please use only one.`,
        ),
      ],
    }),
    {
      provider: messages,
      asks: { messages: { body: { temperature: 0.3, top_p: 0.9 } } },
      becomes: { top_p: undefined },
    },
  ),
  'anthropic: an effort': host(
    refusing(messagesVendor, {
      checks: [refuses(members('output_config.effort'), () => 'This model does not support the effort parameter.')],
    }),
    { provider: messages, asks: effort('high'), becomes: { 'output_config.effort': undefined } },
  ),
  'anthropic: a long answer': host(
    refusing(messagesVendor, {
      checks: [
        refuses(
          outputOver(64_000),
          ({ value }) =>
            `max_tokens: ${value} > 64000, which is the maximum allowed number of output tokens for model-x`,
        ),
      ],
    }),
    { provider: messages, asks: output(128_000), becomes: { 'output limit': 64_000 } },
  ),
  'anthropic: edits of the context': host(
    refusing(messagesVendor, {
      checks: [refuses(members('context_management'), ({ name }) => `${name}: Extra inputs are not permitted`)],
    }),
    {
      provider: messages,
      asks: {
        messages: {
          body: { context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] } },
          headers: { 'anthropic-beta': 'context-management-2025-06-27' },
        },
      },
      becomes: { 'context_management.edits.0.type': undefined, 'context_management.edits.0.keep': undefined },
    },
  ),
  'vertex: a beta': host(
    refusing(messagesVendor, {
      checks: [
        refuses(
          betasBut('claude-code-20250219'),
          ({ names }) =>
            `Unexpected value(s) ${names.map((name) => `\`${name}\``).join(', ')} for the \`anthropic-beta\` header. Please consult our documentation at docs.anthropic.com or try again without the header.`,
        ),
      ],
    }),
    {
      provider: messages,
      asks: {
        messages: { headers: { 'anthropic-beta': 'claude-code-20250219,effort-2025-11-24,tool-examples-2025-10-29' } },
      },
      becomes: {},
    },
  ),
  'bedrock: a beta': host(
    refusing(messagesVendor, {
      checks: [refuses(betasBut(), () => 'invalid beta flag')],
      failure: ([{ words }]) => ({ message: words }),
    }),
    {
      provider: messages,
      asks: { messages: { headers: { 'anthropic-beta': 'thinking-binding-controls-2026-08-01' } } },
      becomes: {},
    },
  ),
  'bedrock: an effort': host(
    refusing(messagesVendor, {
      checks: [
        refuses(
          members('output_config.effort'),
          ({ path }) => `The model returned the following errors: ${path}: Extra inputs are not permitted`,
        ),
      ],
      failure: ([{ words }]) => ({ message: words }),
    }),
    { provider: messages, asks: effort('high'), becomes: { 'output_config.effort': undefined } },
  ),
  'bedrock: one call at a time': host(
    refusing(messagesVendor, {
      checks: [
        refuses(
          members('tool_choice.disable_parallel_tool_use'),
          ({ name }) =>
            `Malformed input request: #: subject must not be valid against schema {"required":["messages"]}#/tool_choice: extraneous key [${name}] is not permitted, please reformat your input and try again.`,
        ),
      ],
      failure: ([{ words }]) => ({ message: words }),
    }),
    { provider: messages, asks: oneCall, becomes: { 'tool_choice.disable_parallel_tool_use': undefined } },
  ),
  'databricks: a temperature': host(
    refusing(messagesVendor, {
      checks: [
        refuses(
          members('temperature'),
          ({ name }) => `Model eu.anthropic.claude-opus-5 does not support the ${name} parameter.`,
        ),
      ],
      failure: ([{ words }]) => ({ error_code: 'BAD_REQUEST', message: words }),
    }),
    {
      provider: messages,
      asks: { messages: { body: { temperature: 0.3 } } },
      becomes: { temperature: undefined },
    },
  ),
  'copilot: a scope of a cache': host(
    refusing(messagesVendor, {
      checks: [
        refuses(
          members('system[].cache_control.scope'),
          () => 'system.0.cache_control.ephemeral.scope: Extra inputs are not permitted',
        ),
      ],
      failure: ([{ words }]) => ({ message: words }),
    }),
    {
      provider: messages,
      asks: {
        messages: {
          body: {
            system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', scope: 'global' } }],
          },
        },
      },
      becomes: { 'system.0.cache_control.type': undefined, 'system.0.cache_control.scope': undefined },
    },
  ),
};

const { vllm, sglang, ollama, mistral, xai, fireworks, cerebras, nim, dashscope } = strictHosts;

const inRepr = ({ path, words }: Breach, type: string, value: string): string =>
  `{'type': '${type}', 'loc': ('body', '${path}'), 'msg': "${words}", 'input': ${value}}`;

/** Chat Completions of servers and hosts, in what users reported of them. */
const compatible: Readonly<Record<string, RefusingHost>> = {
  'vllm: an unknown member': host(
    refusing(hostVendor(vllm), {
      checks: [refuses(members('prompt_cache_key'), () => 'Extra inputs are not permitted')],
      failure: ([first]) => ({
        object: 'error',
        message: `[${inRepr(first, 'extra_forbidden', "'key'")}]`,
        type: 'BadRequestError',
        param: null,
        code: 400,
      }),
    }),
    { provider: chat, asks: cacheKey, becomes: { prompt_cache_key: undefined } },
  ),
  'sglang: an effort above its own': host(
    refusing(hostVendor(sglang), {
      checks: [
        refuses(
          otherThan('reasoning_effort', 'low', 'medium', 'high'),
          ({ allowed }) => `Input should be ${listed(allowed).replace(/, ([^,]*)$/, ' or $1')}`,
        ),
      ],
      failure: ([first]) => {
        const error = `${inRepr(first, 'literal_error', "'xhigh'").slice(0, -1)}, 'ctx': {'expected': "'low', 'medium' or 'high'"}}`;
        const message = `1 validation error:\n  ${error}\n\n  File "/srt/entrypoints/http_server.py", line 1324, in openai_v1_chat_completions\n    POST /v1/chat/completions [${error}]`;
        return { object: 'error', message, type: 'Bad Request', param: null, code: 400 };
      },
    }),
    { provider: chat, asks: effort('xhigh'), becomes: { reasoning_effort: 'high' } },
  ),
  'ollama: an effort': host(hostVendor(ollama), {
    provider: chat,
    asks: effort('xhigh'),
    becomes: { reasoning_effort: 'high' },
  }),
  'ollama: no thinking': host(
    refusing(hostVendor(ollama), {
      checks: [refuses(members('reasoning_effort'), () => '"llama3.2:latest" does not support thinking')],
    }),
    { provider: chat, asks: effort('high'), becomes: { reasoning_effort: undefined } },
  ),
  'nim: two unknown members': host(
    refusing(hostVendor(nim), {
      checks: [
        refuses(
          memberList('prompt_cache_key', 'service_tier'),
          ({ names }) => `Validation: Unsupported parameter(s): ${listed(names, '`')}`,
        ),
      ],
      failure: ([{ words }]) => ({ message: words, type: 'Bad Request', code: 400 }),
    }),
    {
      provider: chat,
      asks: { chat: { body: { ...olderLimit, prompt_cache_key: 'key', service_tier: 'flex' } } },
      becomes: { prompt_cache_key: undefined, service_tier: undefined },
    },
  ),
  'nim: the newer name of the limit': host(hostVendor(nim), {
    provider: chat,
    asks: { chat: { body: { max_completion_tokens: 4_000 } } },
    becomes: { max_completion_tokens: undefined, max_tokens: 4_000 },
    isLossless: true,
  }),
  'nim: penalties': host(
    refusing(hostVendor(nim), {
      status: 422,
      checks: [
        refuses(
          members('frequency_penalty', 'presence_penalty'),
          ({ path }) => `body -> ${path}\n  Extra inputs are not permitted (type=extra_forbidden)`,
        ),
      ],
      failure: (breaches) => ({
        type: 'urn:inference-service:problem-details:unprocessable-entity',
        title: 'Unprocessable Entity',
        status: 422,
        detail: breaches.map(({ words }) => words).join('\n'),
        instance: '/v2/nvcf/pexec/functions/1136f83f',
        requestId: 'request',
      }),
    }),
    {
      provider: chat,
      asks: { chat: { body: { ...olderLimit, presence_penalty: 0.5, frequency_penalty: 0.5 } } },
      becomes: { frequency_penalty: undefined, presence_penalty: undefined },
    },
  ),
  'mistral: an unknown member': host(
    refusing(chatVendor, {
      status: 422,
      checks: [refuses(members('service_tier', 'prompt_cache_key'), () => 'Extra inputs are not permitted')],
      failure: (breaches) => mistral.failure(422, '', breaches),
    }),
    {
      provider: chat,
      asks: { chat: { body: { service_tier: 'flex', prompt_cache_key: 'key' } } },
      becomes: { service_tier: undefined, prompt_cache_key: undefined },
    },
  ),
  'xai: a penalty': host(hostVendor(xai), { provider: chat, asks: penalty, becomes: { presence_penalty: undefined } }),
  'xai: an effort': host(hostVendor(xai), {
    provider: chat,
    asks: effort('high'),
    becomes: { reasoning_effort: undefined },
  }),
  'groq: an unknown member': host(
    refusing(chatVendor, {
      checks: [
        refuses(members('verbosity'), ({ name }) => `property '${name}' is unsupported, did you mean 'modality'?`),
      ],
      failure: ([{ words }]) => ({ error: { message: words, type: 'invalid_request_error' } }),
    }),
    { provider: chat, asks: chatVerbosity, becomes: { verbosity: undefined } },
  ),
  'groq: an effort of another model': host(
    refusing(chatVendor, {
      checks: [
        refuses(
          otherThan('reasoning_effort', 'none', 'default'),
          () => '`reasoning_effort` must be one of `none` or `default`',
        ),
      ],
      failure: ([{ words }]) => ({ error: { message: words, type: 'invalid_request_error' } }),
    }),
    { provider: chat, asks: effort('high'), becomes: { reasoning_effort: undefined } },
  ),
  'cerebras: a tier': host(hostVendor(cerebras), { provider: chat, asks: tier, becomes: { service_tier: undefined } }),
  'fireworks: an unknown member': host(
    refusing(hostVendor(fireworks), {
      checks: [
        refuses(
          members('service_tier'),
          ({ name, value }) => `Extra inputs are not permitted, field: '${name}', value: '${value}'`,
        ),
      ],
    }),
    { provider: { ...chat, base: '/inference/v1' }, asks: tier, becomes: { service_tier: undefined } },
  ),
  'dashscope: a long answer': host(
    refusing(hostVendor(dashscope), {
      checks: [
        refuses(
          outputOver(8_192),
          () => '<400> InternalError.Algo.InvalidParameter: Range of max_tokens should be [1, 8192]',
        ),
      ],
    }),
    { provider: { ...chat, base: '/compatible-mode/v1' }, asks: output(32_000), becomes: { 'output limit': 8_192 } },
  ),
  'dashscope: a high temperature': host(
    refusing(hostVendor(dashscope), {
      checks: [
        refuses(
          outside('temperature', 0, 1.999),
          () => '<400> InternalError.Algo.InvalidParameter: Temperature should be in [0.0, 2.0)',
        ),
      ],
    }),
    {
      provider: { ...chat, base: '/compatible-mode/v1' },
      asks: { chat: { body: { temperature: 2 } }, responses: { body: { temperature: 2 } } },
      becomes: { temperature: undefined },
    },
  ),
  'kimi: another temperature': host(
    refusing(chatVendor, {
      checks: [refuses(outside('temperature', 1, 1), () => 'invalid temperature: only 1 is allowed for this model')],
      failure: ([{ words }]) => ({ error: { message: words, type: 'invalid_request_error' } }),
    }),
    { provider: chat, asks: temperature, becomes: { temperature: undefined } },
  ),
  'a server in rust: an effort': host(
    refusing(chatVendor, {
      status: 422,
      checks: [
        refuses(
          otherThan('reasoning_effort', 'low', 'high'),
          ({ value, path }) =>
            `Failed to deserialize the JSON body into the target type: ${path}: unknown variant \`${value}\`, expected \`low\` or \`high\` at line 1 column 99`,
        ),
      ],
      failure: ([{ words }]) => ({ error: words }),
    }),
    { provider: chat, asks: effort('xhigh'), becomes: { reasoning_effort: 'high' } },
  ),
  'a server in typescript: an effort': host(
    refusing(chatVendor, {
      checks: [
        refuses(
          otherThan('reasoning_effort', 'low', 'medium', 'high'),
          ({ value }) => `Invalid enum value. Expected 'low' | 'medium' | 'high', received '${value}'`,
        ),
      ],
      failure: ([{ path, words }]) => ({
        success: false,
        error: {
          name: 'ZodError',
          message: JSON.stringify([{ code: 'invalid_enum_value', path: [path], message: words }]),
        },
      }),
    }),
    { provider: chat, asks: effort('xhigh'), becomes: { reasoning_effort: 'high' } },
  ),
  'deepseek: a long answer': host(
    refusing(chatVendor, {
      checks: [
        refuses(outputOver(8_192), () => 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]'),
      ],
    }),
    { provider: chat, asks: output(32_000), becomes: { 'output limit': 8_192 } },
  ),
  "gemini's door: two unknown names": host(
    refusing(chatVendor, {
      checks: [
        refuses(
          members('prompt_cache_key', 'service_tier'),
          ({ name }) => `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`,
        ),
      ],
      failure: (breaches) => {
        const message = breaches.map(({ words }) => words).join('\n');
        return [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }];
      },
    }),
    {
      provider: chat,
      asks: { chat: { body: { prompt_cache_key: 'key', service_tier: 'flex' } } },
      becomes: { prompt_cache_key: undefined, service_tier: undefined },
    },
  ),
  "gemini's reseller: penalties": host(
    refusing(chatVendor, {
      checks: [
        refuses(
          memberList('presence_penalty', 'frequency_penalty'),
          () => 'Penalty is not enabled for models/gemini-2.5-flash',
        ),
      ],
      failure: ([{ words }]) => ({ error: { code: 400, message: words, status: 'INVALID_ARGUMENT' } }),
    }),
    { provider: chat, asks: penalties, becomes: { presence_penalty: undefined, frequency_penalty: undefined } },
  ),
  'litellm: a parameter that its target lacks': host(
    refusing(chatVendor, {
      checks: [
        refuses(
          members('reasoning_effort'),
          ({ name }) =>
            `litellm.UnsupportedParamsError: nvidia_nim does not support parameters: ['${name}'], for model=model-x. To drop these, set \`litellm.drop_params=True\` or for proxy:\n\n\`litellm_settings:\n drop_params: true\``,
        ),
      ],
      failure: ([{ words }]) => ({ error: { message: words, type: null, param: null, code: '400' } }),
    }),
    { provider: chat, asks: effort('high'), becomes: { reasoning_effort: undefined } },
  ),
  'litellm: a pair that bedrock refuses': host(
    refusing(chatVendor, {
      checks: [
        refuses(
          together('temperature', 'top_p'),
          () =>
            'litellm.BadRequestError: BedrockException - {"message":"The model returned the following errors: `temperature` and `top_p` cannot both be specified for this model. Please use only one."}. Received Model Group=model-x\nAvailable Model Group Fallbacks=None',
        ),
      ],
      failure: ([{ words }]) => ({ error: { message: words, type: null, param: null, code: '400' } }),
    }),
    { provider: chat, asks: pair, becomes: { top_p: undefined } },
  ),
  'a proxy of plans: a level': host(
    refusing(chatVendor, {
      checks: [
        refuses(
          otherThan('reasoning_effort', 'low', 'medium', 'high'),
          ({ value, allowed }) => `level "${value}" not supported, valid levels: ${allowed.join(', ')}`,
        ),
      ],
    }),
    { provider: chat, asks: effort('xhigh'), becomes: { reasoning_effort: 'high' } },
  ),
};

const level = 'generationConfig.thinkingConfig.thinkingLevel';

/** Gemini's own protocol. */
const google: Readonly<Record<string, RefusingHost>> = {
  'gemini: an unknown name': host(
    refusing(geminiVendor, {
      checks: [
        refuses(
          members('generationConfig.topP'),
          ({ name }) =>
            `Invalid JSON payload received. Unknown name "${name}" at 'generation_config': Cannot find field.`,
        ),
      ],
    }),
    {
      provider: { ...gemini, model: 'gemini-2.5-flash' },
      asks: fromAll({ top_p: 0.9 }),
      becomes: { 'generationConfig.topP': undefined },
    },
  ),
  'gemini: a level': host(
    refusing(geminiVendor, {
      checks: [
        refuses(
          otherThan(level, 'LOW', 'HIGH'),
          ({ value }) =>
            `Thinking level ${value} is not supported for this model. Please retry with other thinking level.`,
        ),
      ],
    }),
    { provider: gemini, asks: effort('medium'), becomes: { [level]: undefined } },
  ),
  'vertex: a level': host(
    refusing(geminiVendor, {
      checks: [
        refuses(
          otherThan(level, 'LOW', 'HIGH'),
          ({ value }) =>
            `Unable to submit request because thinking_level ${value} is not supported by this model. Learn more: https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/gemini`,
        ),
      ],
    }),
    { provider: gemini, asks: effort('medium'), becomes: { [level]: undefined } },
  ),
  'vertex: a long answer': host(
    refusing(geminiVendor, {
      checks: [
        refuses(
          outputOver(65_536),
          ({ value }) =>
            `Unable to submit request because it has a maxOutputTokens value of ${value} but the supported range is from 1 (inclusive) to 65537 (exclusive). Update the value and try again.`,
        ),
      ],
    }),
    { provider: gemini, asks: output(128_000), becomes: { 'output limit': 65_536 } },
  ),
};

/** Hosts that refuse, each in one way, and are taught by. */
export const refusingHosts: Readonly<Record<string, RefusingHost>> = {
  ...openai,
  ...overResponses,
  ...claude,
  ...compatible,
  ...google,
};

const everything = fromAll({ temperature: 0.3, top_p: 0.9, max_tokens: 99 });

/** A host that says this of every request. */
const saying = (message: string, param: string, asks = temperature): RefusingHost =>
  host(refusing(chatVendor, { checks: [() => [{ path: param, words: message, param }]], failure: openAiError }), {
    provider: chat,
    asks,
    becomes: {},
    refusals: [
      { message, sent: 1 },
      { message, sent: 2 },
    ],
  });

/** Hosts whose refusals reach the client. */
export const stubbornHosts: Readonly<Record<string, RefusingHost>> = {
  'one that refuses all in turn': host(
    refusing(chatVendor, {
      checks: [refuses(members('temperature', 'top_p', 'max_tokens'), ({ name }) => unsupported(name))],
      failure: openAiError,
    }),
    {
      provider: chat,
      asks: everything,
      becomes: {},
      refusals: [{ message: unsupported('top_p').words, sent: 2 }],
    },
  ),
  'one that refuses a turn': saying('messages.0.content: Extra inputs are not permitted', 'messages.0.content'),
  'one that refuses a tool': saying(
    "Invalid schema for function 'get_weather': In context=(), 'temperature' is not permitted.",
    'tools[0].function.parameters',
  ),
  'one that refuses tools': saying('Tools are not supported by this model. Supported parameters: temperature', 'tools'),
  'one that refuses the model': saying("The model 'model-x' does not support temperature", 'model'),
  'one that refuses what was not sent': saying("Unsupported parameter: 'logit_bias'", 'logit_bias'),
  'one that says the same again': host(
    refusing(chatVendor, {
      checks: [() => [{ path: 'temperature', ...unsupported('temperature') }]],
      failure: openAiError,
    }),
    {
      provider: chat,
      asks: temperature,
      becomes: {},
      refusals: [
        { message: unsupported('temperature').words, sent: 2 },
        { message: unsupported('temperature').words, sent: 4 },
      ],
    },
  ),
};
