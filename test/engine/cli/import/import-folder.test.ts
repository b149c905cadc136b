import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import test from 'ava';
import { addressIn, commandRig } from '../../../support/processes/command.ts';
import { chatReply } from '../../../support/upstreams/chat-stream.ts';
import { jsonAnswer, startUpstream } from '../../../support/upstreams/upstream.ts';

const clientKey = `sha256:${'0123456789abcdef'.repeat(4)}`;

/** A module as it was written under the former name. */
const module = `import { rx, transformer } from '@switchyard/gateway/transformer';
export default transformer({ name: 'loud', request: (request) => request });
void rx;
`;

const filesOf = (folder: string, baseUrl: string): Readonly<Record<string, string>> => ({
  'config.json': `{
  // a comment of theirs
  "PORT": 0, "APIKEY": "admin",
  "CLIENTS": [{ "name": "team-a", "key": "${clientKey}" }],
  "Providers": [{ "name": "p", "baseUrl": "${baseUrl}", "apiKey": "", "models": ["m"] }],
  "transformers": [{ "path": "${folder}/mods/loud.js" }],
}
`,
  'mods/loud.js': module,
  'presets/review/manifest.json': '{"Router":{"default":"p,m"}}\n',
  'history/1764000000000.1-2.jsonl': '{"old":true}\n',
  'usage/clients.json': '{}',
  'usage/hours/2026-01.jsonl': '{"id":"2026-01-01T08.1-1","rows":[]}\n',
  'service.env': "SWITCHYARD_STATE_KEY='x'\nP_KEY='y'\n",
  'logs/switchyard-20260101000000.log': 'old\n',
  'switchyard.pid': '{}',
});

test('import --from: a folder of the former name is taken over as a whole, and its modules load', async (t) => {
  const upstream = await startUpstream(() => jsonAnswer(chatReply('from there')));
  t.teardown(upstream.close);
  const { home, run, begin } = await commandRig(t);
  const folder = join(home, '.switchyard');
  // A folder within ours isn't usual, but the rig removes it.
  const ours = join(home, 'ours');
  const env = { JUNCTOR_HOME: ours };
  const files = filesOf(folder, `${upstream.url}/v1`);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  await mkdir(join(ours, 'usage/hours'), { recursive: true });
  await writeFile(join(ours, 'usage/hours/2026-01.jsonl'), '{"id":"2026-01-02T08.2-2","rows":[]}\n');

  const told = await run(['status'], { env: { ...env, SWITCHYARD_PORT: '1' } });
  const dry = await run(['import', '--from', '~/.switchyard', '--dry-run'], { env });
  const before = await readFile(join(ours, 'config.json')).catch(() => undefined);
  const done = await run(['import', '--from', '~/.switchyard'], { env });
  const after = await run(['status'], { env });
  const read = (name: string): Promise<string> => readFile(join(ours, name), 'utf8');
  const [config, history, usage] = await Promise.all(
    ['config.json', 'history/1764000000000.1-2.jsonl', 'usage/hours/2026-01.jsonl'].map(read),
  );
  const service = begin(['start'], { env });
  await service.says('listens on');
  const answer = await fetch(`${addressIn(service.out())}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'x-api-key': 'admin' },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  const body = await answer.text();

  t.is(told.out.split('\n').filter((line) => line.includes('Switchyard')).length, 1, told.out);
  t.regex(told.out, /~\/\.switchyard isn't used: `junctor import --from ~\/\.switchyard`.*SWITCHYARD_PORT is ignored/);
  t.is(dry.code, 0, dry.err);
  t.is(before, undefined, 'a dry run writes nothing');
  t.is(done.code, 0, done.err);
  t.notRegex(after.out, /Switchyard/, 'nothing more is said after the import');
  t.is(answer.status, 200, `${body} ${service.out()}`);
  t.notRegex(service.out(), /can't be loaded|warning.*loud/);
  t.true(config?.includes('// a comment of theirs'));
  t.true(config?.includes(`"${ours}/mods/loud.js"`), config);
  t.is(history, '{"old":true}\n');
  t.regex(usage ?? '', /01-01T08.*\n.*01-02T08/);
  t.is(await read('service.env'), "JUNCTOR_STATE_KEY='x'\nP_KEY='y'\n");
  t.true((await read('presets/review/manifest.json')).includes('p,m'));
  for (const name of ['logs/switchyard-20260101000000.log', 'switchyard.pid'])
    await t.throwsAsync(readFile(join(ours, name)), { code: 'ENOENT' });
  t.is(await readFile(join(folder, 'config.json'), 'utf8'), files['config.json'] ?? '', 'the old folder is unchanged');
});

test('import --from: nothing is written while the old service runs, which start names; our files stay', async (t) => {
  const { home, ask } = await commandRig(t, { LOG_LEVEL: 'warn' });
  const folder = join(home, '.switchyard');
  await mkdir(folder);
  await writeFile(join(folder, 'config.json'), '{"PORT":0,"LOG":false}');
  const old = spawn(process.execPath, [
    '-e',
    "process.title='switchyard: service';console.log(1);setInterval(()=>{},1e6)",
  ]);
  t.teardown(() => old.kill('SIGKILL'));
  await once(old.stdout, 'data');
  await writeFile(
    join(folder, 'switchyard.pid'),
    JSON.stringify({ pid: old.pid, startedAtMs: 1, state: 'serving', port: 1, baseUrl: 'http://127.0.0.1:1' }),
  );
  const env = { SWITCHYARD_HOME: folder };
  const told = await ask(['status'], { env });
  const refused = await ask(['import', '--from', folder], { env });
  old.kill('SIGKILL');
  await once(old, 'close');
  const done = await ask(['import', '--from', folder], { env });
  const own = await ask(['import', '--from', home], { env });

  if (process.platform === 'linux') t.regex(told.out, new RegExp(`its service still runs \\(process ${old.pid}, http`));
  t.is(refused.code, 1);
  t.regex(refused.err, /Stop it first/);
  t.is(done.code, 0, done.err);
  const config = JSON.parse(await readFile(join(home, 'config.json'), 'utf8'));
  t.deepEqual(config, { PORT: 0, LOG_LEVEL: 'warn', LOG: false });
  t.regex(done.out, /the previous configuration is /);
  t.is(own.code, 1);
  t.regex(own.err, /is this gateway's folder already/);
});
