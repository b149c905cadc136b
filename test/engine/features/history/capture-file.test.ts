import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { replayCapture } from '../../../../engine/cli/commands/capture-commands.ts';
import { readCaptureFile } from '../../../../engine/features/history/capture-file.ts';
import { compareReplies } from '../../../../engine/features/history/compare-replies.ts';
import { startGateway } from '../../../support/gateway.ts';
import { jsonAnswer, recordedAnswer, sseAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

const clientKey = 'client-key-0123456789';

/** What a client of each protocol sends. */
const requests = {
  '/v1/messages': { max_tokens: 99, messages: [{ role: 'user', content: 'A secret question' }] },
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'A secret question' }] },
  '/v1/responses': { input: 'A secret question' },
} as const;

/** Recorded answers, cut at odd places, with the format that reads them. */
const answers = [
  { name: 'anthropic', file: 'anthropic/tools-parallel-with-text.sse' },
  { name: 'openai', file: 'openai-chat/compat-xai-reasoning-tool.sse' },
  { name: 'gemini', file: 'gemini/tool-with-id-gemini3.sse' },
] as const;

const rig = async (t: ExecutionContext) => {
  const upstreams = await Promise.all(answers.map(({ file }) => startUpstream(() => recordedAnswer(file, 37))));
  const gateway = await startGateway({
    APIKEY: clientKey,
    Providers: answers.map(({ name }, index) => ({
      name,
      baseUrl: upstreams[index]?.url,
      apiKey: 'provider-key-0123456789',
      models: ['m'],
    })),
    transformers: answers.map(({ name }) => ({ name, provider: name })),
  });
  t.teardown(async () => {
    await gateway.stop();
    for (const upstream of upstreams) await upstream.close();
  });
  const said: string[] = [];
  const printed: string[] = [];
  const cli = {
    env: {},
    home: gateway.home,
    print: (line: string) => void printed.push(line),
    warn: (line: string) => void said.push(line),
  };
  const capture = async (path: keyof typeof requests, provider: string): Promise<string> => {
    const response = await fetch(gateway.baseUrl + path, {
      method: 'POST',
      headers: { 'x-api-key': clientKey, 'x-junctor-capture': '1' },
      body: JSON.stringify({ ...requests[path], model: `${provider},m`, stream: true }),
    });
    await response.text();
    return response.headers.get('x-request-id') ?? '';
  };
  const file = async (id: string, redact: boolean): Promise<string> => {
    const address = `${gateway.baseUrl}/api/requests/${id}/capture?redact=${redact}`;
    const response = await fetch(address, { headers: { 'x-api-key': clientKey } });
    t.is(response.status, 200, id);
    t.regex(response.headers.get('content-disposition') ?? '', /^attachment; filename="junctor-.*\.json"$/);
    return response.text();
  };
  const calls = (): number => upstreams.reduce((sum, { requests: all }) => sum + all.length, 0);
  return { gateway, cli, said, printed, capture, file, calls };
};

test('a capture is played from its file as it was, for each client and format, without a call', async (t) => {
  const { cli, said, printed, capture, file, calls, gateway } = await rig(t);
  for (const path of ['/v1/messages', '/v1/chat/completions', '/v1/responses'] as const) {
    for (const { name } of answers) {
      const id = await capture(path, name);
      const before = calls();
      for (const redact of [false, true]) {
        const text = await file(id, redact);
        t.notRegex(text, /-key-0123456789/, `${path} ${name}`);
        t.is(/secret question/.test(text), !redact, `${path} ${name}`);
        const at = join(gateway.home, 'capture.json');
        await writeFile(at, text);
        said.length = 0;
        t.is(await replayCapture(cli, at, { speed: 'max' }), 0, `${path} ${name} ${redact}: ${said.join('\n')}`);
        t.regex(said.at(-1) ?? '', /^status 200, as recorded; \d+ records, all as recorded$/);
      }
      // For another client: its own protocol, at a speed.
      said.length = 0;
      const at = join(gateway.home, 'capture.json');
      t.is(await replayCapture(cli, at, { client: 'chat', speed: '1000' }), 0, said.join('\n'));
      t.regex(printed.at(-1) ?? '', /data: \[DONE\]$/);
      t.is(calls(), before);
    }
  }
});

