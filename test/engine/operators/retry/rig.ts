import type { ExecutionContext } from 'ava';
import { request } from 'undici';
import { type GatewayExtras, startGateway } from '../../../support/gateway.ts';
import {
  type Script,
  type ScriptedUpstream,
  startUpstream,
  type UpstreamAnswer,
  type UpstreamRequest,
} from '../../../support/upstreams/upstream.ts';

/** What a client gets. */
interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** A gateway with short waits before upstreams `a`, `b`, `c` …, each with the model `m`; the default leads to `a`. */
interface Rig {
  readonly baseUrl: string;
  readonly home: string;
  readonly upstreams: readonly ScriptedUpstream[];
  /** Asks on the messages route, or another. */
  readonly ask: (over?: object, path?: string) => Promise<Got>;
  /** A service endpoint's answer. */
  readonly get: <T>(path: string) => Promise<T>;
  /** The lines of a metric. */
  readonly metric: (name: string) => Promise<readonly string[]>;
}

/** What the rig's configuration may say beside its upstreams. */
interface RigOptions extends Pick<GatewayExtras, 'healthNowMs' | 'nowMs' | 'files' | 'keyCommands' | 'keyCommandMs'> {
  /** Of providers, by their place. */
  readonly providers?: readonly object[];
  /** The format of each; default: that of the messages route. */
  readonly formats?: readonly string[];
  readonly config?: object;
}

/** Waits short enough for tests. */
export const quick = { baseMs: 4, maxMs: 50, waitMs: 2_000 };

/** Starts a rig whose upstreams do what the scripts say; falls back from each to the next. */
export const rig = async (
  t: ExecutionContext,
  scripts: readonly Script[],
  { providers = [], formats = [], config = {}, ...extras }: RigOptions = {},
): Promise<Rig> => {
  const upstreams = await Promise.all(scripts.map((script) => startUpstream(script)));
  const names = upstreams.map((_, index) => 'abcdef'.charAt(index));
  const written = {
    RETRY: quick,
    Providers: upstreams.map(({ url }, index) => ({
      name: names[index],
      baseUrl: url,
      apiKey: 'k',
      models: ['m'],
      ...providers[index],
    })),
    Router: { default: 'a,m', fallback: { default: names.slice(1).map((name) => `${name},m`) } },
    transformers: names.map((provider, index) => ({ name: formats[index] ?? 'anthropic', provider })),
    ...config,
  };
  // On a busy machine, a keep-alive would come before the answer's headers.
  const gateway = await startGateway(written, {}, { keepAliveMs: 600_000, ...extras });
  t.teardown(async () => {
    await gateway.stop();
    await Promise.all(upstreams.map((upstream) => upstream.close()));
  });
  return {
    baseUrl: gateway.baseUrl,
    home: gateway.home,
    upstreams,
    async ask(over = {}, path = '/v1/messages') {
      const answer = await request(`${gateway.baseUrl}${path}`, {
        method: 'POST',
        body: JSON.stringify({ model: 'any', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], ...over }),
      });
      return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
    },
    async get<T>(path: string): Promise<T> {
      const answer = await request(`${gateway.baseUrl}${path}`);
      // The answer's shape is what the tests are about.
      return (await answer.body.json()) as T;
    },
    async metric(name) {
      const answer = await request(`${gateway.baseUrl}/metrics`);
      const text = await answer.body.text();
      return text.split('\n').filter((line) => line.startsWith(`junctor_${name}`));
    },
  };
};

const sse = { 'content-type': 'text/event-stream' };
const json = { 'content-type': 'application/json' };

const start =
  'event: message_start\ndata: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}\n\n';
const word = (text: string): string =>
  `event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\nevent: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${text}"}}\n\n`;
const stop =
  'event: content_block_stop\ndata: {"type":"content_block_stop","index":0}\n\nevent: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":2}}\n\nevent: message_stop\ndata: {"type":"message_stop"}\n\n';

/** A good answer of the messages format, as a stream where one was asked for. */
export const good =
  (text = 'fine') =>
  ({ body }: UpstreamRequest): UpstreamAnswer =>
    Object(body).stream
      ? { headers: sse, pieces: [start, word(text), stop] }
      : {
          headers: json,
          pieces: [
            JSON.stringify({
              id: 'msg_1',
              type: 'message',
              role: 'assistant',
              model: 'm',
              content: [{ type: 'text', text }],
              stop_reason: 'end_turn',
              stop_sequence: null,
              usage: { input_tokens: 1, output_tokens: 2 },
            }),
          ],
        };

/** A stream that says one word, then waits. */
export const begun = (): UpstreamAnswer => ({ headers: sse, pieces: [start, word('one')], finish: 'stall' });

/** A stream that says one word, then breaks off. */
export const cut = (): UpstreamAnswer => ({ headers: sse, pieces: [start, word('one'), 50], finish: 'reset' });

/** A stream that begins with an error. */
export const errorFirst = (before = ''): UpstreamAnswer => ({
  headers: sse,
  pieces: [
    ...(before === '' ? [] : [before]),
    'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n',
  ],
});

/** A good answer of the chat format. */
export const goodChat =
  (text = 'fine') =>
  ({ body }: UpstreamRequest): UpstreamAnswer => {
    const chunk = (delta: object, finish: string | null) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    return Object(body).stream
      ? {
          headers: sse,
          pieces: [chunk({ role: 'assistant', content: text }, null), chunk({}, 'stop'), 'data: [DONE]\n\n'],
        }
      : {
          headers: json,
          pieces: [
            JSON.stringify({
              id: 'c',
              object: 'chat.completion',
              created: 1,
              model: 'm',
              choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
              usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 },
            }),
          ],
        };
  };

/** An answer with a failure status. */
export const failing =
  (status: number, headers: Readonly<Record<string, string>> = {}): Script =>
  () => ({
    status,
    headers: { ...json, ...headers },
    pieces: [JSON.stringify({ type: 'error', error: { type: 'x', message: `trouble ${status}` } })],
  });

/** One script after the other; the last one stays. */
export const inTurn =
  (...scripts: readonly Script[]): Script =>
  (asked, count) =>
    (scripts[Math.min(count, scripts.length) - 1] ?? failing(500))(asked, count);
