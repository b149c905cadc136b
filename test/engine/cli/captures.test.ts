import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { addressIn, commandRig } from '../../support/processes/command.ts';
import { chatStream } from '../../support/upstreams/chat-stream.ts';
import { sseAnswer, startUpstream } from '../../support/upstreams/upstream.ts';

test('junctor captures, junctor replay: a running service’s capture becomes a file and is played without the service', async (t) => {
  const upstream = await startUpstream(() => sseAnswer(chatStream(['Hel', 'lo'])));
  t.teardown(upstream.close);
  const rig = await commandRig(t, {
    Providers: [{ name: 'p', baseUrl: `${upstream.url}/v1`, apiKey: 'provider-key-0123456789', models: ['m'] }],
    Router: { default: 'p,m' },
  });
  const service = rig.begin(['start'], { env: { JUNCTOR_PORT: '0' } });
  await service.says('Try it');
  t.regex((await rig.run(['captures', 'list'])).err, /^No request is captured\./);
  const response = await fetch(`${addressIn(service.out())}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-junctor-capture': '1', 'x-request-id': 'first' },
    body: JSON.stringify({ model: 'any', stream: true, messages: [{ role: 'user', content: 'A secret question' }] }),
  });
  await response.text();
  t.regex(
    (await rig.ask(['captures', 'list'])).out,
    /^first {2}\d{4}-.*Z {2}chat {2}p,m {2}200 {2}A secret question\n$/,
  );

  const [plain, redacted] = [join(rig.home, 'first.json'), join(rig.home, 'redacted.json')];
  await rig.ask(['captures', 'export', 'first', plain]);
  await rig.ask(['captures', 'export', 'first', redacted, '--redact']);
  t.is((await stat(plain)).mode & 0o777, 0o600);
  t.regex(await readFile(plain, 'utf8'), /A secret question/);
  t.notRegex((await readFile(plain, 'utf8')) + (await readFile(redacted, 'utf8')), /provider-key/);
  t.notRegex(await readFile(redacted, 'utf8'), /secret question/);
  t.like(await rig.run(['captures', 'export', 'second', plain]), {
    code: 1,
    err: 'junctor: There is no capture of that id, or not any more.\n',
  });

  await rig.ask(['stop', '--force']);
  const played = await rig.run(['replay', plain, '--client', 'messages']);
  t.is(played.code, 0);
  t.regex(played.out, /event: message_stop/);
  const same = await rig.run(['replay', redacted]);
  t.is(same.code, 0);
  t.regex(same.err, /^status 200, as recorded; 4 records, all as recorded$/m);

  // The provider's answer lacks its end: the client gets an error of its own protocol.
  const capture = JSON.parse(await readFile(plain, 'utf8'));
  const cut = join(rig.home, 'cut.json');
  const chunks = [{ atMs: 0, text: 'data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n' }];
  await writeFile(
    cut,
    JSON.stringify({ ...capture, capture: { ...capture.capture, upstream: { ...capture.capture.upstream, chunks } } }),
  );
  const broken = await rig.run(['replay', cut, '--client', 'messages']);
  t.like(broken, { code: 0 });
  t.regex(
    broken.err,
    /^the provider's answer: record 1: object: expected "chat\.completion\.chunk" \(chunk\), 4 times$/m,
  );
  t.regex(broken.err, /^the provider's answer: record 2: expected \[DONE\] or an error \(end\)$/m);
  t.notRegex(broken.err, /answer to the client/);
  for (const [text, words] of [
    ['{}', 'It is not a capture'],
    [
      JSON.stringify({ ...capture, version: 9 }),
      'It is a capture of version 9 of the format; this version of Junctor reads version 1.',
    ],
    [JSON.stringify(capture, null, 2).slice(0, -9), 'It is a capture that was cut off'],
    [JSON.stringify({ ...capture, capture: {} }), 'It is damaged: capture.'],
  ] as const) {
    await writeFile(cut, text);
    const refused = await rig.run(['replay', cut]);
    t.is(refused.code, 1);
    t.true(refused.err.startsWith(`junctor: Cannot replay ${cut}. ${words}`), refused.err);
    t.is(refused.err.trimEnd().split('\n').length, 1);
  }
  t.is(upstream.requests.length, 1);
});
