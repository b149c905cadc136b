import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { startGateway } from '../../support/gateway.ts';
import { jsonAnswer, type Script, startUpstream } from '../../support/upstreams/upstream.ts';
import { vertexBase } from '../../support/vendors/vertex.ts';

const reply = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-5',
  content: [{ type: 'text', text: 'fine' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
};

interface Rig {
  readonly base?: string;
  readonly options?: object;
  readonly provider?: object;
  readonly keyCommands?: readonly string[];
}

/** A gateway before a server that stands for a cloud. */
const rig = async (t: ExecutionContext, script: Script, { base = '', options, provider, keyCommands = [] }: Rig) => {
  const upstream = await startUpstream(script);
  const config = {
    LOG: false,
    RETRY: { attempts: 0 },
    Providers: [{ name: 'cloud', baseUrl: `${upstream.url}${base}`, apiKey: 'ya29.token', models: [], ...provider }],
    transformers: [{ name: 'anthropic', provider: 'cloud', options }],
  };
  const gateway = await startGateway(config, {}, { keyCommands });
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const post = async (path: string, body: string, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await request(`${gateway.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    return { status: answer.statusCode, text: await answer.body.text() };
  };
  const last = () => {
    const found = upstream.requests.at(-1);
    if (!found) throw new Error('nothing was sent');
    return found;
  };
  return { post, last, gateway, upstream };
};

const vertex = { base: vertexBase, options: { cloud: 'vertex' } };
const path = `${vertexBase}/publishers/anthropic/models`;

/** With what no parser keeps, and a member that no one knows. */
const body = (content: string): string =>
  `{"model":"cloud,claude-opus-4-5@20251101", "max_tokens": 99,"new_member":{"n":12345678901234567890}, "messages":[{"role":"user","content":${JSON.stringify(content)}}]}`;

const sentTo = (version: string, content: string): string =>
  `{"anthropic_version":"${version}","max_tokens": 99,"new_member":{"n":12345678901234567890},"messages":[{"role":"user","content":${JSON.stringify(content)}}]}`;

for (const [size, content] of [
  ['small', 'Hi.'],
  ['large', 'Hi. '.repeat(100_000)],
] as const) {
  test(`vertex: a ${size} body of a Messages client passes, without its model and with the version`, async (t) => {
    const { post, last } = await rig(t, () => jsonAnswer(reply), vertex);
    const answer = await post('/v1/messages', body(content), {
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'context-1m-2025-08-07, a-new-one',
    });
    t.is(answer.status, 200, answer.text);
    t.is(answer.text, JSON.stringify(reply));
    const { url, headers, text } = last();
    t.is(url, `${path}/claude-opus-4-5@20251101:rawPredict`);
    t.is(text, sentTo('vertex-2023-10-16', content));
    t.is(headers.authorization, 'Bearer ya29.token');
    t.is(headers['anthropic-beta'], 'context-1m-2025-08-07, a-new-one');
    t.is(headers['anthropic-version'], undefined);
    t.is(headers['x-api-key'], undefined);
  });
}

test('vertex: tokens are counted by an endpoint of its own, whose body names the model', async (t) => {
  const { post, last } = await rig(t, () => jsonAnswer({ input_tokens: 41 }), vertex);
  const answer = await post('/v1/messages/count_tokens', body('Hi.').replace('"max_tokens": 99,', ''));
  t.is(answer.text, '{"input_tokens":41}');
  t.is(last().url, `${path}/count-tokens:rawPredict`);
  t.like(last().body, { model: 'claude-opus-4-5@20251101', messages: [{ role: 'user', content: 'Hi.' }] });
});

test('vertex: a beta that is refused is left out from then on', async (t) => {
  const refuses: Script = ({ headers }) =>
    String(headers['anthropic-beta']).includes('a-new-one')
      ? jsonAnswer(
          {
            type: 'error',
            error: {
              type: 'invalid_request_error',
              message: 'Unexpected value(s) `a-new-one` for the `anthropic-beta` header.',
            },
          },
          400,
        )
      : jsonAnswer(reply);
  const { post, last, upstream } = await rig(t, refuses, vertex);
  for (const calls of [2, 3]) {
    const answer = await post('/v1/messages', body('Hi.'), { 'anthropic-beta': 'known,a-new-one' });
    t.is(answer.status, 200, answer.text);
    t.is(upstream.requests.length, calls);
    t.is(last().headers['anthropic-beta'], 'known');
  }
});

test('vertex: a key by command is a token, one of the cloud’s API keys is none', async (t) => {
  const command = [process.execPath, '-e', "process.stdout.write('ya29.printed')"];
  const printed = await rig(t, () => jsonAnswer(reply), {
    ...vertex,
    provider: { apiKey: { command } },
    keyCommands: [JSON.stringify(command)],
  });
  t.is((await printed.post('/v1/messages', body('Hi.'))).status, 200);
  t.is(printed.last().headers.authorization, 'Bearer ya29.printed');
  const express = await rig(t, () => jsonAnswer(reply), { ...vertex, provider: { apiKey: 'AIzaKey' } });
  t.is((await express.post('/v1/messages', body('Hi.'))).status, 200);
  t.is(express.last().headers['x-goog-api-key'], 'AIzaKey');
  t.is(express.last().headers.authorization, undefined);
});
