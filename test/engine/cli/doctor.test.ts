import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { refusingHosts } from '../../support/hosts/refusing-hosts.ts';
import { commandRig } from '../../support/processes/command.ts';
import { until } from '../../support/until.ts';
import { jsonAnswer, startUpstream } from '../../support/upstreams/upstream.ts';
import { chatVendor } from '../../support/vendors/chat.ts';
import { serveVendor } from '../../support/vendors/serve-vendor.ts';

const provider = (baseUrl: string, more: object = {}) => ({
  name: 'p',
  baseUrl: `${baseUrl}/v1`,
  apiKey: 'the-secret-key',
  models: ['model-x'],
  ...more,
});

test('junctor doctor: what heals is written, comments are kept, and the next run finds nothing', async (t) => {
  const upstream = await refusingHosts['openai: a temperature']?.serve('the-secret-key');
  if (!upstream) return t.fail();
  t.teardown(upstream.close);
  const rig = await commandRig(t);
  const file = join(rig.home, 'config.json');
  const text = `{
  // mine
  "PORT": 0,
  "Providers": [${JSON.stringify(provider(upstream.url))}], // theirs
  "Router": { "default": "p,model-x" }
}
`;
  await writeFile(file, text);

  const first = await rig.ask(['doctor', '--yes']);
  const untouched = await readFile(file, 'utf8');
  const second = await rig.ask(['doctor', 'p', '--json', '--apply']);
  const written = await readFile(file, 'utf8');
  const third = await rig.ask(['doctor', 'p,model-x', '--yes']);

  t.is(first.code, 1);
  t.regex(
    first.err,
    /^Examines p,model-x by about \d+ short requests: at most \d+, with at most [\d,]+ tokens of output/,
  );
  t.regex(first.out, /^stream +ok$/m);
  t.regex(first.out, /^temperature +deviates +Unsupported value: 'temperature'/m);
  t.regex(first.out, /it sent: \{"error":/);
  t.regex(first.out, /heals it: Providers\[p\]\.models: \{"name":"model-x","lacks":\["sampling"\]\}/);
  t.regex(first.out, /not examined: /);
  t.is(untouched, text);
  t.is(second.code, 0, second.err);
  t.like(JSON.parse(second.out), {
    provider: 'p',
    model: 'model-x',
    changes: [{ to: 'lacks', lack: 'sampling' }],
  });
  t.regex(written, /\/\/ mine[\s\S]*"lacks": ?\[\s*"sampling"\s*\][\s\S]*\/\/ theirs/);
  t.is(third.code, 0, third.out);
  t.regex(third.out, /no deviation\.$/m);
  t.notRegex(first.out + second.out + second.err, /the-secret-key/);
});

test('junctor doctor: what cannot be examined is one clear line, and exit code 1', async (t) => {
  const upstream = await serveVendor(chatVendor, 'another-key');
  t.teardown(upstream.close);
  const lost = await startUpstream(() => jsonAnswer({ error: { message: 'There is no model-x.' } }, 404));
  t.teardown(lost.close);
  const dead = await startUpstream(() => jsonAnswer({}));
  await dead.close();
  const rig = await commandRig(t, {
    Providers: [
      provider(upstream.url),
      provider(dead.url, { name: 'dead' }),
      provider(lost.url, { name: 'lost' }),
      provider(upstream.url, { name: 'none', models: [] }),
      provider(upstream.url, { name: 'theirs', apiKey: undefined, credentials: 'client' }),
      provider(upstream.url, { name: 'by-command', apiKey: { command: ['print-a-key'] } }),
    ],
  });
  for (const [args, says] of [
    [[], /^junctor: Name a provider: there is no default route\.$/],
    [['nobody'], /^junctor: There is no provider "nobody"; there are: p, dead, lost, none, theirs, by-command\.$/],
    [['nobody,model-x'], /^junctor: There is no provider "nobody"/],
    [['none'], /^junctor: Provider "none" lists no models: name one, as in none,MODEL\.$/],
    [['theirs'], /^junctor: Provider "theirs" has no key of its own: its clients send theirs\.$/],
    [['p'], /^junctor: p,model-x can't be examined: The upstream refused the credentials of this provider\.$/],
    [['dead'], /^junctor: dead,model-x can't be examined: .*(?:reach|connect)/],
    [['lost'], /^junctor: lost,model-x can't be examined: There is no model-x\.$/],
    [['by-command'], /^junctor: by-command,model-x can't be examined: .*--allow-key-command/],
  ] as const) {
    const { code, err, out } = await rig.ask(['doctor', ...args]);
    const lines = err
      .trimEnd()
      .split('\n')
      .filter((line) => !line.startsWith('Examines '));
    t.is(code, 1, args.join(' '));
    t.is(lines.length, 1, err);
    t.regex(lines[0] ?? '', says);
    t.is(out, '');
  }
  const missing = await commandRig(t);
  t.regex(
    (await missing.ask(['doctor'])).err,
    /^junctor: .*config\.json does not exist\. The first start creates it\.\n$/,
  );
  await writeFile(join(missing.home, 'config.json'), '{ "PORT": "x" }');
  t.regex((await missing.ask(['doctor'])).err, /^junctor: .*config\.json has faults:/);
});

test('junctor doctor: an interrupt stops it and changes nothing', async (t) => {
  const upstream = await startUpstream(() => ({ pieces: [], finish: 'stall' }));
  t.teardown(upstream.close);
  const rig = await commandRig(t, { Providers: [provider(upstream.url)] });
  const running = rig.begin(['doctor', 'p', '--apply']);
  await until(() => upstream.requests.length > 0);
  running.child.kill('SIGINT');
  const { code, err } = await running.ended;
  t.is(code, 130);
  t.regex(err, /^Interrupted: nothing was changed\.$/m);
});
