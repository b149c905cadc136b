import type { Lane, LaneGroup } from '../lane.ts';
import type { Rhythm } from '../load/job.ts';
import { streamedAnswer, type UpstreamPlan, wholeAnswer } from '../upstream/plan.ts';
import { allPairs, type Pair, pairs, socketPairs, wires } from '../wire.ts';
import { type Participant, startParticipants, stopAll } from './participants.ts';
import { type Counted, rowsOf } from './rows-of.ts';
import type { Row, Scene, Settings, Stage } from './scene.ts';
import { settleMs, type Turn, takeTurns, type WarmUp, withNote } from './take-turns.ts';

/** What is measured of each lane. */
interface Work {
  readonly scene: string;
  readonly unit: Counted['unit'];
  readonly plan: UpstreamPlan;
  readonly rhythm: Rhythm;
  readonly warmUp: WarmUp;
  readonly rounds: number;
  readonly warmUpMs: number;
}

const lengths = {
  full: { rounds: { requests: 5, streams: 3 }, roundMs: { requests: 500, streams: 2_000 }, warmUpMs: 4_000 },
  quick: { rounds: { requests: 3, streams: 2 }, roundMs: { requests: 200, streams: 500 }, warmUpMs: 1_200 },
} as const;

/** Deltas of a paced stream, at the pace at which models write. */
const perSecond = 50;

const extentOf = ({ quick, rounds, roundMs }: Settings) => {
  const usual = lengths[quick ? 'quick' : 'full'];
  return {
    rounds: { requests: rounds ?? usual.rounds.requests, streams: rounds ?? usual.rounds.streams },
    roundMs: { requests: roundMs ?? usual.roundMs.requests, streams: roundMs ?? usual.roundMs.streams },
    warmUpMs: Math.min(usual.warmUpMs, roundMs === undefined ? usual.warmUpMs : roundMs * 5),
  };
};

const requestsOf = (settings: Settings): Work => {
  const { rounds, roundMs, warmUpMs } = extentOf(settings);
  const rhythm = { type: 'closed', clients: 16, forMs: roundMs.requests } as const;
  return {
    scene: 'requests',
    unit: 'request',
    plan: wholeAnswer,
    rhythm,
    warmUp: { rhythm: { ...rhythm, forMs: Math.min(400, warmUpMs / 2) } },
    rounds: rounds.requests,
    warmUpMs,
  };
};

const streamsOf = (settings: Settings): Work => {
  const { rounds, roundMs, warmUpMs } = extentOf(settings);
  const deltas = Math.max(3, Math.round((roundMs.streams * perSecond) / 1e3));
  const plan = streamedAnswer({ deltas, intervalMs: 1_000 / perSecond, stamped: true });
  return {
    scene: 'streams',
    unit: 'delta',
    plan,
    rhythm: { type: 'burst', streams: 40, overMs: Math.min(200, roundMs.streams / 4) },
    // The same requests and writes, but quicker.
    warmUp: { rhythm: { type: 'burst', streams: 40, overMs: 50 }, plan: { ...plan, intervalMs: 2 } },
    rounds: rounds.streams,
    // Its requests are warm already.
    warmUpMs: warmUpMs / 2,
  };
};

/** A recorded request, which clients repeat. */
const recordedOf = (plan: UpstreamPlan, settings: Settings): Work => {
  const { rounds, roundMs, warmUpMs } = extentOf(settings);
  const last = plan.recorded?.chunks.at(-1)?.atMs ?? 0;
  const rhythm = { type: 'closed', clients: 16, forMs: Math.max(roundMs.requests, Math.min(last, 10_000)) } as const;
  return {
    scene: 'capture',
    unit: 'request',
    plan,
    rhythm,
    warmUp: { rhythm, plan: atOnce(plan) },
    rounds: rounds.requests,
    warmUpMs,
  };
};

/** The same answer, without the waits between its chunks. */
const atOnce = (plan: UpstreamPlan): UpstreamPlan => ({
  ...plan,
  ...(plan.recorded && {
    recorded: { ...plan.recorded, chunks: plan.recorded.chunks.map((chunk) => ({ ...chunk, atMs: 0 })) },
  }),
});

const worksOf = ({ webSocket, recorded }: Lane, settings: Settings): readonly Work[] => {
  if (recorded) return [recordedOf(recorded.plan, settings)];
  // A request over WebSocket is always answered by a stream.
  return webSocket ? [streamsOf(settings)] : [requestsOf(settings), streamsOf(settings)];
};

const laneOf = (pair: Pair, webSocket: boolean): Lane => ({
  name: webSocket ? `${pair.name}, WebSocket` : pair.name,
  pair,
  webSocket,
});

