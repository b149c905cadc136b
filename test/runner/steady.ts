import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type RunReport, readReport } from './report.ts';

/*
 * Runs the whole suite again and again, alone and beside busy loops, and prints a row for each run: a test that depends on how
 * busy the machine is fails in some of them.
 */

const { values } = parseArgs({
  options: {
    idle: { type: 'string', default: '5' },
    busy: { type: 'string', default: '2' },
    loops: { type: 'string', default: '4' },
    /** A run that takes longer hangs, in minutes. */
    minutes: { type: 'string', default: '30' },
  },
});

interface Row extends RunReport {
  readonly name: string;
  readonly seconds: number;
  /** All that the run printed. */
  readonly output: string;
}

/** Where the output of failed runs is kept: what fails once in many runs is hard to see again. */
const failedRuns = 'node_modules/.cache/junctor-steady';

const children = new Set<ChildProcess>();
const endGroup = (child: ChildProcess): void => {
  children.delete(child);
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group has ended.
  }
};
process.on('exit', () => {
  for (const child of children) endGroup(child);
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** A child with a process group of its own, which ends with this process. */
const begin = (command: string, args: readonly string[]): ChildProcess => {
  const child = spawn(command, args, { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  children.add(child);
  return child;
};

const run = (name: string): Promise<Row> =>
  new Promise((resolve) => {
    const startedAtMs = Date.now();
    const child = begin('npm', ['test', '--silent']);
    let output = '';
    const gather = (data: Buffer) => {
      output += data.toString();
    };
    child.stdout?.on('data', gather);
    child.stderr?.on('data', gather);
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      endGroup(child);
    }, Number(values.minutes) * 60_000);
    child.once('exit', (code) => {
      clearTimeout(timer);
      endGroup(child);
      const { passed, failed, failures } = readReport(output);
      const seconds = Math.round((Date.now() - startedAtMs) / 1000);
      const unexplained = hung ? 'did not end' : code !== 0 && failed === 0 ? `ended with ${code}` : undefined;
      resolve(
        unexplained === undefined
          ? { name, passed, failed, failures, seconds, output }
          : { name, passed, failed: failed + 1, failures: [...failures, unexplained], seconds, output },
      );
    });
  });

const rows: Row[] = [];
const runAll = async (kind: string, count: number): Promise<void> => {
  for (let number = 1; number <= count; number += 1) {
    const row = await run(`${kind} ${number}`);
    rows.push(row);
    console.log(`${row.name}: ${row.passed} passed, ${row.failed} failed, ${row.seconds} s`);
    for (const failure of row.failures) console.log(`  ${failure}`);
    if (row.failed === 0) continue;
    mkdirSync(failedRuns, { recursive: true });
    const file = join(failedRuns, `${row.name.replace(' ', '-')}.txt`);
    writeFileSync(file, row.output);
    console.log(`  its output: ${file}`);
  }
};

await runAll('idle', Number(values.idle));
if (Number(values.busy) > 0) {
  const loops = Array.from({ length: Number(values.loops) }, () => begin(process.execPath, ['-e', 'for (;;);']));
  await runAll('busy', Number(values.busy));
  for (const loop of loops) endGroup(loop);
}

console.log(`\n${availableParallelism()} processors; busy: beside ${values.loops} endless loops\n`);
console.log('| Run | Passed | Failed | Seconds | What failed |');
console.log('|---|---|---|---|---|');
for (const { name, passed, failed, seconds, failures } of rows) {
  console.log(`| ${name} | ${passed} | ${failed} | ${seconds} | ${failures.join('; ')} |`);
}
process.exitCode = rows.every(({ failed, passed }) => failed === 0 && passed > 0) ? 0 : 1;
