import { conversions } from '../floors/convert/index.ts';
import type { Rhythm } from '../load/job.ts';
import type { UpstreamPlan } from '../upstream/plan.ts';
import { type Pair, socketPairs } from '../wire.ts';
import { ownUsOf } from './own.ts';
import { type Floor, floorOf, startParticipants, stopAll } from './participants.ts';
import { type Counted, rowsOf } from './rows-of.ts';
import type { Row, Scene, Settings, Stage } from './scene.ts';
import { settleMs, type Turn, takeTurns, type WarmUp, withNote } from './take-turns.ts';

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
  readonly warmUp: readonly WarmUp[];
  /** Absent: the usual number. */
  readonly rounds?: Readonly<Record<Extent, number>>;
  /** Beside the floor, the same that computes for as long as the first gateway's own JavaScript does: what being as slow costs by itself. */
  readonly spins?: boolean;
  /** Clients ask over WebSocket, in pairs of Responses clients; absent: over HTTP. */
  readonly webSocket?: boolean;
  /** Pairs whose extent is `full`. */
  readonly fullPairs: readonly string[];
  /** More about a pair, once its rounds are over. */
  readonly after?: {
    /** Its rows, changed or added to. */
    readonly run: (stage: Stage, pair: Pair, rows: readonly Row[]) => Promise<readonly Row[]>;
    /** What it takes for each gateway. */
    readonly seconds: number;
  };
}

const usualRounds = { full: 9, brief: 3, quick: 5 } as const satisfies Record<Extent, number>;

/** The longest warm-up of one participant. */
const warmUpMs = { full: 15_000, brief: 6_000, quick: 2_500 } as const satisfies Record<Extent, number>;

/** The first seconds of clients that ask without a pause. Other rhythms have their own length. */
const coldMs = { full: 2_000, brief: 1_000, quick: 1_000 } as const satisfies Record<Extent, number>;

const coldOf = (rhythm: Rhythm, extent: Extent): Rhythm =>
  rhythm.type === 'closed' ? { ...rhythm, forMs: coldMs[extent] } : rhythm;

/** Makes it a scene: for each pair, gateways and floors are started anew and take turns. */
export const loadScene = (scene: LoadScene): Scene => ({
  name: scene.name,
  groups: scene.groups,
  about: scene.about,
  seconds(asked) {
    const settings = settingsOf(scene, asked);
    return settings.pairs.reduce((sum, pair) => sum + secondsOf(scene, settings, pair), 0);
  },
  async run(stage) {
    const rows: Row[] = [];
    const settings = settingsOf(scene, stage.settings);
    for (const pair of settings.pairs) {
      const told: Stage = {
        ...stage,
        settings,
        progress: (text) => stage.progress(`${scene.name}, ${pair.name}: ${text}`),
      };
      rows.push(...(await runPair(scene, told, pair)));
    }
    return rows;
  },
});

/** A scene over WebSocket has pairs of its own: the one that alone was asked for, or all; for a look the first. */
const settingsOf = ({ webSocket }: LoadScene, settings: Settings): Settings => {
  if (!webSocket) return settings;
  const asked = socketPairs.filter(({ name }) => settings.pairs.length === 1 && name === settings.pairs[0]?.name);
  const chosen = asked.length > 0 ? asked : socketPairs.slice(0, 2);
  return { ...settings, pairs: settings.quick ? chosen.slice(0, 1) : chosen };
};

/** For a look, the pair's own floor; a second one only where this pair alone is measured. */
const floorsOf = ({ spins = false }: LoadScene, pair: Pair, { quick, pairs }: Settings): readonly Floor[] => {
  const own = floorOf(pair);
  if (quick) return [own];
  const second = own === 'bytes' && pairs.length === 1 && conversions.has(pair.name);
  return [...(second ? (['converted'] as const) : []), own, ...(spins ? (['spinning'] as const) : []), 'direct'];
};

