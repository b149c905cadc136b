import test from 'ava';
import type { UpstreamAnswer } from '../../../support/upstreams/upstream.ts';
import { good, rig } from './rig.ts';

const formats = {
  messages: { name: 'anthropic' },
  chat: { name: 'openai' },
  responses: { name: 'openai', options: { api: 'responses' } },
} as const;

const clients = [
  { path: '/v1/messages', own: 'messages', body: {} },
  { path: '/v1/chat/completions', own: 'chat', body: {} },
  { path: '/v1/responses', own: 'responses', body: { input: 'hi', messages: undefined, max_tokens: undefined } },
] as const;

/** Errors that hosts send with status 200. */
const errors: readonly object[] = [
  { code: 1113, msg: 'Insufficient balance or no resource package' },
  { choices: null, base_resp: { status_code: 1008, status_msg: 'insufficient balance' } },
  { error: { message: 'insufficient balance', type: 'x' } },
  { object: 'error', message: 'insufficient balance', code: 'x' },
];

const sse = { 'content-type': 'text/event-stream' };

/** How an error comes: as a whole body, as a stream's record, or as a body under a stream's type. */
const ways: readonly (readonly [
  name: string,
  streams: readonly boolean[],
  answer: (error: object) => UpstreamAnswer,
])[] = [
  [
    'a body',
    [false, true],
    (error) => ({ headers: { 'content-type': 'application/json' }, pieces: [JSON.stringify(error)] }),
  ],
  ['a record', [true], (error) => ({ headers: sse, pieces: [`data: ${JSON.stringify(error)}\n\n`] })],
  ['a body in place of a stream', [true], (error) => ({ headers: sse, pieces: [JSON.stringify(error, undefined, 2)] })],
];

for (const { path, own, body } of clients) {
  for (const [upstream, format] of Object.entries(formats)) {
    const kind = upstream === own ? 'relayed' : 'converted';
    test(`${path} ${kind} from ${upstream}: an error with status 200 is told by its kind and words, and the fallback answers`, async (t) => {
      let current: UpstreamAnswer = {};
      const { ask } = await rig(t, [() => current, good('from b')], {
        config: {
          RETRY: { attempts: 0 },
          KEYS: { refusedMs: 1, limitedMs: 1 },
          BREAKER: { faults: 1_000_000 },
          transformers: [
            { ...format, provider: 'a' },
            { name: 'anthropic', provider: 'b' },
          ],
        },
      });
      for (const [name, streams, answer] of ways) {
        for (const [error, stream] of errors.flatMap((one) => streams.map((streamed) => [one, streamed] as const))) {
          const title = `${name} ${JSON.stringify(error)} ${stream}`;
          current = answer(error);
          const served = await ask({ ...body, stream }, path);
          t.regex(served.text, /from b/, title);
          t.regex(String(served.headers['x-junctor-attempts']), /^a,m=/, title);
          const refused = await ask({ ...body, model: 'a,m', stream }, path);
          t.not(refused.status, 200, title);
          t.regex(refused.text, /insufficient balance/i, title);
        }
      }
    });
  }
}
