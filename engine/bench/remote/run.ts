import { writeFile } from 'node:fs/promises';
import { startLoad } from '../load/start-load.ts';
import type { BenchOptions, RemotePlan } from '../options.ts';
import { type BenchOutput, untilInterrupted } from '../output.ts';
import { progressTo } from '../progress.ts';
import { renderBrief } from '../report/brief.ts';
import { renderChart } from '../report/chart.ts';
import { thisHost } from '../report/host.ts';
import { runReport } from '../report/run-report.ts';
import { renderTable } from '../report/table.ts';
import { measureRemote } from './measure.ts';

/** A run against an address: what its clients see. Returns the exit code. */
export const remoteRun = async (
  { print, warn, env, interrupted }: BenchOutput,
  plan: RemotePlan,
  { json, html, all = false }: BenchOptions,
): Promise<number> => {
  const key = env[plan.keyVariable] ?? '';
  const tell = progressTo(process.stderr);
  const startedAt = new Date();
  print(
    `${plan.requests + 1} requests of ${plan.client} to ${plan.url.host}, each with 1.4 KB and an answer of at most 128 tokens, ` +
      `${key === '' ? 'without a key' : `with the key in ${plan.keyVariable}`}.\n`,
  );
  const load = startLoad();
  try {
    const rows = await untilInterrupted(
      interrupted,
      measureRemote(plan, key, load, (text) => {
        interrupted.throwIfAborted();
        tell(text);
      }),
    );
    tell('');
    const seconds = (Date.now() - startedAt.getTime()) / 1e3;
    print(all ? renderTable(rows, []) : renderBrief(rows));
    print(
      '\nper second of wall time, with 4 clients. TTFT: from a request to its first token. ITL: between two tokens.',
    );
    const machine = thisHost();
    const run = { startedAt: startedAt.toISOString(), seconds, machine, quick: true, foreignCores: 0, rows };
    if (json !== undefined) await writeFile(json, `${JSON.stringify(runReport(run), undefined, 2)}\n`);
    if (html !== undefined) await writeFile(html, renderChart(runReport(run)));
    const failed = rows.filter((row) => row.failed !== undefined);
    for (const row of failed) warn(`${row.participant} failed: ${row.failed}`);
    return failed.length > 0 ? 1 : 0;
  } finally {
    tell('');
    load.stop();
  }
};
