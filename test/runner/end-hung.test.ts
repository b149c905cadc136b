import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';

const module = new URL('./end-hung.js', import.meta.url).href;

/** A runner with one test process, which sends these events and then runs this code. Resolves to what the runner printed. */
const run = async (folder: string, events: readonly object[], code: string): Promise<string> => {
  const reports = join(folder, 'reports');
  const child = join(folder, 'child.mjs');
  const sent = events.map((event) => `process.send(${JSON.stringify({ ava: event })});`);
  await writeFile(child, [...sent, code].join('\n'));
  const runner = join(folder, 'runner.mjs');
  await writeFile(
    runner,
    `import { fork } from 'node:child_process';
    import { endHung, reportArguments } from ${JSON.stringify(module)};
    const reports = ${JSON.stringify(reports)};
    endHung(reports, { silentMs: 1_000, leaveMs: 500, graceMs: 2_000 });
    const child = fork(${JSON.stringify(child)}, { silent: true, execArgv: reportArguments(reports) });
    child.on('exit', (code, signal) => console.log('ended with', signal ?? code));`,
  );
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [runner]);
  return stderr + stdout;
};

const keepsOpen = "import { createServer } from 'node:net'; createServer().listen(0, '127.0.0.1');";

for (const [title, events, code, told] of [
  [
    'after its last test',
    [{ type: 'worker-finished' }],
    keepsOpen,
    /runs on after its tests.*"tcp".*ended with SIGKILL/s,
  ],
  ['in a hook', [{ type: 'test-passed' }], keepsOpen, /is silent.*"tcp".*ended with SIGKILL/s],
  [
    'after a test that asked for longer',
    [{ type: 'test-timeout-configured', period: 2_000 }],
    keepsOpen,
    /is silent.*"tcp".*ended with SIGKILL/s,
  ],
  [
    'in an endless loop',
    [{ type: 'test-passed' }],
    'setTimeout(() => { for (;;); }, 200);',
    /endless.*ended with SIGKILL/s,
  ],
] as const) {
  test(`a test process that hangs ${title} is killed, and what keeps it is printed`, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'junctor-'));
    t.teardown(() => rm(folder, { recursive: true, force: true }));
    t.regex(await run(folder, events, code), told);
  });
}

test('a test process that ends by itself is left alone', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'junctor-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  t.is(await run(folder, [{ type: 'worker-finished' }], 'process.disconnect();'), 'ended with 0\n');
});
