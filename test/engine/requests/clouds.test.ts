import test, { type ExecutionContext } from 'ava';
import { request } from 'undici';
import { startGateway } from '../../support/gateway.ts';
import { jsonAnswer, type Script, startUpstream } from '../../support/upstreams/upstream.ts';
import { chunk, eventStreamType, exception } from '../../support/vendors/bedrock.ts';
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
  readonly healthNowMs?: () => number;
}

/** A gateway before a server that stands for a cloud. */
const rig = async (
  t: ExecutionContext,
  script: Script,
  { base = '', options, provider, keyCommands = [], healthNowMs }: Rig,
) => {
  const upstream = await startUpstream(script);
  const config = {
    LOG: false,
    RETRY: { attempts: 0 },
    Providers: [{ name: 'cloud', baseUrl: `${upstream.url}${base}`, apiKey: 'ya29.token', models: [], ...provider }],
    transformers: [{ name: 'anthropic', provider: 'cloud', options }],
  };
  const gateway = await startGateway(config, {}, { keyCommands, ...(healthNowMs && { healthNowMs }) });
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

const bedrock = { options: { cloud: 'bedrock', region: 'eu-west-1' } };
const claude = 'arn:aws:bedrock:eu-west-1:123456789012:inference-profile/eu.anthropic.claude-x-v1:0';
const claudePath = `/model/${encodeURIComponent(claude)}`;
const ask = (more = ''): string =>
  `{"model":"cloud,${claude}", "max_tokens": 99,${more}"n":12345678901234567890, "messages":[{"role":"user","content":"Hi."}]}`;

test('bedrock: a body of a Messages client passes, with the version and its betas, without model and stream', async (t) => {
  const { post, last } = await rig(t, () => jsonAnswer(reply), bedrock);
  const headers = { 'anthropic-version': '2026-10-21', 'anthropic-beta': 'context-1m-2025-08-07, a-new-one' };
  const answer = await post('/v1/messages', ask('"stream":false,'), headers);
  t.is(answer.text, JSON.stringify(reply));
  t.is(last().url, `${claudePath}/invoke`);
  t.is(
    last().text,
    '{"anthropic_version":"bedrock-2023-05-31","anthropic_beta":["context-1m-2025-08-07","a-new-one"],"max_tokens": 99,"n":12345678901234567890,"messages":[{"role":"user","content":"Hi."}]}',
  );
  t.is(last().headers.authorization, 'Bearer ya29.token');
  t.is(last().headers['anthropic-beta'], undefined);
});

test('bedrock: tokens are estimated, without a call', async (t) => {
  const { post, upstream } = await rig(t, () => jsonAnswer(reply), bedrock);
  t.regex(
    (await post('/v1/messages/count_tokens', ask().replace('"max_tokens": 99,', ''))).text,
    /^\{"input_tokens":\d+\}$/,
  );
  t.is(upstream.requests.length, 0);
});

const start = `{"type":"message_start","message":${JSON.stringify({ ...reply, content: [], stop_reason: null })}}`;
const stop = '{"type":"message_stop","amazon-bedrock-invocationMetrics":{"inputTokenCount":1}}';
const streamed = (...pieces: readonly Uint8Array[]): Script => {
  const bytes = Buffer.concat(pieces);
  const headers = { 'content-type': eventStreamType };
  return () => ({ headers, pieces: [bytes.subarray(0, 5), bytes.subarray(5, 40), bytes.subarray(40)] });
};

test('bedrock: the records of a stream reach a Messages client as the vendor writes them', async (t) => {
  const { post, last } = await rig(t, streamed(chunk(start), chunk('{"p":"of the cloud"}'), chunk(stop)), bedrock);
  const { text } = await post('/v1/messages', ask('"stream":true,'));
  t.is(text, `event: message_start\ndata: ${start}\n\nevent: message_stop\ndata: ${stop}\n\n`);
  t.is(last().url, `${claudePath}/invoke-with-response-stream`);
  t.is(last().headers.accept, eventStreamType);
});

const damaged = Buffer.from(chunk(stop));
damaged.writeUInt8(damaged.readUInt8(20) ^ 1, 20);
const huge = Buffer.from(chunk(stop));
huge.writeUInt32BE(0x7f_ff_ff_ff, 0);

for (const [title, rest, says] of [
  ['a limit', exception('throttlingException', 'Too many tokens.'), /"rate_limit_error","message":"Too many tokens\. /],
  ['an overload', exception('serviceUnavailableException', 'Busy.'), /"overloaded_error","message":"Busy\. /],
  ['an unknown failure', exception('modelStreamErrorException', ''), /"api_error"/],
  ['a damaged message', damaged, /event stream can't be read: a checksum is wrong/],
  ['a length that no message has', huge, /event stream can't be read/],
  ['half a message', chunk(stop).subarray(0, 60), /ended in the middle/],
] as const) {
  test(`bedrock: ${title} in a stream is one error`, async (t) => {
    const { post } = await rig(t, streamed(chunk(start), rest), bedrock);
    const { text } = await post('/v1/messages', ask('"stream":true,'));
    t.is(text.match(/"type":"error"/g)?.length, 1, text);
    t.regex(text, says);
  });
}

const refused = (type: string, message: string, date?: string): ReturnType<typeof jsonAnswer> => {
  const answer = jsonAnswer({ message }, type === 'ThrottlingException' ? 429 : 403);
  return { ...answer, headers: { ...answer.headers, 'x-amzn-errortype': `${type}:http://a`, ...(date && { date }) } };
};

const secret = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';
const signing = { ...bedrock, provider: { apiKey: `AKIAIOSFODNN7EXAMPLE:${secret}:the+session==` } };

test('bedrock: a key for signatures isn’t sent; its session’s token is', async (t) => {
  const { post, last } = await rig(t, () => jsonAnswer(reply), signing);
  const answer = await post('/v1/messages', ask());
  t.is(answer.status, 200, answer.text);
  const { headers, text } = last();
  t.regex(
    String(headers.authorization),
    /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/eu-west-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
  );
  t.is(headers['x-amz-security-token'], 'the+session==');
  t.false(`${JSON.stringify(headers)}${text}`.includes(secret));
});

const serverDate = 'Sat, 28 Nov 2026 12:00:00 GMT';
const serverMs = Date.parse(serverDate);

test('bedrock: a clock that is off is corrected by the server’s, and the request is sent once more', async (t) => {
  const script: Script = ({ headers }) =>
    String(headers['x-amz-date']).startsWith('20261128T1200')
      ? jsonAnswer(reply)
      : refused('InvalidSignatureException', 'Signature expired: it is now earlier.', serverDate);
  const { post, upstream } = await rig(t, script, { ...signing, healthNowMs: () => serverMs - 301_000 });
  t.is((await post('/v1/messages', ask())).status, 200);
  t.is((await post('/v1/messages', ask())).status, 200);
  t.is(upstream.requests.length, 3);
});

test('bedrock: a signature that the right time doesn’t mend is refused once, in the cloud’s name', async (t) => {
  const script: Script = () => refused('SignatureDoesNotMatch', 'No match.', serverDate);
  const { post, upstream } = await rig(t, script, { ...signing, healthNowMs: () => serverMs + 2_000 });
  const answer = await post('/v1/messages', ask());
  t.is(answer.status, 401, answer.text);
  t.is(upstream.requests.length, 1);
  t.false(answer.text.includes('session=='));
});

test('bedrock: a printed key that has ended is renewed, and the request is sent once more', async (t) => {
  const code = `const fs = require('node:fs'); fs.appendFileSync('runs', 'x');
    console.log(JSON.stringify({ Version: 1, AccessKeyId: 'ASIA' + fs.readFileSync('runs').length, SecretAccessKey: 's', SessionToken: 't' }, null, 2))`;
  const command = [process.execPath, '-e', code];
  const script: Script = ({ headers }) =>
    String(headers.authorization).includes('ASIA1/')
      ? refused('ExpiredTokenException', 'The security token included in the request is expired')
      : jsonAnswer(reply);
  const { post, last, upstream } = await rig(t, script, {
    ...bedrock,
    provider: { apiKey: { command } },
    keyCommands: [JSON.stringify(command)],
  });
  const answer = await post('/v1/messages', ask());
  t.is(answer.status, 200, answer.text);
  t.regex(String(last().headers.authorization), /Credential=ASIA2\//);
  t.is(upstream.requests.length, 2);
});

test('bedrock: a limit is one, with the cloud’s words', async (t) => {
  const { post } = await rig(t, () => refused('ThrottlingException', 'Too many requests, please wait.'), bedrock);
  const { status, text } = await post('/v1/messages', ask());
  t.is(status, 429);
  t.regex(text, /"rate_limit_error".*Too many requests, please wait\./);
});

test('bedrock: betas that are refused are left out from then on', async (t) => {
  const script: Script = ({ text }) => {
    if (!text.includes('anthropic_beta')) return jsonAnswer(reply);
    const answer = jsonAnswer({ message: 'invalid beta flag' }, 400);
    return { ...answer, headers: { ...answer.headers, 'x-amzn-errortype': 'ValidationException' } };
  };
  const { post, upstream } = await rig(t, script, bedrock);
  for (const calls of [2, 3]) {
    const answer = await post('/v1/messages', ask(), { 'anthropic-beta': 'one-new,another' });
    t.is(answer.status, 200, answer.text);
    t.is(upstream.requests.length, calls);
  }
});
