import { writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { chooseServer } from '../http/choose-server.ts';
import { startLoad } from './load/start-load.ts';
import { ForeignLoad } from './measure/foreign-load.ts';
import { hasProcessorTime } from './measure/process-tree.ts';
import { type BenchOptions, type Plan, readOptions, readRemote, wordNames } from './options.ts';
import { type BenchOutput, untilInterrupted } from './output.ts';
import { planRun, wordDuration, wordPlan } from './plan.ts';
import { progressTo } from './progress.ts';
import { remoteRun } from './remote/run.ts';
import { briefLegend, renderBrief } from './report/brief.ts';
import { renderChart } from './report/chart.ts';
import {
  besideOf,
  type Change,
  changesOf,
  isOver,
  readReport,
  renderChanges,
  warningsOf,
  whyIncomparable,
} from './report/compare.ts';
import { thisHost, whyUnasked, wordHost } from './report/host.ts';
import { publishFigures, whyNoCheckout } from './report/publish.ts';
import { type RunReport, runReport, whyForeign, whyUnpublishable } from './report/run-report.ts';
import { renderStageCost } from './report/stage-cost.ts';
import { renderSummary } from './report/summary.ts';
import { renderReach, renderTable } from './report/table.ts';
import { yieldAtWakeUp } from './rpc.ts';
import type { Row, Scene, Stage } from './scenes/scene.ts';
import type { Configured } from './targets/configured.ts';
import { startUpstream } from './upstream/start-upstream.ts';

/**
 * Runs `junctor bench`; returns the exit code: 1 if an answer was wrong, figures couldn't be published, or `--fail-over` found more.
 * Rejects with an error worded for users; with the reason of `interrupted` once that fires and all that was started has ended.
 */
export const bench = async (
  output: BenchOutput,
  names: readonly string[],
  options: BenchOptions,
  configured?: Configured,
): Promise<number> => {
  if (options.list) {
    output.print(wordNames());
    return 0;
  }
  if (options.target !== undefined) return remoteRun(output, readRemote(names, options.target, options), options);
  const plan = await readOptions(names, options, configured);
  return play(output, plan);
};

const play = async (output: BenchOutput, plan: Plan): Promise<number> => {
  const { print, warn, tells = hasProcessorTime } = output;
  const { settings, files, all } = plan;
  const before = files.compare === undefined ? undefined : await readReport(files.compare);
  if (plan.publish && whyNoCheckout() !== undefined) throw new Error(whyNoCheckout());
  const unasked = whyUnasked(chooseServer(), plan.scenes);
  if (unasked !== undefined) throw new Error(unasked);
  const machine = thisHost();
  const { scenes, ...rest } = planRun(plan.scenes, settings, { cores: machine.cores, hasProcessorTime: tells });
  print(`${wordHost(machine)}\n${wordPlan({ scenes, ...rest }, settings)}\n`);
  if (!tells) print(`${briefLegend(false)}\n`);
  await checkIdle(output, plan);
  const startedAt = new Date();
  const { rows, foreignCores } = await playScenes(output, scenes, plan, tells);
  const seconds = (Date.now() - startedAt.getTime()) / 1e3;
  const { quick } = settings;
  const report = runReport({ startedAt: startedAt.toISOString(), seconds, machine, quick, foreignCores, rows });
  if (all && report.reach.length > 0) print(`${renderReach(report.reach)}\n`);
  if (all) print(`${renderSummary(rows)}\n`);
  else if (rows.some(({ firstTokenMs }) => firstTokenMs !== undefined)) print(`${briefLegend(tells)}\n`);
  print(`${wordDuration(seconds)}${tells ? `; meanwhile, other programs used ${foreignCores.toFixed(1)} cores` : ''}.`);
  const changes = compared(output, plan, report, before);
  if (files.json !== undefined) await writeFile(files.json, `${JSON.stringify(report, undefined, 2)}\n`);
  if (files.html !== undefined) await writeFile(files.html, renderChart(report));
  const published = !plan.publish || (await publish(output, report));
  const tooMuch = changes.filter((change) => plan.failOver !== undefined && isOver(change, plan.failOver));
  for (const { scene, pair, times } of tooMuch)
    warn(`${scene}, ${pair}: ${times.value.toFixed(2)}× is more than ${plan.failOver}×.`);
  const failed = rows.filter((row) => row.failed !== undefined);
  // What is wrong with a stage is wrong in each of its rows.
  for (const row of plan.stage === undefined ? failed : failed.slice(0, 1)) warn(wordFailed(row, plan));
  return published && tooMuch.length === 0 && failed.length === 0 ? 0 : 1;
};

const wordFailed = ({ scene, pair, participant, failed }: Row, { stage }: Plan): string =>
  stage !== undefined && participant.startsWith('with ')
    ? `${stage} fails under load (${scene}, ${pair}): ${failed}`
    : `${participant} failed (${scene}${pair === '' ? '' : `, ${pair}`}): ${failed}`;

/** Looks whether other programs are at work. Throws if figures are to be published and they are. */
const checkIdle = async ({ print }: BenchOutput, { publish: asked }: Plan): Promise<void> => {
  const foreign = new ForeignLoad();
  await foreign.during(() => wait(hasProcessorTime ? 1_000 : 0));
  const why = whyForeign(foreign.cores);
  if (why === undefined) return;
  if (asked) throw new Error(`Nothing is measured for --publish: ${why}.`);
  print(`The machine isn't idle: ${why}. Figures will be higher, and less stable.\n`);
};

/** Plays one scene after the other, and shows the table of each as it ends. */
const playScenes = async (
  { print, interrupted }: BenchOutput,
  scenes: readonly Scene[],
  { settings, all }: Plan,
  tells: boolean,
) => {
  const tell = progressTo(process.stderr);
  const foreign = new ForeignLoad();
  const upstream = await startUpstream();
  const load = startLoad();
  if (![upstream.pid, load.pid].every(yieldAtWakeUp))
    print(
      'Load generator and upstream take a core whenever they wake: `chrt` can’t keep them from it here. Costs are higher.\n',
    );
  const rows: Row[] = [];
  try {
    for (const [at, scene] of scenes.entries()) {
      const stage: Stage = {
        settings,
        upstream,
        load: { ...load, run: (job, longestMs) => untilInterrupted(interrupted, load.run(job, longestMs)) },
        foreign,
        hasProcessorTime: tells,
        progress(text) {
          interrupted.throwIfAborted();
          tell(`[${at + 1}/${scenes.length}] ${text}`);
        },
      };
      const found = await scene.run(stage).catch(brokenOff(scene.name, interrupted));
      rows.push(...found);
      tell('');
      if (all) print(`${settings.quick ? renderTable(found, []) : renderTable(found)}\n`);
      else print(`${renderBrief(found)}\n`);
    }
  } finally {
    tell('');
    upstream.stop();
    load.stop();
  }
  return { rows, foreignCores: foreign.cores };
};

/** One scene that can't be played doesn't take the figures of the others with it. */
const brokenOff =
  (scene: string, interrupted: AbortSignal) =>
  (error: unknown): readonly Row[] => {
    interrupted.throwIfAborted();
    const failed = error instanceof Error ? error.message : String(error);
    return [{ scene, pair: '', participant: 'the bench', unit: 'process', failed }];
  };

/** Says how the figures compare: with an earlier run's, or those of a run's gateways with the first one's. */
const compared = (
  { print, warn }: BenchOutput,
  { stage, failOver }: Plan,
  report: RunReport,
  before: RunReport | undefined,
): readonly Change[] => {
  if (stage !== undefined) print(`\n${renderStageCost(report.rows)}`);
  if (!before) {
    const changes = besideOf(report.rows);
    if (stage === undefined && changes.length > 0) print(`\nBeside the first gateway\n${renderChanges(changes)}`);
    return failOver === undefined ? [] : changes;
  }
  const why = whyIncomparable(before, report);
  if (why !== undefined) throw new Error(why);
  for (const warning of warningsOf(before, report)) warn(warning);
  const changes = changesOf(before.rows, report.rows);
  if (changes.length === 0) throw new Error('The runs have no figure in common: play the same scenes and pairs.');
  print(`\nCompared with ${before.startedAt}, each beside the bare stack of its own rounds\n${renderChanges(changes)}`);
  return changes;
};

/** `false`: the figures can't be published. */
const publish = async ({ print, warn }: BenchOutput, report: RunReport): Promise<boolean> => {
  const reasons = whyUnpublishable(report);
  if (reasons.length > 0) {
    warn(`Nothing is published: ${reasons.join('; ')}.`);
    return false;
  }
  for (const file of await publishFigures(report)) print(`${file} has the new figures.`);
  return true;
};
