import { chatVendor } from '../vendors/chat.ts';
import { messagesVendor } from '../vendors/messages.ts';
import { openrouterVendor } from '../vendors/openrouter.ts';
import { responsesVendor } from '../vendors/responses.ts';
import type { Vendor } from '../vendors/vendor.ts';
import type { Breach } from './check.ts';
import { refuses } from './check.ts';
import { hostVendor } from './host-vendor.ts';
import { strictHosts } from './hosts.ts';
import { type Count, type Fit, outputOverWindow, promptOverWindow } from './looks.ts';
import { fitted, host, type RefusingHost, refusing } from './refusing.ts';
import { chat, messages, openrouter, output, responses } from './refusing-hosts.ts';

/** A host with a window, and what it says. */
interface Windowed {
  readonly window: number;
  readonly count: Count;
  /** An answer that doesn't fit beside the prompt; absent: it ends where the window ends. */
  readonly output?: (fit: Fit) => string;
  readonly prompt: (fit: Fit) => string;
  readonly status?: number;
  readonly failure?: (breaches: readonly [Breach, ...Breach[]]) => unknown;
}

/** Its tokens are shorter than the gateway guesses, and its template adds to them. */
const fine: Count = { charactersPerToken: 3, template: 250 };
const coarse: Count = { charactersPerToken: 4.5, template: 20 };

const windowed = <Body extends object>(
  vendor: Vendor<Body>,
  provider: RefusingHost['provider'],
  asks: RefusingHost['asks'],
  { window, count, output, prompt, ...more }: Windowed,
): RefusingHost =>
  host(
    refusing(vendor, {
      checks: [
        refuses(promptOverWindow(window, count), prompt),
        ...(output ? [refuses(outputOverWindow(window, count), output)] : []),
      ],
      ...more,
    }),
    { provider, asks, becomes: { 'output limit': fitted } },
  );

const { vllm, sglang, ollama, 'llama.cpp': llama, 'lm studio': lmStudio } = strictHosts;

const window = 32_768;

/** Of vLLM up to 0.10, DeepSeek and OpenAI's older models. */
const inTheMessages = ({ prompt, asked, window }: Fit): string =>
  `This model's maximum context length is ${window} tokens. However, you requested ${prompt + asked} tokens (${prompt} in the messages, ${asked} in the completion). Please reduce the length of the messages or completion.`;

/** It counts no further than it must: the prompt has at least so many tokens that the sum is too large by one. */
const atLeast = ({ asked, window }: Fit): string =>
  `This model's maximum context length is ${window} tokens. However, you requested ${asked} output tokens and your prompt contains at least ${window + 1 - asked} input tokens, for a total of at least ${window + 1} tokens. Please reduce the length of the input prompt or the number of requested output tokens.`;

const inputTokens = ({ prompt, window }: Fit): string =>
  `This model's maximum context length is ${window} tokens. However, your request has ${prompt} input tokens. Please reduce the length of the input messages.`;

const longerThan = ({ prompt, window }: Fit): string =>
  `The input (${prompt} tokens) is longer than the model's context length (${window} tokens).`;