/** The pairs of a quick run. */
const quickPairs = [pairs[0], pairs[1], pairs[3], pairs[4]] as const;

/** These pairs, each over Server-Sent Events, and over WebSocket where clients have it; absent: all, for a look some. */
export const lanesOf = (chosen: readonly Pair[] | undefined, quick: boolean): readonly LaneGroup[] => {
  const asked = chosen ?? (quick ? quickPairs : allPairs);
  const sockets = socketPairs.filter(({ name }) => asked.some((pair) => pair.name === name));
  return wires
    .map((upstream) => ({
      upstream,
      lanes: [
        ...asked.filter((pair) => pair.upstream === upstream).map((pair) => laneOf(pair, false)),
        ...sockets.filter((pair) => pair.upstream === upstream).map((pair) => laneOf(pair, true)),
      ],
    }))
    .filter(({ lanes }) => lanes.length > 0);
};

const groupsOf = ({ lanes, pairs: named, quick }: Settings): readonly LaneGroup[] =>
  lanes ?? lanesOf(named === pairs ? undefined : named, quick);

/** Starting and ending the participants, in seconds. */
const startSeconds = 2;

/** Each way from a client to a provider, beside the bare stack that forwards the bytes of the provider's answer unchanged. */
export const lanesScene: Scene = {
  name: 'pairs',
  groups: [],
  about: 'requests and streams of each pair of client protocol and provider format, beside the bare stack',
  seconds(settings) {
    const each = (work: Work): number => {
      const { rhythm, plan, warmUpMs, rounds } = work;
      const roundMs =
        rhythm.type === 'burst' ? rhythm.overMs + plan.deltas * plan.intervalMs : 'forMs' in rhythm ? rhythm.forMs : 0;
      const firstMs = plan.recorded?.chunks.at(-1)?.atMs ?? plan.deltas * plan.intervalMs;
      return (firstMs + warmUpMs + rounds * (roundMs + 2 * settleMs)) / 1e3;
    };
    return groupsOf(settings).reduce(
      (sum, { lanes }) =>
        sum +
        startSeconds +
        (settings.targets.length + 1) *
          lanes.flatMap((lane) => worksOf(lane, settings)).reduce((total, work) => total + each(work), 0),
      0,
    );
  },
  async run(stage) {
    const rows: Row[] = [];
    for (const group of groupsOf(stage.settings)) rows.push(...(await runGroup(stage, group)));
    return rows;
  },
};

const floor = 'bytes';

const runGroup = async (stage: Stage, { upstream, lanes }: LaneGroup): Promise<readonly Row[]> => {
  const { settings } = stage;
  stage.progress(`starting, with providers of ${upstream}`);
  const pair: Pair = { name: `${upstream}→${upstream}`, client: upstream, upstream };
  const { running, refused } = await startParticipants(stage, pair, { floors: [floor] });
  try {
    const rows: Row[] = [];
    for (const lane of lanes) {
      for (const work of worksOf(lane, settings)) {
        stage.progress(`${work.scene}, ${lane.name}`);
        const { scene, unit, plan, rhythm, warmUp, rounds, warmUpMs } = work;
        const turns = await takeTurns(
          { ...stage, progress: (text) => stage.progress(`${scene}, ${lane.name}: ${text}`) },
          running.map((each) => on(lane, each)),
          {
            plan,
            bodyBytes: 1_400,
            rhythm,
            coldRhythm: { type: 'closed', clients: 1, forMs: 1, most: 1 },
            warmUp: [warmUp],
            warmUpMs,
            rounds,
            ...(settings.check && { check: settings.check }),
          },
        );
        const done = new Map([...refused, ...[...turns].map(([name, turn]) => [name, roundsOf(turn)] as const)]);
        const counted = { scene, unit, perRequest: unit === 'delta' ? plan.deltas : 1 };
        rows.push(...rowsOf(counted, { ...lane.pair, name: lane.name }, done, floor).map(withNote(turns)));
      }
    }
    return rows;
  } finally {
    await stopAll(running);
  }
};

const roundsOf = (turn: Turn | string): Turn['rounds'] | string => (typeof turn === 'string' ? turn : turn.rounds);

/** A participant that serves this lane; the bare stack is asked in the provider's own format. */
const on = ({ pair, webSocket, model, recorded }: Lane, participant: Participant): Participant => {
  const { place } = participant;
  const isFloor = participant.name === floor;
  return {
    ...participant,
    place: {
      ...place,
      wire: isFloor ? pair.upstream : pair.client,
      ...(!isFloor && webSocket && { webSocket }),
      ...(!isFloor && model !== undefined && { model }),
      ...(!isFloor && recorded && { recorded }),
    },
  };
};