const extentOf = ({ fullPairs }: LoadScene, { quick, pairs }: Settings, { name }: Pair): Extent => {
  if (quick) return 'quick';
  return fullPairs.includes(name) || pairs.length === 1 ? 'full' : 'brief';
};

/** Starting and ending the participants, in milliseconds. */
const startMs = 2_000;

/** The least that reading the figures of a round takes, in milliseconds. */
const readMs = 60;

/** The longest that a pair takes, if the machine isn't busy. */
const secondsOf = (scene: LoadScene, settings: Settings, pair: Pair): number => {
  const { rounds = usualRounds, warmUp, after } = scene;
  const extent = extentOf(scene, settings, pair);
  const plan = scene.plan(extent);
  const rhythm = scene.rhythm(extent);
  const floors = floorsOf(scene, pair, settings);
  const measured = settings.targets.length + floors.filter((floor) => floor !== 'direct').length;
  const roundMs = lengthMs(rhythm, plan);
  const eachMs = lengthMs(coldOf(rhythm, extent), plan) + warmUp.length * warmUpMs[extent] + rounds[extent] * roundMs;
  const directMs = floors.includes('direct') ? roundMs : 0;
  const afterMs = after && extent !== 'brief' ? after.seconds * settings.targets.length * 1e3 : 0;
  return (startMs + measured * eachMs + directMs + afterMs) / 1e3;
};

const lengthMs = (rhythm: Rhythm, { deltas, perWrite, intervalMs }: UpstreamPlan): number => {
  const streamMs = (deltas / perWrite) * intervalMs;
  return settleMs + readMs + (rhythm.type === 'burst' ? rhythm.overMs + streamMs : rhythm.forMs);
};

const runPair = async (scene: LoadScene, stage: Stage, pair: Pair): Promise<readonly Row[]> => {
  const { name, unit, bodyBytes, warmUp, rounds = usualRounds, webSocket = false, after } = scene;
  const extent = extentOf(scene, stage.settings, pair);
  const plan = scene.plan(extent);
  const rhythm = scene.rhythm(extent);
  stage.progress('starting');
  const floors = floorsOf(scene, pair, stage.settings);
  const spinUs = floors.includes('spinning') ? await ownUsOf(stage, pair) : 0;
  const { running, refused } = await startParticipants(stage, pair, {
    floors,
    webSocket,
    spinUs,
  });
  try {
    const done = await takeTurns(stage, running, {
      plan,
      bodyBytes,
      rhythm,
      coldRhythm: coldOf(rhythm, extent),
      warmUp,
      warmUpMs: warmUpMs[extent],
      rounds: rounds[extent],
    });
    const counted = { scene: name, unit, perRequest: unit === 'delta' ? plan.deltas : 1 };
    const warm = rowsOf(counted, pair, new Map([...refused, ...mapTurns(done, (turn) => turn.rounds)])).map(
      withNote(done),
    );
    const cold = rowsOf({ ...counted, scene: `${name}, cold` }, pair, mapTurns(done, coldRounds));
    return [
      ...(after && extent !== 'brief' ? await after.run(stage, pair, warm) : warm),
      // What failed is shown once.
      ...cold.filter(({ failed }) => failed === undefined),
    ];
  } finally {
    await stopAll(running);
  }
};

/** What `of` gives of each participant that has done anything. */
const mapTurns = (
  done: ReadonlyMap<string, Turn | string>,
  of: (turn: Turn) => readonly Turn['rounds'][number][],
): ReadonlyMap<string, Turn['rounds'] | string> =>
  new Map(
    [...done].flatMap(([name, turn]) => {
      const rounds = typeof turn === 'string' ? turn : of(turn);
      return rounds.length > 0 ? [[name, rounds] as const] : [];
    }),
  );

const coldRounds = ({ cold }: Turn): Turn['rounds'] => (cold ? [cold] : []);
