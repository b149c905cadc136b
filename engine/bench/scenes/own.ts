import { cheapestTenth, differenceOf, figureOf, median, ratioOf } from '../measure/figure.ts';
import { type OwnAnswer, type OwnQuestion, startOwn } from '../own/start-own.ts';
import type { Helper } from '../rpc.ts';
import { allPairs, clientWires, type Pair, pairs } from '../wire.ts';
import type { Row, Scene, Settings, Stage } from './scene.ts';

/** What the rounds of one row consist of. */
interface Work {
  readonly scene: string;
  readonly unit: 'request' | 'delta';
  readonly question: OwnQuestion;
  /** Rounds before those that count: the compiler's. */
  readonly warmUp: number;
  /** Streams that are open meanwhile. */
  readonly streams: number;
}

const plain: Work = {
  scene: 'own',
  unit: 'request',
  question: { type: 'requests', count: 2_500, clients: 64, bytes: 1_400 },
  warmUp: 10,
  streams: 0,
};

const large: Work = {
  scene: 'own, 100 KB',
  unit: 'request',
  question: { type: 'requests', count: 300, clients: 4, bytes: 100_000 },
  warmUp: 10,
  streams: 0,
};

const streaming = (streams: number, each: number): Work => ({
  scene: `own, ${streams.toLocaleString('en')} streams`,
  unit: 'delta',
  question: { type: 'deltas', each },
  warmUp: 10,
  streams,
});

const works = [plain, streaming(10, 1_000), streaming(1_000, 10), large] as const;

/** Quick rounds are for a look, and for tests. */
const lengthOf = ({ quick, rounds }: Settings): { readonly rounds: number; readonly works: readonly Work[] } =>
  quick
    ? { rounds: rounds ?? 6, works: works.slice(0, 2).map((work) => ({ ...work, warmUp: 4 })) }
    : { rounds: rounds ?? 20, works };

type Player = Helper<OwnQuestion, OwnAnswer> & { readonly name: string };

/** What was counted of one player. */
interface Counted {
  readonly answers: OwnAnswer[];
  fault: string | undefined;
}

/** The gateway's own JavaScript: the whole service in one process, between simulated sockets. */
export const ownScene: Scene = {
  name: 'own',
  simulatesSockets: true,
  groups: [],
  about:
    'the gateway’s own JavaScript alone, between simulated sockets: µs of the thread that serves, and of all threads',
  needsProcessorTime: true,
  seconds: (settings) => pairsOf(settings).length * settings.targets.length * (settings.quick ? 5 : 14),
  async run(stage) {
    const rows: Row[] = [];
    for (const pair of pairsOf(stage.settings)) rows.push(...(await runPair(stage, pair)));
    return rows;
  },
};

const pairsOf = ({ pairs: named, quick }: Settings): readonly Pair[] => {
  if (named !== pairs) return named;
  return quick ? named.slice(0, 2) : allPairs;
};

const runPair = async (stage: Stage, pair: Pair, only?: readonly Work[]): Promise<readonly Row[]> => {
  const client = clientWires.find((wire) => wire === pair.client);
  if (!client) return [];
  const { rounds, works } = lengthOf(stage.settings);
  const unable = stage.settings.targets.filter(({ own }) => !own);
  const players = stage.settings.targets.flatMap(({ name, own }): readonly Player[] =>
    own ? [{ name, ...startOwn(own.folder, { ...own, client, upstream: pair.upstream }) }] : [],
  );
  try {
    const rows: Row[] = unable.map(({ name }) => ({
      scene: 'own',
      pair: pair.name,
      participant: name,
      unit: 'request',
      failed: 'it can’t run between simulated sockets',
    }));
    for (const work of only ?? works) {
      const told = (text: string): void => stage.progress(`${work.scene}, ${pair.name}: ${text}`);
      rows.push(...rowsOf(work, pair, await play(stage, players, work, rounds, told)));
    }
    return rows;
  } finally {
    for (const player of players) {
      await player.ask({ type: 'stop' }).catch(() => undefined);
      player.stop();
    }
  }
};

/** Microseconds of the first gateway's own JavaScript in a plain request; 0: it can't run between simulated sockets. */
export const ownUsOf = async (stage: Stage, pair: Pair): Promise<number> => {
  const targets = stage.settings.targets.filter(({ own }) => own).slice(0, 1);
  const rows = await runPair({ ...stage, settings: { ...stage.settings, targets } }, pair, [plain]);
  return rows[0]?.mainUs?.p10 ?? 0;
};

/** The rounds of all players, interleaved, so that a busy machine slows them all. */
const play = async (
  stage: Stage,
  players: readonly Player[],
  { question, warmUp, streams }: Work,
  rounds: number,
  told: (text: string) => void,
): Promise<ReadonlyMap<string, Counted>> => {
  const counted = new Map(players.map(({ name }): [string, Counted] => [name, { answers: [], fault: undefined }]));
  const ask = async (player: Player, asked: OwnQuestion, counts: boolean): Promise<void> => {
    const own = counted.get(player.name);
    const answer = await player.ask(asked);
    if (!own) return;
    own.fault ??= answer.check?.fault;
    if (counts) own.answers.push(answer);
  };
  for (const player of players) {
    told('warming up');
    if (streams > 0) await ask(player, { type: 'open', streams }, false);
    for (let round = 0; round < warmUp; round += 1) await ask(player, question, false);
  }
  for (let round = 0; round < rounds; round += 1) {
    told(`round ${round + 1} of ${rounds}`);
    for (const player of round % 2 === 0 ? players : [...players].reverse())
      await stage.foreign.during(() => ask(player, question, true));
  }
  if (streams > 0) for (const player of players) await ask(player, { type: 'close' }, false);
  return counted;
};

const rowsOf = ({ scene, unit }: Work, pair: Pair, counted: ReadonlyMap<string, Counted>): readonly Row[] => {
  const [first] = [...counted.values()];
  return [...counted].map(([participant, { answers, fault }]): Row => {
    const own = answers.map(ownUs);
    const all = answers.map(({ allUs, units }) => allUs / units);
    const units = answers.reduce((sum, answer) => sum + answer.units, 0);
    const per = (count: (answer: OwnAnswer) => number): number =>
      answers.reduce((sum, answer) => sum + count(answer), 0) / units;
    const cpuUs = figureOf(all);
    const isFirst = first?.answers === answers;
    const firsts = first?.answers.map(ownUs) ?? [];
    const ratio = isFirst ? undefined : ratioOf(own, firsts);
    const moreUs = differenceOf(own, firsts);
    const [to = ''] = counted.keys();
    return {
      scene,
      pair: pair.name,
      participant,
      unit,
      ...(cpuUs && { cpuUs }),
      mainUs: { p10: cheapestTenth(own), median: median(own) },
      ...(ratio && { beside: { to, ...ratio, ...(moreUs && { moreUs }) } }),
      allocatedKb: per(({ allocated }) => allocated.bytes) / 1e3,
      collections: {
        scavenges: per(({ allocated }) => allocated.scavenges) * 1e3,
        marks: per(({ allocated }) => allocated.marks) * 1e3,
      },
      ...(fault !== undefined && { failed: fault }),
    };
  });
};

const ownUs = ({ mainUs, units }: OwnAnswer): number => mainUs / units;
