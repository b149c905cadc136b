import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { bench } from '../../engine/bench/bench.ts';
import { treeOf } from '../../engine/bench/measure/process-tree.ts';
import type { RunReport } from '../../engine/bench/report/run-report.ts';
import { startGateway } from '../support/gateway.ts';
import { commandRig } from '../support/processes/command.ts';
import { until } from '../support/until.ts';
import { recordedAnswer, startUpstream } from '../support/upstreams/upstream.ts';

/** The shortest run: what is looked at is its shape. */
const short = ['--quick', '--rounds', '3', '--round-ms', '30'];

const read = async (file: string): Promise<RunReport> => JSON.parse(await readFile(file, 'utf8'));

test('a run has each way from a client to a provider, checks the answers, and compares with an earlier one', async (t) => {
  const rig = await commandRig(t);
  const [json, html] = [join(rig.home, 'run.json'), join(rig.home, 'run.html')];
  const pairs = ['--pairs', 'messages-chat,responses-gemini'];
  const { code, out, err } = await rig.ask(['bench', ...short, ...pairs, '--json', json, '--html', html]);
  t.is(code, 0, err);
  t.regex(out, /^pairs of junctor: at most \d+ s on an idle machine\.$/m);
  t.regex(
    out,
    /^requests +requests\/s per core +TTFT p50\/p99 ms +ITL p50\/p99 ms +CPU over bare stack +MB$/m,
    'six columns',
  );
  t.regex(out, /^responses→gemini, WebSocket +[\d,.]+ +[\d.]+\/[\d.]+ +[\d.]+\/[\d.]+ +\+?-?[\d.]+ µs, .*× .* \d+$/m);
  const { rows, machine } = await read(json);
  t.deepEqual(
    rows.map(({ scene, pair, participant, failed }) => [scene, pair, participant, failed]),
    [
      ['requests', 'messages→chat'],
      ['streams', 'messages→chat'],
      ['requests', 'responses→gemini'],
      ['streams', 'responses→gemini'],
      ['streams', 'responses→gemini, WebSocket'],
    ].flatMap((row) => [
      [...row, 'junctor', undefined],
      [...row, 'bytes', undefined],
    ]),
  );
  t.true(rows.every(({ rounds }) => rounds?.cpuUs.length === 3 && rounds.peakMb.length === 3));
  const page = await readFile(html, 'utf8');
  t.regex(page, /Time between tokens/);
  t.notRegex(page, /(?:src|href|url)\s*[=(]/);

  // Planted: the earlier run cost a fiftieth.
  const cheaper = rows.map((row) => ({
    ...row,
    rounds: row.participant === 'bytes' ? row.rounds : { ...row.rounds, cpuUs: row.rounds?.cpuUs.map((us) => us / 50) },
  }));
  await writeFile(
    json,
    JSON.stringify({ ...(await read(json)), rows: cheaper, machine: { ...machine, node: '1.2.3' } }),
  );
  const again = ['--pairs', 'messages-chat', '--compare', json, '--fail-over', '1.1'];
  const slower = await rig.ask(['bench', ...short, ...again]);
  t.is(slower.code, 1);
  t.regex(slower.out, /^streams +messages→chat +junctor +processor time +[\d.]+× \[[\d.]+–[\d.]+\] +more$/m);
  t.regex(slower.err, /^Another node: 1\.2\.3, now .*$/m);
  t.regex(slower.err, /^requests, messages→chat: [\d.]+× is more than 1\.1×\.$/m);
});

test('where the system doesn’t tell the processor time, the rest is measured', async (t) => {
  const printed: string[] = [];
  const output = {
    print: (line: string) => void printed.push(line),
    warn: (line: string) => void printed.push(line),
    env: {},
    interrupted: new AbortController().signal,
    tells: false,
  };
  const options = { quick: true, pairs: 'chat-messages', rounds: '1', roundMs: '30' };
  t.is(await bench(output, [], options), 0, printed.join('\n'));
  const out = printed.join('\n');
  t.regex(out, /This system doesn’t tell the processor time and memory of other processes/);
  t.regex(out, /^streams +deltas\/s +TTFT.*\nchat→messages +[\d,.]+ +[\d.]+\/[\d.]+ +[\d.]+\/[\d.]+$/m);
});

test('a configuration is measured with vendors of its providers’ formats, and its stages; keys aren’t needed', async (t) => {
  const rig = await commandRig(t);
  await writeFile(join(rig.home, 'loud.ts'), loud);
  const file = join(rig.home, 'mine.json');
  const json = join(rig.home, 'run.json');
  await writeFile(
    file,
    JSON.stringify({
      APIKEY: 'a-key-of-its-own',
      Providers: [
        { name: 'one', baseUrl: 'https://api.anthropic.com', apiKey: '$NOT_SET_ANYWHERE', models: ['m'] },
        {
          name: 'two',
          baseUrl: 'https://api.deepseek.com',
          apiKey: 'k',
          models: ['m'],
          headers: { 'x-team': '$TEAM' },
        },
      ],
      transformers: [{ path: 'loud.ts' }],
    }),
  );
  const args = ['bench', ...short, '--rounds', '1', '--pairs', 'chat-chat', '--json', json];
  const { code, out, err } = await rig.ask([...args, '--config', file], { env: { TEAM: 'a' } });
  t.is(code, 0, out + err);
  t.deepEqual(
    (await read(json)).rows
      .filter(({ participant }) => participant === 'junctor')
      .map(({ scene, pair }) => [scene, pair]),
    ['one,m', 'two,m'].flatMap((model) => [
      ['requests', `chat→${model}`],
      ['streams', `chat→${model}`],
    ]),
  );
  await writeFile(file, JSON.stringify({ Providers: [{ name: 'one', models: [] }], Router: { default: 'x,y' } }));
  const faulty = await rig.ask(['bench', ...short, '--config', file]);
  t.is(faulty.code, 1);
  t.regex(faulty.out, /^fault {4}Providers\[0\]\.baseUrl:? .*$/m);
  t.regex(faulty.out, /mine\.json: \d+ faults?, \d+ warnings?$/m);
});

const loud = `import { rx, transformer } from 'junctor/transformer';
export default transformer({ name: 'loud', operators: () => ({ request: rx.map((it) => it) }) });`;

test('what a stage adds is told with its interval; one that fails under load in one line', async (t) => {
  const rig = await commandRig(t);
  const stage = join(rig.home, 'stage.ts');
  const head = `import { rx, transformer } from 'junctor/transformer';\n`;
  await writeFile(
    stage,
    `${head}export default transformer({ name: 's', operators: () => ({ request: rx.map((it) => it) }) });`,
  );
  const { code, out, err } = await rig.ask(['bench', ...short, '--stage', stage]);
  t.is(code, 0, err);
  t.regex(
    out,
    /^streams, messages→chat: the stage adds\n {2}per delta +\S+ µs of processor time \[\S+–\S+\]\n {2}to the first token +\S+ ms \[\S+\]\n {2}in memory +\S+ MB \[\S+\]$/m,
  );
  await writeFile(
    stage,
    `${head}let count = 0;
export default transformer({ name: 's', operators: () => ({ request: rx.map((it) => {
  count += 1;
  if (count > 3) throw new Error('the third is enough');
  return it;
}) }) });`,
  );
  const failing = await rig.ask(['bench', ...short, '--stage', stage]);
  t.is(failing.code, 1);
  t.regex(failing.err, /^\S+stage\.ts fails under load \(requests, messages→chat\): \d+ wrong: status 500: .*\n$/);
});

test('a capture is the load, with the provider’s own bytes', async (t) => {
  const rig = await commandRig(t);
  const { file, json } = { file: join(rig.home, 'capture.json'), json: join(rig.home, 'run.json') };
  await writeFile(file, await captureText(t));
  const { code, err } = await rig.ask(['bench', ...short, '--capture', file, '--json', json]);
  t.is(code, 0, err);
  t.deepEqual(
    (await read(json)).rows.map(({ scene, pair, participant, failed }) => [scene, pair, participant, failed]),
    [
      ['capture', 'messages→chat', 'junctor', undefined],
      ['capture', 'messages→chat', 'bytes', undefined],
    ],
  );
});

/** A capture of a Messages client and a Chat Completions provider, as a file. */
const captureText = async (t: ExecutionContext): Promise<string> => {
  const upstream = await startUpstream(() => recordedAnswer('openai-chat/compat-xai-reasoning-tool.sse', 37));
  const gateway = await startGateway({
    Providers: [{ name: 'p', baseUrl: upstream.url, apiKey: 'k', models: ['m'] }],
  });
  t.teardown(async () => {
    await gateway.stop();
    await upstream.close();
  });
  const response = await fetch(`${gateway.baseUrl}/v1/messages`, {
    method: 'POST',
    headers: { 'x-junctor-capture': '1' },
    body: JSON.stringify({ model: 'p,m', max_tokens: 9, stream: true, messages: [{ role: 'user', content: 'Hi' }] }),
  });
  await response.text();
  return (await fetch(`${gateway.baseUrl}/api/requests/${response.headers.get('x-request-id')}/capture`)).text();
};

/** A gateway that says what it is told to. */
const said = async (
  t: ExecutionContext,
  status: number,
  type: string,
  text: (key: string) => string,
): Promise<string> => {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      response.writeHead(status, { 'content-type': type }).end(text(request.headers.authorization ?? ''));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const place = server.address();
  return `http://127.0.0.1:${typeof place === 'object' ? place?.port : 0}`;
};

/** An address at which nothing listens. */
const closed = async (): Promise<string> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const place = server.address();
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${typeof place === 'object' ? place?.port : 0}`;
};

const answer = ['a', 'b']
  .map((content) => `data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`)
  .join('');

test('an address is measured with so many requests, and its key shown nowhere', async (t) => {
  const rig = await commandRig(t);
  const json = join(rig.home, 'run.json');
  const good = await said(t, 200, 'text/event-stream', () => `${answer}data: [DONE]\n\n`);
  const env = { BENCH_KEY: 'key-0123456789' };
  const args = ['bench', '--model', 'large', '--requests', '7', '--json', json, '--target'];
  const { code, out, err } = await rig.ask([...args, `${good}/v1`], { env });
  t.is(code, 0, err);
  t.regex(out, /^8 requests of chat to 127\.0\.0\.1:\d+, .* with the key in BENCH_KEY\.$/m);
  t.regex(out, /requests\/s +TTFT p50\/p99 ms +ITL/);
  t.notRegex(out + err + (await readFile(json, 'utf8')), /key-0123456789/);
  const bad = await said(t, 500, 'text/plain', (key) => `no: ${key}`);
  const failed = await rig.ask([...args, bad], { env });
  t.is(failed.code, 1);
  t.is(failed.err, `junctor: ${bad}/v1/chat/completions answers with status 500: no: Bearer …\n`);
});

test('what can’t be used is told in one line, before anything is started', async (t) => {
  const rig = await commandRig(t);
  const capture = await captureText(t);
  const files = {
    'no-capture.json': '{"a":1}',
    'newer-capture.json': capture.replace('"version": 1', '"version": 2'),
    'newer-run.json': '{"junctor":"bench","version":2}',
    'damaged-run.json': '{"junctor":"bench","version":1}',
    'torn.json': '{"Providers": [',
    'torn.js': 'export default (',
    'fine.js': loud,
  };
  for (const [name, text] of Object.entries(files)) await writeFile(join(rig.home, name), text);
  const at = (name: string): string => join(rig.home, name);
  const page = await said(t, 200, 'text/html', () => '<h1>It works</h1>');
  const refusing = await said(t, 401, 'application/json', () => '{"error":"no"}');
  const dead = await closed();
  const cases: readonly (readonly [args: readonly string[], line: RegExp])[] = [
    [['--capture', at('absent.json')], /^Cannot read .*absent\.json\.$/],
    [['--capture', at('no-capture.json')], /^Cannot use .*no-capture\.json\. It is not a capture: /],
    [
      ['--capture', at('newer-capture.json')],
      /^Cannot use .* a capture of version 2 of the format; .* reads version 1\.$/,
    ],
    [['--compare', at('no-capture.json')], /is not a run of the bench: /],
    [['--compare', at('newer-run.json')], /is of version 2 of the format; this version of Junctor reads version 1\.$/],
    [['--compare', at('damaged-run.json')], /is damaged: /],
    [['--config', at('absent.json')], /^There is no file .*absent\.json\.$/],
    [['--stage', at('absent.ts')], /^There is no file .*absent\.ts\.$/],
    [['--stage', at('torn.js')], /^.*torn\.js can't be used: /],
    [['--stage', at('fine.js'), '--options', '[]'], /^--options must be a JSON object\.$/],
    [
      ['--target', dead, '--model', 'm'],
      /^Nothing answers at http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions: ECONNREFUSED\.$/,
    ],
    [['--target', dead], /^Nothing answers at http:\/\/127\.0\.0\.1:\d+\/v1\/models: /],
    [['--target', page, '--model', 'm'], /isn't a gateway for chat: it answers with text\/html: <h1>It works<\/h1>$/],
    [['--target', page], /lists no models: name one with --model\.$/],
    [['--target', refusing, '--model', 'm'], /refuses the key \(401\): set the variable BENCH_KEY\. /],
    [['--target', 'localhost'], /^--target must be an address such as/],
    [['--target', dead, '--quick'], /^--target takes none of the scenes, and not --quick/],
    [['--target', dead, '--client', 'telnet'], /^--client must be one of messages, chat, responses\.$/],
    [['--target', dead, '--requests', '0'], /^--requests must be a number from 1 to /],
    [['plain-65'], /^No scene is called plain-65; there are pairs, /],
    [['--pairs', 'chat-telnet'], /^No pair is called chat-telnet; there are /],
    [['--gateways', at('absent')], /^There is no gateway .*absent: /],
    [['--ablate', 'lgo'], /^Nothing is called lgo; there are all, /],
    [['--fail-over', '1.1'], /^--fail-over needs something to compare with: /],
    [['--compare', at('newer-run.json'), '--fail-over', 'x'], /^--fail-over must be a number from 1 to 100\.$/],
    [['--rounds', '1.5'], /^--rounds must be a whole number\.$/],
    [['--quick', '--publish'], /^--publish needs a full run/],
    [['plain-1', '--stage', at('fine.js')], /the scene is `pairs`/],
  ];
  for (const [args, line] of cases) {
    const { code, out, err } = await rig.ask(['bench', ...args]);
    t.is(code, 1, args.join(' '));
    t.regex(err.replace(/^junctor: |\n$/g, ''), line, args.join(' '));
    t.is(err.trimEnd().split('\n').length, 1, err);
    t.notRegex(out, /idle machine|TTFT p50/);
  }
  const torn = await rig.ask(['bench', '--config', at('torn.json')]);
  t.is(torn.code, 1);
  t.regex(torn.out, /^fault .*\n.*torn\.json: 1 fault, 0 warnings$/m);
});

for (const [title, signals] of [
  ['an interrupt', ['SIGINT']],
  ['a second interrupt', ['SIGINT', 'SIGINT']],
  ['a kill', ['SIGKILL']],
] as const) {
  test.serial(`${title} leaves nothing running`, async (t) => {
    const rig = await commandRig(t);
    const folder = join(rig.home, 'tmp');
    await mkdir(folder);
    const args = ['bench', '--pairs', 'messages-chat', '--rounds', '100', '--round-ms', '2000'];
    const running = rig.begin(args, { env: { TMPDIR: folder } });
    const { pid = 0 } = running.child;
    await until(() => running.out().includes('requests, messages→chat'));
    const tree = treeOf(pid);
    t.true(tree.length >= 5, 'the gateway, the bare stack, the load generator and the vendors');
    for (const signal of signals) {
      running.child.kill(signal);
      if (signal === 'SIGINT') await until(() => running.out().includes('Stopping; once more to stop at once.'));
    }
    const { code } = await running.ended;
    await until(() => !tree.some(isAlive));
    if (code === null) return t.is(title, 'a kill');
    t.is(code, 130);
    t.deepEqual(await readdir(folder), []);
  });
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};
