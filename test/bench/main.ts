import { writeFile } from 'node:fs/promises';
import { startLoad } from './load/start-load.ts';
import { readOptions, usage } from './options.ts';
import { progressTo } from './progress.ts';
import { renderChart } from './report/chart.ts';
import { thisMachine, wordMachine } from './report/machine.ts';
import { runReport } from './report/run-report.ts';
import { renderReach, renderTable } from './report/table.ts';
import type { Row, Stage } from './scenes/scene.ts';
import { startUpstream } from './upstream/start-upstream.ts';

/** Runs the scenes that were asked for; says whether every answer was right. */
const main = async (): Promise<boolean> => {
  const { scenes, settings, json, chart, help } = await readOptions(process.argv.slice(2));
  if (help) {
    console.log(usage());
    return true;
  }
  if (process.platform !== 'linux')
    throw new Error('Processor time of other processes is read from /proc: this needs Linux.');
  const machine = thisMachine();
  console.log(`${wordMachine(machine)}\n`);
  const progress = progressTo(process.stderr);
  const stage: Stage = { settings, progress, upstream: await startUpstream(), load: startLoad() };
  const startedAt = new Date();
  const rows: Row[] = [];
  for (const scene of scenes) {
    const found = await scene.run(stage).catch(brokenOff(scene.name));
    rows.push(...found);
    progress('');
    console.log(`${renderTable(found)}\n`);
  }
  stage.upstream.stop();
  stage.load.stop();
  const seconds = (Date.now() - startedAt.getTime()) / 1e3;
  const report = runReport({ startedAt: startedAt.toISOString(), seconds, machine, quick: settings.quick, rows });
  if (report.reach.length > 0) console.log(`${renderReach(report.reach)}\n`);
  if (json !== undefined) await writeFile(json, `${JSON.stringify(report, undefined, 2)}\n`);
  if (chart !== undefined) await writeFile(chart, renderChart(report));
  console.log(`${seconds.toFixed(0)} s`);
  return rows.every(({ failed }) => failed === undefined);
};

/** One scene that can't be played doesn't take the figures of the others with it. */
const brokenOff =
  (scene: string) =>
  (error: unknown): readonly Row[] => {
    const failed = error instanceof Error ? error.message : String(error);
    return [{ scene, pair: '', participant: '', unit: 'process', failed }];
  };

main().then(
  (right) => process.exit(right ? 0 : 1),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
