import type { Rhythm } from '../load/job.ts';
import type { UpstreamPlan } from '../upstream/plan.ts';
import type { Pair } from '../wire.ts';
import { floorOf, startParticipants, stopAll } from './participants.ts';
import { rowsOf } from './rows-of.ts';
import type { Row, Scene, Stage } from './scene.ts';
import { takeTurns } from './take-turns.ts';

/** A scene that is made of requests. */
export interface LoadScene extends Pick<Scene, 'name' | 'groups' | 'about'> {
  readonly unit: 'request' | 'delta';
  readonly plan: UpstreamPlan;
  readonly bodyBytes: number;
  readonly rhythm: (extent: Extent) => Rhythm;
  readonly warmUp: (extent: Extent) => Rhythm;
  readonly rounds: Readonly<Record<Extent, number>>;
  /** More about a pair, once its rounds are over; gives rows changed or added. */
  readonly after?: (stage: Stage, pair: Pair, rows: readonly Row[]) => Promise<readonly Row[]>;
}

/**
 * How much is spent on a pair: `full` where a figure is to be reached, `brief` for the others, which show that nothing is out
 * of line, `quick` for a look.
 */
export type Extent = 'full' | 'brief' | 'quick';

/** The pairs on which the time is spent. */
const fullPairs: ReadonlySet<string> = new Set(['messages→chat', 'chat→chat']);

/** How much a pair gets in this run: with one pair chosen, all that there is. */
export const extentOf = ({ settings: { quick, pairs } }: Stage, { name }: Pair): Extent => {
  if (quick) return 'quick';
  return fullPairs.has(name) || pairs.length === 1 ? 'full' : 'brief';
};

/** Makes it a scene: for each pair, gateways and floors are started anew and take turns. */
export const loadScene = (scene: LoadScene): Scene => ({
  name: scene.name,
  groups: scene.groups,
  about: scene.about,
  async run(stage) {
    const rows: Row[] = [];
    for (const pair of stage.settings.pairs) {
      const told: Stage = { ...stage, progress: (text) => stage.progress(`${scene.name}, ${pair.name}: ${text}`) };
      rows.push(...(await runPair(scene, told, pair)));
    }
    return rows;
  },
});

const runPair = async (scene: LoadScene, stage: Stage, pair: Pair): Promise<readonly Row[]> => {
  const { name, unit, plan, bodyBytes } = scene;
  const extent = extentOf(stage, pair);
  await stage.upstream.plan(plan);
  stage.progress('starting');
  const started = await startParticipants(stage, pair, { floors: true });
  try {
    // Where both sides speak the same, the hand-written conversion takes part only when there is time for it.
    const participants = started.filter(
      (each) => extent === 'full' || each.name !== 'converted' || floorOf(pair) === 'converted',
    );
    const done = await takeTurns(stage, participants, {
      job: { bodyBytes, streamed: plan.streamed, text: plan },
      rhythm: scene.rhythm(extent),
      warmUp: scene.warmUp(extent),
      rounds: scene.rounds[extent],
    });
    const rows = rowsOf({ scene: name, unit, perRequest: unit === 'delta' ? plan.deltas : 1 }, pair, done);
    return scene.after ? await scene.after(stage, pair, rows) : rows;
  } finally {
    await stopAll(started);
  }
};
