import test from 'ava';
import { recordingsOf } from '../../support/recordings.ts';
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

for (const vendor of ['deepseek', 'openrouter', 'groq', 'gemini']) {
  for (const { name, status, bytes } of recordingsOf(vendor).filter((recording) => recording.status !== 200)) {
    test(`${vendor}/${name}`, (t) => {
      const fault = faultOf(vendor, status, Buffer.from(bytes).toString());
      t.is<string | undefined, string | undefined>(fault.kind, kinds[`${vendor}/${name}`]);
      t.is(fault.status, status);
    });
  }
}