test('what today’s configuration changes is told with the first record that differs', async (t) => {
  const { cli, said, capture, file, gateway } = await rig(t);
  const id = await capture('/v1/messages', 'openai');
  const captured = JSON.parse(await file(id, false));
  const [first, ...rest] = captured.capture.reply.chunks;
  captured.capture.reply.chunks = [{ ...first, text: first.text.replace('message_start', 'message_begun') }, ...rest];
  const at = join(gateway.home, 'changed.json');
  await writeFile(at, JSON.stringify(captured));
  t.is(await replayCapture(cli, at, { speed: 'max' }), 1);
  t.is(said.at(-3), 'status 200, as recorded; record 1 differs');
  t.regex(said.at(-2) ?? '', /^recorded {2}event: message_begun /);
  t.regex(said.at(-1) ?? '', /^now {7}event: message_start /);

  await t.throwsAsync(replayCapture(cli, at, { to: 'other,m', speed: 'max' }), {
    message: 'The provider "other" is not configured. --to names another destination.',
  });
  await t.throwsAsync(replayCapture(cli, at, { to: 'other', speed: 'max' }), {
    message: '--to must be `provider,model`.',
  });
  await t.throwsAsync(replayCapture(cli, at, { speed: '0' }), {
    message: '--speed must be a number up to 1000, or max.',
  });
  await t.throwsAsync(replayCapture(cli, at, { client: 'x', speed: 'max' }), { message: /^--client must be one of / });
});

test('a failure is played as it was', async (t) => {
  for (const [status, answer] of [
    [502, sseAnswer([])],
    [529, jsonAnswer({ type: 'error', error: { type: 'overloaded_error', message: 'Too many' } }, 529)],
  ] as const) {
    const upstream = await startUpstream(() => answer);
    t.teardown(upstream.close);
    const gateway = await startGateway({
      RETRY: { attempts: 0 },
      Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
      transformers: [{ name: 'anthropic', provider: 'p' }],
    });
    t.teardown(gateway.stop);
    const response = await fetch(`${gateway.baseUrl}/v1/messages`, {
      method: 'POST',
      headers: { 'x-junctor-capture': '1' },
      body: JSON.stringify({ ...requests['/v1/messages'], model: 'p,m', stream: true }),
    });
    t.is(response.status, status);
    await response.text();
    const id = response.headers.get('x-request-id');
    const file = await fetch(`${gateway.baseUrl}/api/requests/${id}/capture`);
    const at = join(gateway.home, 'failure.json');
    await writeFile(at, await file.text());
    const said: string[] = [];
    const cli = { env: {}, home: gateway.home, print: () => undefined, warn: (line: string) => void said.push(line) };
    t.is(await replayCapture(cli, at, { speed: 'max' }), 0, said.join());
    t.regex(said.at(-1) ?? '', new RegExp(`^status ${status}, as recorded`));
  }
});

test('what is no capture is told in one line', async (t) => {
  const { cli, gateway, capture, file } = await rig(t);
  const text = await file(await capture('/v1/messages', 'openai'), false);
  const cases: readonly (readonly [text: string, message: RegExp])[] = [
    ['', /^It is not a capture: a file that `junctor captures export` writes begins with/],
    ['[1]', /^It is not a capture/],
    ['{"log":{"version":"1.2"}}', /^It is not a capture/],
    ['{"junctor":"capture"}', /^It has no version of its format\.$/],
    [
      text.replace('"version": 1', '"version": 2'),
      /^It is a capture of version 2 of the format; this version of Junctor reads version 1\.$/,
    ],
    [text.replace('"chunks": [', '"chunks": [7, '), /^It is damaged: capture\.(?:upstream|reply)\b.* must /],
    [text.slice(0, -20), /^It is a capture that was cut off: its JSON text has no end\.$/],
  ];
  for (const [given, message] of cases) {
    const read = readCaptureFile(given);
    t.regex(typeof read === 'string' ? read : 'it was read', message);
  }
  const at = join(gateway.home, 'no-capture.json');
  await writeFile(at, '{}');
  await t.throwsAsync(replayCapture(cli, at, { speed: 'max' }), {
    message: /^Cannot replay .*no-capture\.json\. It is not/,
  });
  await t.throwsAsync(replayCapture(cli, `${at}.gone`, { speed: 'max' }), { message: /^Cannot read / });
});

test('two replies are the same but for ids, times and pings', (t) => {
  const chat = (id: string, at: number, text: string): string =>
    `data: {"id":"${id}","created":${at},"choices":[{"delta":{"content":"${text}"}}]}\n\n`;
  t.deepEqual(
    compareReplies(chat('a', 1, 'x') + chat('a', 1, 'y'), `: wait\n\n${chat('b', 2, 'x')}${chat('b', 3, 'y')}`),
    {
      isSame: true,
      records: 2,
    },
  );
  // An id that changes in the middle is a difference.
  t.like(compareReplies(chat('a', 1, 'x') + chat('a', 1, 'y'), chat('b', 2, 'x') + chat('c', 2, 'y')), { record: 2 });
  t.like(compareReplies(chat('a', 1, 'x'), ''), { isSame: false, record: 1 });
  t.deepEqual(compareReplies('event: ping\ndata: {}\n\n', ''), { isSame: true, records: 0 });
  t.like(compareReplies('{"id":"a","n":1}', '{"id":"b","n":2}'), { record: 1 });
});