/** Hosts whose window prompt and answer share: an output limit that is too large is refused. Source: their errors, as reported. */
export const windowedHosts: Readonly<Record<string, RefusingHost>> = {
  'vllm 0.8': windowed(hostVendor(vllm), chat, output(128_000), {
    window,
    count: fine,
    output: inTheMessages,
    prompt: inTheMessages,
    failure: ([{ words }]) => ({ object: 'error', message: words, type: 'BadRequestError', param: null, code: 400 }),
  }),
  'vllm 0.11': windowed(hostVendor(vllm), chat, output(32_700), {
    window,
    count: fine,
    output: ({ path, prompt, asked }) =>
      `'max_tokens' or 'max_completion_tokens' is too large: ${asked}. This model's maximum context length is ${window} tokens and your request has ${prompt} input tokens (${asked} > ${window} - ${prompt}). (parameter=${path}, value=${asked})`,
    prompt: inputTokens,
  }),
  'vllm 0.20': windowed(hostVendor(vllm), chat, output(128_000), {
    window,
    count: fine,
    output: (fit) =>
      fit.asked > window
        ? `max_tokens=${fit.asked} cannot be greater than max_model_len=max_total_tokens=${window}. Please request fewer output tokens.`
        : atLeast(fit),
    prompt: inputTokens,
  }),
  'vllm 0.20, asked for nearly all': windowed(hostVendor(vllm), chat, output(32_700), {
    window,
    count: fine,
    output: atLeast,
    prompt: inputTokens,
  }),
  'vllm, messages': windowed(messagesVendor, messages, output(128_000), {
    window,
    count: coarse,
    output: inTheMessages,
    prompt: inTheMessages,
    failure: ([{ words }]) => ({ type: 'error', error: { type: 'BadRequestError', message: words } }),
  }),
  'vllm, responses': windowed(responsesVendor, responses, output(128_000), {
    window,
    count: coarse,
    output: inTheMessages,
    prompt: inTheMessages,
    failure: ([{ words }]) => ({ error: { message: words, type: 'BadRequestError', param: null, code: 400 } }),
  }),
  sglang: windowed(hostVendor(sglang), chat, output(128_000), {
    window,
    count: coarse,
    output: ({ prompt, asked }) =>
      `Requested token count exceeds the model's maximum context length of ${window} tokens. You requested a total of ${prompt + asked} tokens: ${prompt} tokens from the input messages and ${asked} tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.`,
    prompt: longerThan,
  }),
  tgi: windowed(chatVendor, chat, output(32_000), {
    window: 16_385,
    count: fine,
    status: 422,
    output: ({ prompt, asked, window }) =>
      `Input validation error: \`inputs\` tokens + \`max_new_tokens\` must be <= ${window}. Given: ${prompt} \`inputs\` tokens and ${asked} \`max_new_tokens\``,
    prompt: ({ prompt, window }) =>
      `Input validation error: \`inputs\` must have less than ${window} tokens. Given: ${prompt}`,
    failure: ([{ words }]) => ({ error: words, error_type: 'validation' }),
  }),
  openrouter: windowed(openrouterVendor, openrouter, output(128_000), {
    window,
    count: coarse,
    output: ({ prompt, asked }) =>
      `This endpoint's maximum context length is ${window} tokens. However, you requested about ${prompt + asked} tokens (${prompt} of text input, ${asked} in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.`,
    prompt: ({ prompt }) =>
      `This endpoint's maximum context length is ${window} tokens. However, you requested about ${prompt} tokens (${prompt} of text input). Please reduce the length of either one.`,
  }),
  anthropic: windowed(messagesVendor, messages, output(39_990), {
    window: 40_000,
    count: fine,
    output: ({ prompt, asked, window }) =>
      `input length and \`max_tokens\` exceed context limit: ${prompt} + ${asked} > ${window}, decrease input length or \`max_tokens\` and try again`,
    prompt: ({ prompt, window }) => `prompt is too long: ${prompt} tokens > ${window} maximum`,
  }),
};

/** Hosts whose answers end where the window ends: they refuse a long prompt alone. */
export const lenientHosts: Readonly<Record<string, RefusingHost>> = {
  'llama.cpp': windowed(hostVendor(llama), chat, output(128_000), {
    window,
    count: fine,
    prompt: ({ prompt, window }) =>
      `request (${prompt} tokens) exceeds the available context size (${window} tokens), try increasing it`,
    failure: ([{ words }]) => ({
      error: { code: 400, message: words, type: 'exceed_context_size_error', n_prompt_tokens: 99_999, n_ctx: window },
    }),
  }),
  'lm studio': windowed(hostVendor(lmStudio), chat, output(128_000), {
    window,
    count: coarse,
    prompt: ({ prompt, window }) =>
      `The number of tokens to keep from the initial prompt is greater than the context length (n_keep: ${prompt} >= n_ctx: ${window}). Try to load the model with a larger context length, or provide a shorter input.`,
    failure: ([{ words }]) => ({ error: words }),
  }),
  ollama: windowed(hostVendor(ollama), chat, output(128_000), {
    window,
    count: coarse,
    prompt: ({ prompt, window }) => `prompt too long; exceeded max context length by ${prompt - window} tokens`,
  }),
};
