import { strictHosts } from '../../support/hosts/hosts.ts';
import { geminiVendor } from '../../support/vendors/gemini.ts';
import { lookAlikeVendor } from '../../support/vendors/messages.ts';
import { responsesVendor } from '../../support/vendors/responses.ts';
import { fromHost, fromVendor, type Party } from './parties.ts';

/** A host that nothing is known of by its address, and that refuses something that isn't the conversation. */
interface RefusingHost {
  readonly name: string;
  readonly wire: Party['wire'];
  readonly refuses: NonNullable<Party['teaches']>;
}

type Loose = Readonly<Record<string, unknown>>;

const openAi = (message: string, param: string | null = null, code: string | null = null) => ({
  status: 400,
  body: { error: { message, type: 'invalid_request_error', param, code } },
});
const anthropic = (message: string) => ({
  status: 400,
  body: { type: 'error', error: { type: 'invalid_request_error', message } },
});
const google = (message: string) => ({
  status: 400,
  body: { error: { code: 400, message, status: 'INVALID_ARGUMENT' } },
});

/** A member of a body by its path. */
const at = (body: Loose, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (value, step) => (typeof value === 'object' && value ? Reflect.get(value, step) : undefined),
      body,
    );

const limitAt = (body: Loose, path: string): number => Number(at(body, path) ?? 0);

/** The window of an own server: room for an agent's first prompt, and a short answer. */
const window = 40_960;

/**
 * Refusals of what agents ask for, in their hosts' words. The first five are each met by one agent of the brief tests. Sources: the
 * servers' own code, and reports of users.
 */
