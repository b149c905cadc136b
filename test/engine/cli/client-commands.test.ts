import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { parseConfig } from '../../../engine/config/parse.ts';
import { hashedKey } from '../../../engine/config/sections/clients.ts';
import { commandRig } from '../../support/processes/command.ts';

const config = {
  APIKEY: 'admin',
  PORT: 0,
  LOG: false,
  Providers: [{ name: 'demo', baseUrl: 'http://demo.invalid/v1', apiKey: '', models: ['echo'] }],
};

test('F11 client add --expires takes a date or a span; what is neither is a fault', async (t) => {
  const { home, ask } = await commandRig(t, config);
  const dated = await ask(['client', 'add', 'a', '--expires', '2020-01-31']);
  const spanned = await ask(['client', 'add', 'b', '--expires', '2d']);
  const wrong = await ask(['client', 'add', 'c', '--expires', 'soon']);
  const listed = await ask(['client', 'list']);
  const parsed = parseConfig(await readFile(join(home, 'config.json'), 'utf8'));
  const clients = 'source' in parsed && Array.isArray(parsed.source.CLIENTS) ? parsed.source.CLIENTS : [];

  t.deepEqual([dated.code, spanned.code], [0, 0], dated.err + spanned.err);
  t.is(clients[0]?.expires, '2020-01-31');
  const inDays = (Date.parse(String(clients[1]?.expires)) - Date.now()) / 86_400_000;
  t.true(inDays > 1.9 && inDays <= 2, String(clients[1]?.expires));
  t.is(wrong.code, 1);
  t.regex(wrong.err, /CLIENTS\[2\]\.expires must be a date/);
  t.regex(listed.out, /a {2}all models, EXPIRED 2020-01-31T00:00:00/);
  t.regex(listed.out, /b {2}all models, expires /);
});

