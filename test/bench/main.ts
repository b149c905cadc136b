import { writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { startLoad } from './load/start-load.ts';
import { ForeignLoad } from './measure/foreign-load.ts';
import { readOptions, usage } from './options.ts';
import { planRun, wordDuration, wordPlan } from './plan.ts';
import { progressTo } from './progress.ts';
import { renderChart } from './report/chart.ts';
import { thisMachine, wordMachine } from './report/machine.ts';
import { renderFigures } from './report/publish.ts';
import { type RunReport, runReport, whyForeign, whyUnpublishable } from './report/run-report.ts';
import { renderSummary } from './report/summary.ts';
import { renderReach, renderTable } from './report/table.ts';
import type { Row, Scene, Stage } from './scenes/scene.ts';
import { startUpstream } from './upstream/start-upstream.ts';

type Options = Awaited<ReturnType<typeof readOptions>>;

/** Runs what was asked for; says whether every answer was right, and the figures published if they were to be. */
const main = async (): Promise<boolean> => {
  const options = await readOptions(process.argv.slice(2));
  if (options.help) {
    console.log(usage());
    return true;
  }
  if (process.platform !== 'linux')
    throw new Error('Processor time of other processes is read from /proc: this needs Linux.');
  const machine = thisMachine();
  const plan = planRun(options.scenes, options.settings, machine.cores);
  console.log(`${wordMachine(machine)}\n${wordPlan(plan, options.settings)}\n`);
  await checkIdle(options);
  const startedAt = new Date();
  const { rows, foreignCores } = await play(plan.scenes, options);
  const seconds = (Date.now() - startedAt.getTime()) / 1e3;
  const { quick } = options.settings;
  const report = runReport({ startedAt: startedAt.toISOString(), seconds, machine, quick, foreignCores, rows });
  if (report.reach.length > 0) console.log(`${renderReach(report.reach)}\n`);
  console.log(`${renderSummary(rows)}\n`);
  console.log(`${wordDuration(seconds)}; meanwhile, other programs used ${foreignCores.toFixed(1)} cores.`);
  const published = await writeFiles(report, options);
  return published && rows.every(({ failed }) => failed === undefined);
};

/** Looks whether other programs are at work. Throws if figures are to be published and they are. */
const checkIdle = async ({ publish }: Options): Promise<void> => {
  const foreign = new ForeignLoad();
  await foreign.during(() => wait(1_000));
  const why = whyForeign(foreign.cores);
  if (why === undefined) return;
  if (publish !== undefined) throw new Error(`Nothing is measured for --publish: ${why}.`);
  console.log(`The machine isn't idle: ${why}. Figures will be higher, and less stable.\n`);
};

/** Plays one scene after the other, and shows the table of each as it ends. */
const play = async (scenes: readonly Scene[], { settings }: Options) => {
  const tell = progressTo(process.stderr);
  const foreign = new ForeignLoad();
  const upstream = await startUpstream();
  const load = startLoad();
  const rows: Row[] = [];
  try {
    for (const [at, scene] of scenes.entries()) {
      const stage: Stage = {
        settings,
        upstream,
        load,
        foreign,
        progress: (text) => tell(`[${at + 1}/${scenes.length}] ${text}`),
      };
      const found = await scene.run(stage).catch(brokenOff(scene.name));
      rows.push(...found);
      tell('');
      console.log(`${settings.quick ? renderTable(found, []) : renderTable(found)}\n`);
    }
  } finally {
    upstream.stop();
    load.stop();
  }
  return { rows, foreignCores: foreign.cores };
};

/** One scene that can't be played doesn't take the figures of the others with it. */
const brokenOff =
  (scene: string) =>
  (error: unknown): readonly Row[] => {
    const failed = error instanceof Error ? error.message : String(error);
    return [{ scene, pair: '', participant: '', unit: 'process', failed }];
  };

/** Writes the files that were asked for. `false`: the figures were to be published, and can't be. */
const writeFiles = async (report: RunReport, { json, chart, publish }: Options): Promise<boolean> => {
  if (json !== undefined) await writeFile(json, `${JSON.stringify(report, undefined, 2)}\n`);
  if (chart !== undefined) await writeFile(chart, renderChart(report));
  if (publish === undefined) return true;
  const reasons = whyUnpublishable(report);
  if (reasons.length === 0) await writeFile(publish, renderFigures(report));
  else console.error(`${publish} isn't written: ${reasons.join('; ')}.`);
  return reasons.length === 0;
};

// Ends with `exit`, which stops what was started. A terminal and npm may both send the signal.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

main().then(
  (right) => process.exit(right ? 0 : 1),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
