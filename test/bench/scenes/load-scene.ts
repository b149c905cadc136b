import type { Rhythm } from '../load/job.ts';
import type { UpstreamPlan } from '../upstream/plan.ts';
import type { Pair } from '../wire.ts';
import { type Floor, floorOf, startParticipants, stopAll } from './participants.ts';
import { type Counted, rowsOf } from './rows-of.ts';
import type { Row, Scene, Stage } from './scene.ts';
import { takeTurns, type WarmUp } from './take-turns.ts';

/**
 * How much is spent on a pair: `full` where a figure is to be reached, `brief` for the others, which show that nothing is out
 * of line, `quick` to compare while one works.
 */
export type Extent = 'full' | 'brief' | 'quick';

/** A scene that is made of requests. */
export interface LoadScene extends Pick<Scene, 'name' | 'groups' | 'about'> {
  readonly unit: Counted['unit'];
  readonly plan: (extent: Extent) => UpstreamPlan;
  readonly bodyBytes: number;
  readonly rhythm: (extent: Extent) => Rhythm;
  readonly warmUp: (extent: Extent) => readonly WarmUp[];
  readonly rounds: Readonly<Record<Extent, number>>;
  /** Pairs whose extent is `full`. */
  readonly fullPairs: readonly string[];
  /** More about a pair, once its rounds are over: its rows, changed or added to. */
  readonly after?: (stage: Stage, pair: Pair, rows: readonly Row[]) => Promise<readonly Row[]>;
}

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

/** For a look, the pair's own floor; a second one only where this pair alone is measured. */
const floorsOf = (pair: Pair, { settings: { quick, pairs } }: Stage): readonly Floor[] => {
  const own = floorOf(pair);
  if (quick) return [own];
  return own === 'bytes' && pairs.length === 1 ? ['converted', own, 'direct'] : [own, 'direct'];
};

const runPair = async (scene: LoadScene, stage: Stage, pair: Pair): Promise<readonly Row[]> => {
  const { name, unit, bodyBytes } = scene;
  const { quick, pairs } = stage.settings;
  const extent = quick ? 'quick' : scene.fullPairs.includes(pair.name) || pairs.length === 1 ? 'full' : 'brief';
  const plan = scene.plan(extent);
  stage.progress('starting');
  const { running, refused } = await startParticipants(stage, pair, { floors: floorsOf(pair, stage) });
  try {
    const done = await takeTurns(stage, running, {
      plan,
      bodyBytes,
      rhythm: scene.rhythm(extent),
      warmUp: scene.warmUp(extent),
      rounds: scene.rounds[extent],
    });
    const counted = { scene: name, unit, perRequest: unit === 'delta' ? plan.deltas : 1 };
    const rows = rowsOf(counted, pair, new Map([...refused, ...done]));
    return scene.after && extent !== 'brief' ? await scene.after(stage, pair, rows) : rows;
  } finally {
    await stopAll(running);
  }
};