test('client add, list, revoke: the key is shown once, and a running service takes both changes up', async (t) => {
  const { home, ask, run, begin } = await commandRig(t, config);
  const service = begin(['start']);
  await service.says('listens on');
  const [, baseUrl = ''] = /(http:\S+)/.exec(service.out()) ?? [];
  const file = () => readFile(join(home, 'config.json'), 'utf8');
  const statusFor = async (key: string): Promise<number> => {
    const answer = await fetch(`${baseUrl}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: JSON.stringify({ model: 'demo,echo', messages: [{ role: 'user', content: 'Hello' }] }),
    });
    await answer.text();
    return answer.status;
  };
  const options = [
    '--models',
    'echo',
    'other-*',
    '--requests-per-minute',
    '60',
    '--streams',
    '4',
    '--budget-usd',
    '2.5',
  ];
  const added = await run(['client', 'add', 'team-a', ...options]);
  t.is(added.code, 0, added.err);
  t.regex(added.out, /^sk-junctor-[\w-]{43}\n$/, 'the key alone is on standard output');
  t.regex(added.err, /Added team-a to config\.json/);
  const key = added.out.trim();
  const parsed = parseConfig(await file());
  t.deepEqual('source' in parsed && parsed.source.CLIENTS, [
    {
      name: 'team-a',
      key: hashedKey(key),
      models: ['echo', 'other-*'],
      limits: { requestsPerMinute: 60, streams: 4 },
      budget: { usd: 2.5, per: 'month' },
    },
  ]);
  t.is(await statusFor(key), 200, 'the command returns when the service has the key');

  const listed = await ask(['client', 'list']);
  t.regex(
    listed.out,
    /^team-a {2}models echo other-\*, requestsPerMinute 60, streams 4, 2\.5 USD per month {2}today 1 requests, \d+ tokens, ≥ 0 USD, this month 1.*\n +no price is known of demo,echo: these don't count in its budget in USD\n$/,
  );
  t.like(JSON.parse((await ask(['client', 'list', '--json'])).out)[0], {
    name: 'team-a',
    usage: { today: { requests: 1 } },
  });
  t.false(listed.out.includes(hashedKey(key).slice(7)));

  const revoked = await ask(['client', 'revoke', 'team-a']);
  t.is(revoked.code, 0, revoked.err);
  t.is(await statusFor(key), 401, 'the command returns when the service refuses the key');
  t.regex(
    (await ask(['client', 'list'])).out,
    /^There are no clients with keys of their own\.\nRequests refused since the start for want of a valid key: \d+\.\n$/,
  );
  t.regex((await ask(['status'])).out, /refused +\d+ requests without a valid key/);
});

test('without APIKEY, the first client says what it changes, and the last one takes CLIENTS with it', async (t) => {
  const { home, ask } = await commandRig(t, { ...config, APIKEY: undefined });
  const first = await ask(['client', 'add', 'a']);
  t.regex(first.err, /programs that call without one get 401/);
  t.regex(first.err, /`junctor client add existing-tools` makes a key/);
  const second = await ask(['client', 'add', 'existing-tools']);
  t.notRegex(second.err, /401/);
  t.is((await ask(['client', 'revoke', 'a'])).err, '');
  t.regex((await ask(['client', 'revoke', 'existing-tools'])).err, /the model routes need no key any more/);
  const parsed = parseConfig(await readFile(join(home, 'config.json'), 'utf8'));
  t.false('source' in parsed && 'CLIENTS' in parsed.source);
});

test('client commands refuse what is wrong and write nothing then', async (t) => {
  const { home, ask, run } = await commandRig(t, { ...config, CLIENTS: [{ name: 'a', key: hashedKey('k') }] });
  const before = await readFile(join(home, 'config.json'), 'utf8');
  for (const [args, says] of [
    [['add', 'a'], /CLIENTS\[1\]\.name is the name of CLIENTS\[0\] too/],
    [['add', 'b c'], /CLIENTS\[1\]\.name must be 1 to 64/],
    [['add', 'b', '--streams', 'many'], /CLIENTS\[1\]\.limits\.streams must be integer/],
    [['add', 'b', '--requests-per-minute', '0'], /CLIENTS\[1\]\.limits\.requestsPerMinute must be >= 1/],
    [['add', 'b', '--budget-usd', '-1'], /CLIENTS\[1\]\.budget\.usd must be number/],
    [['add', 'b', '--routes', 'nowhere'], /CLIENTS\[1\]\.routes\[0\] is no route/],
    [['revoke', 'b'], /There is no client "b"\./],
  ] as const) {
    const { code, out, err } = await ask(['client', ...args]);
    t.is(code, 1, err);
    t.regex(err, says);
    t.is(out, '');
  }
  t.is(await readFile(join(home, 'config.json'), 'utf8'), before);
  const hashed = await run(['client', 'hash'], { input: 'k\n' });
  t.is(hashed.out.trim(), hashedKey('k'));
  t.is((await run(['client', 'hash'], { input: '\n' })).code, 1);
});

test('client add names the fault of a file that is no JSON, at its place', async (t) => {
  const { home, run } = await commandRig(t, { ...config, PORT: 'x', LOG: 1 });
  t.regex((await run(['client', 'add', 'b'])).err, /Nothing was written:\n- PORT [^\n]*\n- LOG [^\n]*\n$/);
  await writeFile(join(home, 'config.json'), '{ PORT: 1, "LOG" }');
  t.regex(
    (await run(['client', 'add', 'b'])).err,
    /can't be read:\n- [^\n]* is not valid JSON: [^\n]* at line 1, column 3\n$/,
  );
});

test('where the file can not be written, client add prints the line to add', async (t) => {
  if (process.getuid?.() === 0) return t.pass('the administrator of the machine may write everything');
  const { home, ask } = await commandRig(t, config);
  await chmod(home, 0o500);
  t.teardown(() => chmod(home, 0o700));
  const { code, out, err } = await ask(['client', 'add', 'b']);
  t.is(code, 0, err);
  t.true(err.includes(`{"name":"b","key":"${hashedKey(out.trim())}"}`), err);
  t.is((await ask(['client', 'revoke', 'b'])).code, 1);
  return undefined;
});