const hosts: readonly RefusingHost[] = [
  {
    name: 'an own vllm with a small window',
    wire: 'chat',
    refuses({ body }) {
      const prompt = Math.ceil((JSON.stringify(body.messages).length + JSON.stringify(body.tools ?? []).length) / 4);
      const asked = limitAt(body, 'max_tokens') || limitAt(body, 'max_completion_tokens');
      const message = `This model's maximum context length is ${window} tokens. However, you requested ${prompt + asked} tokens (${prompt} in the messages, ${asked} in the completion). Please reduce the length of the messages or completion.`;
      return prompt + asked <= window
        ? undefined
        : { status: 400, body: { error: { message, type: 'BadRequestError', param: null, code: 400 } } };
    },
  },
  {
    name: 'narrow responses',
    wire: 'responses',
    refuses: ({ body: { prompt_cache_key: key } }) =>
      key === undefined
        ? undefined
        : openAi("Unknown parameter: 'prompt_cache_key'.", 'prompt_cache_key', 'unknown_parameter'),
  },
  {
    name: 'a host without stream options',
    wire: 'chat',
    refuses: ({ body: { stream_options: options } }) =>
      options === undefined ? undefined : openAi('Unrecognized request argument supplied: stream_options'),
  },
  {
    name: 'temperature or top_p',
    wire: 'chat',
    refuses: ({ body: { temperature, top_p: share } }) =>
      temperature === undefined || share === undefined
        ? undefined
        : openAi('temperature and top_p cannot both be specified for this model. Please use only one.'),
  },
  {
    name: 'short answers of responses',
    wire: 'responses',
    refuses({ body }) {
      const asked = limitAt(body, 'max_output_tokens');
      const words = `Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 16384, but got ${asked} instead.`;
      return asked > 16_384 ? openAi(words, 'max_output_tokens', 'integer_above_max_value') : undefined;
    },
  },
  {
    name: 'nothing but what it knows',
    wire: 'chat',
    refuses({ body }) {
      const known = ['model', 'messages', 'tools', 'tool_choice', 'stream', 'max_tokens'];
      const unknown = Object.keys(body).filter((name) => !known.includes(name));
      const detail = unknown.map((name) => ({
        type: 'extra_forbidden',
        loc: ['body', name],
        msg: 'Extra inputs are not permitted',
        input: body[name],
      }));
      return unknown.length > 0 ? { status: 422, body: { detail } } : undefined;
    },
  },
  {
    name: 'a single effort',
    wire: 'chat',
    refuses: ({ body: { reasoning_effort: effort } }) =>
      effort === undefined || effort === 'low'
        ? undefined
        : openAi(
            `Unsupported value: 'reasoning_effort' does not support '${effort}' with this model. Supported values are: 'low'.`,
            'reasoning_effort',
            'unsupported_value',
          ),
  },
  {
    name: 'no betas',
    wire: 'messages',
    refuses({ headers: { 'anthropic-beta': betas } }) {
      const names = String(betas ?? '').split(',');
      return betas === undefined
        ? undefined
        : anthropic(
            `Unexpected value(s) ${names.map((name) => `\`${name.trim()}\``).join(', ')} for the \`anthropic-beta\` header. Please consult our documentation at docs.anthropic.com or try again without the header.`,
          );
    },
  },
  {
    name: 'no edits of the context',
    wire: 'messages',
    refuses: ({ body: { context_management: edits } }) =>
      edits === undefined ? undefined : anthropic('context_management: Extra inputs are not permitted'),
  },
  {
    name: 'no efforts of messages',
    wire: 'messages',
    refuses: ({ body }) =>
      at(body, 'output_config.effort') === undefined
        ? undefined
        : anthropic('This model does not support the effort parameter.'),
  },
  {
    name: 'short answers of messages',
    wire: 'messages',
    refuses({ body, body: { model } }) {
      const asked = limitAt(body, 'max_tokens');
      const words = `max_tokens: ${asked} > 8192, which is the maximum allowed number of output tokens for ${String(model)}`;
      return asked > 8_192 ? anthropic(words) : undefined;
    },
  },
  {
    name: 'a single effort of responses',
    wire: 'responses',
    refuses({ body }) {
      const effort = at(body, 'reasoning.effort');
      const words = `Unsupported value: '${String(effort)}' is not supported with this model. Supported values are: 'low'.`;
      return effort === undefined || effort === 'low'
        ? undefined
        : openAi(words, 'reasoning.effort', 'unsupported_value');
    },
  },
  {
    name: 'no medium level of gemini',
    wire: 'gemini',
    refuses: ({ body }) =>
      at(body, 'generationConfig.thinkingConfig.thinkingLevel') === 'MEDIUM'
        ? google('Thinking level MEDIUM is not supported for this model. Please retry with other thinking level.')
        : undefined,
  },
  {
    name: 'short answers of gemini',
    wire: 'gemini',
    refuses({ body }) {
      const asked = limitAt(body, 'generationConfig.maxOutputTokens');
      const words = `Unable to submit request because it has a maxOutputTokens value of ${asked} but the supported range is from 1 (inclusive) to 8193 (exclusive). Update the value and try again.`;
      return asked > 8_192 ? google(words) : undefined;
    },
  },
];

const overflow =
  "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens in the messages.";

/** What a host is beside what it refuses. */
const baseOf = ({ name, wire }: RefusingHost, number: number): Party => {
  // An address of its own, since what is taught is remembered.
  const origin = `http://own-${number}.lan:8000`;
  const row = { wire, model: 'own-model', overflow };
  switch (wire) {
    case 'chat':
      return fromHost(name, { ...strictHosts.vllm, baseUrl: `${origin}/v1`, model: row.model });
    case 'messages':
      return fromVendor(name, lookAlikeVendor, {
        ...row,
        baseUrl: origin,
        options: { name: 'anthropic', options: {} },
      });
    case 'responses': {
      const options = { name: 'openai', options: { api: 'responses' } };
      return fromVendor(name, responsesVendor, { ...row, baseUrl: `${origin}/v1`, options });
    }
    case 'gemini': {
      const options = { name: 'gemini', options: {} };
      return fromVendor(name, geminiVendor, { ...row, baseUrl: origin, model: 'gemini-own', options });
    }
    default:
      return wire satisfies never;
  }
};

/** The refusing hosts, as parties. */
export const refusingParties: readonly Party[] = hosts.map((host, index) => ({
  ...baseOf(host, index),
  teaches: host.refuses,
}));
