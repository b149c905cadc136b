import { readFile, stat } from 'node:fs/promises';
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
  t.like(await rig.run(['replay', redacted]), {
    code: 0,
    err: 'status 200, as recorded; 4 records, all as recorded\n',
  });
  t.is(upstream.requests.length, 1);
});
