import test from 'ava';
import type { Fault } from '../../../../engine/model/fault.ts';
import { isJsonObject, parseJson } from '../../../../engine/model/json/json.ts';
import type { UpstreamProtocol } from '../../../../engine/model/protocol.ts';
import { chatUpstream, plainDialect } from '../../../../protocols/chat/index.ts';
import { geminiUpstream } from '../../../../protocols/gemini/index.ts';
import { messagesUpstream } from '../../../../protocols/messages/index.ts';
import { responsesUpstream } from '../../../../protocols/responses/index.ts';
import { flat, growsLinearly } from '../../../foreign-text/cpu.ts';
import { replyContext } from '../../../support/context.ts';

/** What each host says. Source: the hosts' pages and agents' tables. */
const overflows: readonly string[] = [
  'prompt is too long: 213462 tokens > 200000 maximum',
  'input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000',
  'Input is too long for requested model',
  'Your input exceeds the context window of this model. Please adjust your input and try again.',
  "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
  'context exceeds your deployment',
  "litellm.ContextWindowExceededError: the model's limit was reached",
  "Requested token count exceeds the model's maximum context length of 8192 tokens.",
  "Input length (9000) exceeds model's maximum context length (8192).",
  'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).',
  'The input token count exceeds the maximum',
  'The input tokens exceed the configured limit of 100',
  "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
  'Please reduce the length of the messages or completion.',
  "This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens",
  'Input length 9000 exceeds the maximum allowed input length of 8192 tokens.',
  "The input (9000 tokens) is longer than the model's context length (8192 tokens).",
  'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193',
  'Input validation error: `inputs` must have less than 16384 tokens. Given: 20000',
  'your context length is only 4096 tokens',
  'You passed 10 input tokens and requested 100 output tokens, for a total of at least 110 tokens.',
  'The prompt (length 9000) is longer than the maximum model length of 8192',
  'the request exceeds the available context size, try increasing it',
  'request (9000 tokens) exceeds the available context size (4096 tokens)',
  'The number of tokens to keep from the initial prompt is greater than the context length.',
  'Cannot truncate prompt with n_keep (9000) >= n_ctx (4096)',
  'Trying to keep the first 9000 tokens when context the overflows.',
  'prompt too long; exceeded max context length by 12 tokens',
  'prompt token count of 140000 exceeds the limit of 128000',
  'invalid params, context window exceeds limit',
  'Your request exceeded model token limit: 262144 (requested: 270000)',
  'Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length',
  'Prompt exceeds max length',
  'Range of input length should be [1, 129024]',
  'The prompt is too long: 9000, model maximum context length: 8192',
  'tokens in request more than max tokens allowed',
  'maximum context limit reached',
  'model only supports up to 8192 tokens',
  'input token length too long',
];

/** What a shorter conversation doesn't change, or a later try does. */
const others: readonly string[] = [
  'too many tokens, please wait before trying again; the maximum context length is 8192',
  'Rate limit reached: input is too long for this minute',
  'Too many requests: reduce the length of your prompts',
  'Limit 10000 tokens per minute: please reduce the length of the messages',
  'Service unavailable: context window lookup failed',
  "Invalid 'input[0].content': string too long. Expected a string with maximum length 10485760",
  'messages.0.content: expected maxLength 5',
  'max_tokens is too large: this model only supports up to 8192 completion tokens',
  'max_tokens must be at least 1',
];

const protocols: Readonly<Record<string, UpstreamProtocol>> = {
  chat: chatUpstream(plainDialect),
  messages: messagesUpstream,
  responses: responsesUpstream,
  gemini: geminiUpstream(),
};

const faultIn = (protocol: UpstreamProtocol, body: string): Fault | undefined => {
  const value = parseJson(body);
  const events = isJsonObject(value) ? protocol.decodeReply(value, replyContext()) : [];
  const error = events.find((event) => event.type === 'error');
  return error?.type === 'error' ? error.fault : undefined;
};

for (const [name, protocol] of Object.entries(protocols)) {
  test(`${name}: every host's words of an overflow are recognized, with each status that has them, and inside a reply`, (t) => {
    for (const message of overflows) {
      const body = JSON.stringify({ error: { message } });
      for (const status of [400, 413, 422, 500]) {
        t.is(protocol.decodeFault(status, {}, body).kind, 'upstream-context', `${status} ${message}`);
        t.is(protocol.decodeFault(status, {}, message).kind, 'upstream-context', `${status} ${message}, plain`);
      }
      t.is(faultIn(protocol, body)?.kind, 'upstream-context', message);
    }
  });

  test(`${name}: no limit, overload or other refusal is taken for an overflow`, (t) => {
    for (const status of [401, 403, 404, 429, 503, 529]) {
      for (const message of overflows) {
        const { kind } = protocol.decodeFault(status, {}, JSON.stringify({ error: { message } }));
        t.not(kind, 'upstream-context', `${status} ${message}`);
      }
    }
    for (const message of others) {
      for (const status of [400, 413, 422, 500]) {
        const body = JSON.stringify({ error: { message } });
        t.not(protocol.decodeFault(status, {}, body).kind, 'upstream-context', `${status} ${message}`);
      }
      t.not(faultIn(protocol, JSON.stringify({ error: { message } }))?.kind, 'upstream-context', message);
    }
    t.not(faultIn(protocol, '{"error":{"code":429,"message":"prompt is too long"}}')?.kind, 'upstream-context');
    t.not(
      protocol.decodeFault(400, {}, '{"error":{"code":"policy_blocked","message":"input is too long"}}').kind,
      'upstream-context',
    );
  });
}

test('codes and types of an overflow, whatever the words', (t) => {
  const chat = protocols.chat;
  for (const error of [
    { code: 'context_length_exceeded', message: 'no' },
    { type: 'exceed_context_size_error', code: 400, message: 'no' },
    { code: 'model_max_prompt_tokens_exceeded', message: 'no' },
    { code: '1261', message: 'no' },
    { code: 1261, message: 'no' },
  ]) {
    t.is(chat?.decodeFault(400, {}, JSON.stringify({ error })).kind, 'upstream-context', JSON.stringify(error));
  }
  t.is(chat?.decodeFault(400, {}, '{"error":{"message":"line 1261 is wrong"}}').kind, 'upstream-invalid');
  const tooLarge = '{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}';
  t.is(protocols.messages?.decodeFault(413, {}, tooLarge).kind, 'upstream-context');
});

test('the words are looked for in linear time', (t) => {
  const make = (count: number) => {
    const body = flat(JSON.stringify({ error: { message: 'the input token count '.repeat(count) } }));
    return () => protocols.chat?.decodeFault(400, {}, body);
  };
  const { linear, seen } = growsLinearly(make, (run) => run(), { few: 10_000, soonMs: 150 });
  t.true(linear, seen);
});
