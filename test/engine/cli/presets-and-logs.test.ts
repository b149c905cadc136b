import { appendFile, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { printLogs } from '../../../engine/cli/commands/logs.ts';
import { opencode } from '../../../engine/client-tools/opencode.ts';
import { commandRig } from '../../support/processes/command.ts';
import { until } from '../../support/until.ts';

const config = {
  Providers: [{ name: 'p', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'plain-secret-key', models: ['m', 'n'] }],
  Router: { default: 'p,m', routes: { background: 'p,n' } },
};

test('F11 preset export and import: one file, without keys; a name that is taken and a file with faults change nothing', async (t) => {
  const { home, ask } = await commandRig(t, config);
  const file = join(home, 'shared.json');
  const given = join(home, 'given.json');
  const write = (manifest: object) => writeFile(given, JSON.stringify({ junctor: 'preset', name: 'cheap', manifest }));
  await write({ Router: { default: 'p,n' } });
  const added = await ask(['preset', 'import', given]);
  const again = await ask(['preset', 'import', given]);
  const named = await ask(['preset', 'import', given, '--name', 'other']);
  const exported = await ask(['preset', 'export', 'cheap', file]);
  await write({ Router: { default: 'nobody,x' } });
  const faulty = await ask(['preset', 'import', given, '--replace']);
  await write({
    Providers: [{ name: 'q', baseUrl: 'http://127.0.0.1:9', apiKey: 'another-secret', models: ['z'] }],
    Router: { default: 'q,z', routes: { background: 'q,z' } },
  });
  await ask(['preset', 'import', given, '--name', 'keyed']);
  const keyless = await ask(['preset', 'export', 'keyed', given]);
  const shared = await readFile(given, 'utf8');
  const incomplete = await ask(['preset', 'import', given, '--name', 'third']);

  t.is(added.code, 0, added.err);
  t.is(again.code, 1);
  t.regex(again.err, /already: --replace/);
  t.is(named.code, 0, named.err);
  t.is(exported.code, 0, exported.err);
  t.deepEqual(JSON.parse(await readFile(file, 'utf8')), {
    junctor: 'preset',
    name: 'cheap',
    manifest: { Router: { default: 'p,n' } },
  });
  t.is(faulty.code, 1);
  t.regex(faulty.err, /Nothing was written:\n- Router\.default/);
  t.regex(keyless.err, /Left out: .*Providers\[q\]\.apiKey/);
  t.notRegex(shared, /another-secret/);
  t.is(incomplete.code, 1);
  t.regex(incomplete.err, /put keys, or references/);
});

test('F10 logs prints the end of the log, and with follow what is added, through a rotation', async (t) => {
  const { home, ask } = await commandRig(t, config);
  const log = join(home, 'app.log');
  const none = await ask(['logs']);
  await writeFile(log, '{"a":1}\n{"a":2}\n{"a":3}\n');
  const last = await ask(['logs', '--lines', '2']);
  const lines: string[] = [];
  const end = new AbortController();
  const following = printLogs(
    { home, print: (line) => void lines.push(line) },
    { follow: true, lines: '1' },
    end.signal,
  );
  await until(() => lines.length === 1);
  await appendFile(log, '{"a":4}\n{"half');
  await until(() => lines.length === 2);
  await rename(log, `${log}.1`);
  await writeFile(log, '{"b":1}\n');
  await until(() => lines.length === 3);
  end.abort();
  await following;

  t.is(none.code, 1);
  t.regex(none.err, /There is no log/);
  t.is(last.out, '{"a":2}\n{"a":3}\n');
  t.deepEqual(lines, ['{"a":3}', '{"a":4}', '{"b":1}']);
});

test('F10 opencode lists each model once, and its small model is the route for small tasks', async (t) => {
  const { ask } = await commandRig(t, config);
  const { out } = await ask(['env', '--for', 'opencode', '--shell', 'json']);
  const { OPENCODE_CONFIG_CONTENT: text } = JSON.parse(out);
  const content = JSON.parse(text);
  const plain = opencode.variables?.({
    baseUrl: 'http://h',
    apiKey: 'k',
    model: 'junctor',
    models: [{ name: 'junctor', title: 'J' }],
  });

  t.deepEqual(Object.keys(content.provider.junctor.models), ['junctor', 'junctor-background', 'p,m', 'p,n']);
  t.is(content.model, 'junctor/junctor');
  t.is(content.small_model, 'junctor/junctor-background');
  t.is(JSON.parse(plain?.OPENCODE_CONFIG_CONTENT ?? '').small_model, 'junctor/junctor');
});

test('F10 env knows Qwen Code, Kimi Code, Antigravity and Claude Desktop; a start says that PORT is ignored, unless the configuration uses it', async (t) => {
  const { home, ask, begin } = await commandRig(t, config);
  const qwen = await ask(['env', '--for', 'qwen']);
  const kimi = await ask(['env', '--for', 'kimi']);
  const agy = await ask(['env', '--for', 'antigravity']);
  const desktop = await ask(['env', '--for', 'claude-desktop']);
  const service = begin(['start'], { env: { PORT: '8099' } });
  await service.says('listens on');
  await writeFile(join(home, 'config.json'), JSON.stringify({ ...config, PORT: '$PORT' }));
  const second = await ask(['start', '--daemon'], { env: { PORT: '0' } });

  t.regex(qwen.out, /OPENAI_BASE_URL='http:\S+\/v1'[\s\S]*OPENAI_MODEL='junctor'/);
  t.regex(kimi.out, /KIMI_MODEL_BASE_URL='http:\S+\/v1'[\s\S]*KIMI_MODEL_NAME='junctor'/);
  t.regex(
    agy.out,
    /AGY_LLM_GATEWAY_URL='http:\S+\/v1'[\s\S]*AGY_LLM_GATEWAY_WIRE_PROTOCOL='openai'[\s\S]*_MODELS='junctor[^ ]*'/,
  );
  t.like(JSON.parse(desktop.out.slice(desktop.out.indexOf('{')).replaceAll(/^#/gm, '')), {
    inferenceProvider: 'gateway',
    inferenceGatewayAuthScheme: 'bearer',
    inferenceModels: ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5'],
  });
  t.is(service.out().match(/variable PORT=8099 is ignored: JUNCTOR_PORT=8099/g)?.length, 1, service.out());
  t.notRegex(second.err, /is ignored/);
});
