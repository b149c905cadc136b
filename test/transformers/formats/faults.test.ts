import { dirname } from 'node:path';
import test from 'ava';
import { formats } from '../../../transformers/index.ts';
import { recordingsOf } from '../../support/upstreams/recordings.ts';
import { faultOf } from './rig.ts';

/** Every recorded refusal of a vendor: what it is taken for. */
const kinds: Readonly<Record<string, string>> = {
  'deepseek/json-error-400-context': 'upstream-context',
  'deepseek/json-error-401': 'upstream-auth',
  'gemini/json-error-400-key': 'upstream-auth',
  'gemini/json-error-429': 'upstream-rate-limit',
  'groq/json-error-400-tool-use-failed': 'upstream-invalid',
  'groq/json-error-404-model': 'upstream-not-found',
  'openrouter/json-error-400-context': 'upstream-context',
  'openrouter/json-error-401': 'upstream-auth',
  'openrouter/json-error-429': 'upstream-rate-limit',
};

for (const vendor of new Set(Object.keys(kinds).map((file) => dirname(file)))) {
  for (const { name, status, bytes } of recordingsOf(vendor).filter((recording) => recording.status !== 200)) {
    test(`${vendor}/${name}`, (t) => {
      const fault = faultOf(vendor, status, Buffer.from(bytes).toString());
      t.is<string | undefined, string | undefined>(fault.kind, kinds[`${vendor}/${name}`]);
      t.is(fault.status, status);
    });
  }
}

/** How vendors and local servers say that a prompt doesn't fit. */
const overflows = [
  'prompt is too long: 210000 tokens > 200000 maximum',
  'Input is too long for requested model.',
  "This model's maximum context length is 131072 tokens. However, you requested 140000 tokens.",
  'Your input exceeds the context window of this model. Please adjust your input and try again.',
  'The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).',
  'the request exceeds the available context size, try increasing it',
];

for (const vendor of formats.keys()) {
  test(`${vendor}: a prompt that is too long is distinguished from other refusals, whatever their wording`, (t) => {
    const told = (message: string, status = 400) =>
      faultOf(
        vendor,
        status,
        JSON.stringify({ error: { message, type: status === 429 ? 'rate_limit_error' : 'invalid_request_error' } }),
      ).kind;
    for (const words of overflows) t.is(told(words), 'upstream-context', words);
    t.is(told('top_p is too large'), 'upstream-invalid');
    t.is(told('slow down', 429), 'upstream-rate-limit');
  });
}
