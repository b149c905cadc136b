import test from 'ava';
import { request } from 'undici';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { readChatStream } from '../support/grammar/chat.ts';
import { readMessagesStream } from '../support/grammar/messages.ts';
import { readResponsesStream } from '../support/grammar/responses.ts';
import { jsonAnswer, type Reaction, type ScriptedUpstream, sseAnswer, startUpstream } from '../support/upstream.ts';

/** What every client protocol shows of each fault of an upstream, before and after the first byte. */
const scripts: Readonly<Record<string, (wire: Wire) => Reaction>> = {
  'resets before it answers': () => 'reset',
  'never answers': () => 'never',
  'talks nonsense instead of HTTP': () => ({ raw: 'I am no server\r\n\r\n' }),
  'answers with a web page': () => ({ headers: { 'content-type': 'text/html' }, pieces: ['<html>Welcome</html>'] }),
  'fails with a web page': () => ({ status: 502, headers: { 'content-type': 'text/html' }, pieces: ['<h1>Bad</h1>'] }),
  'answers with nothing': () => ({ headers: { 'content-type': 'application/json' } }),
  'answers with broken JSON': () => ({ headers: { 'content-type': 'application/json' }, pieces: ['{"id": '] }),
  'refuses the key': ({ error }) => jsonAnswer(error('Incorrect API key provided: sk-secret-canary'), 401),
  'refuses the request': ({ error }) => jsonAnswer(error('the field foo is bad'), 400),
  'is at its limit': ({ error }) => ({ ...jsonAnswer(error('slow down'), 429), headers: { 'retry-after': '7' } }),
  'is overloaded': ({ error }) => jsonAnswer(error('too much'), 529),
  'streams an error first': ({ firstError }) => sseAnswer([firstError]),
  'streams nothing': () => sseAnswer([]),
  'breaks off mid-stream': ({ begun }) => sseAnswer([begun], 'reset'),
  'ends too early': ({ begun }) => sseAnswer([begun], 'end'),
  'stalls mid-stream': ({ begun }) => sseAnswer([begun], 'stall'),
  'streams nonsense after a good start': ({ begun }) => sseAnswer([begun, 'data: {"what\n\n']),
};

interface Wire {
  readonly error: (message: string) => object;
  readonly firstError: string;
  /** A good stream up to its first word. */
  readonly begun: string;
}

const wires: Readonly<Record<string, Wire>> = {
  anthropic: {
    error: (message) => ({ type: 'error', error: { type: 'api_error', message } }),
    firstError:
      'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"early trouble"}}\n\n',
    begun: [
      'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}',
      'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"word"}}\n\n',
    ].join('\n\n'),
  },
  openai: {
    error: (message) => ({ error: { message, type: 'x', param: null, code: null } }),
    firstError: 'data: {"error":{"message":"early trouble","type":"server_error","code":null}}\n\n',
    begun: [
      'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}',
      'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"word"},"finish_reason":null}]}\n\n',
    ].join('\n\n'),
  },
};

/** The status when nothing has been sent yet; `stream` where the answer has begun by then. */
const before: Readonly<Record<string, number | 'stream'>> = {
  'resets before it answers': 502,
  'never answers': 504,
  'talks nonsense instead of HTTP': 502,
  'answers with a web page': 502,
  'fails with a web page': 502,
  'answers with nothing': 502,
  'answers with broken JSON': 502,
  'refuses the request': 400,
  'is at its limit': 429,
  'streams nothing': 502,
  'breaks off mid-stream': 'stream',
  'ends too early': 'stream',
  'stalls mid-stream': 'stream',
  'streams nonsense after a good start': 'stream',
};

const clients = [
  {
    path: '/v1/messages',
    ask: { max_tokens: 9, messages: [{ role: 'user', content: 'x' }] },
    read: readMessagesStream,
    own: 'anthropic',
  },
  {
    path: '/v1/chat/completions',
    ask: { messages: [{ role: 'user', content: 'x' }] },
    read: readChatStream,
    own: 'openai',
  },
  { path: '/v1/responses', ask: { input: 'x' }, read: readResponsesStream, own: '' },
] as const;

let gateway: TestGateway;
let upstreams: Readonly<Record<string, ScriptedUpstream>>;

test.before(async () => {
  const play = (wire: Wire) => startUpstream(({ body }) => scripts[String(Object(body).model)]?.(wire) ?? 'close');
  upstreams = Object.fromEntries(
    await Promise.all(Object.entries(wires).map(async ([name, wire]) => [name, await play(wire)] as const)),
  );
  gateway = await startGateway({
    LOG: false,
    // This is about shapes; what is asked again has tests of its own.
    RETRY: { attempts: 0 },
    TIMEOUTS: { firstByteMs: 1_000, idleMs: 1_000 },
    Providers: Object.entries(upstreams).map(([name, { url }]) => ({
      name,
      baseUrl: url,
      apiKey: 'sk-secret-canary',
      models: [],
    })),
    transformers: Object.keys(wires).map((name) => ({ name, provider: name })),
  });
});

test.after.always(async () => {
  await gateway?.stop();
  await Promise.all(Object.values(upstreams ?? {}).map((upstream) => upstream.close()));
});

for (const { path, ask, read, own } of clients) {
  for (const upstream of Object.keys(wires)) {
    for (const fault of Object.keys(scripts)) {
      test(`${path}: ${upstream} ${fault}`, async (t) => {
        const answer = await request(`${gateway.baseUrl}${path}`, {
          method: 'POST',
          body: JSON.stringify({ ...ask, model: `${upstream},${fault}`, stream: true }),
        });
        const text = await answer.body.text();
        t.false(text.includes('secret-canary'), 'no key shows');
        const status = before[fault];
        if (answer.statusCode !== 200) {
          const { error }: { error: { message: string } } = JSON.parse(text);
          t.is(typeof error.message, 'string');
          t.true(error.message.length > 5);
          if (typeof status === 'number') t.is(answer.statusCode, status, text);
          else t.true(answer.statusCode >= 400, text);
          if (fault === 'is at its limit') t.is(answer.headers['retry-after'], '7');
          if (fault === 'is overloaded') t.is(answer.statusCode, path === '/v1/messages' ? 529 : 503);
          if (fault === 'refuses the key') t.true([401, 502].includes(answer.statusCode));
          return;
        }
        // A relayed stream has the vendor's own first record already, whatever it says.
        if (upstream === own && fault.startsWith('streams ')) {
          t.regex(text, /"error"/);
          return;
        }
        t.is(status, 'stream', text);
        if (upstream === own) {
          t.is(text.match(/"error":\{/g)?.length, 1, text);
          t.notRegex(text, /message_stop|\[DONE\]/);
          return;
        }
        t.regex(text, /word/);
        t.truthy(read(text).error);
      });
    }
  }
}
