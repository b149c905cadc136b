import { streamedAnswer, wholeAnswer } from '../upstream/plan.ts';
import { loadScene } from './load-scene.ts';
import type { Scene } from './scene.ts';
import type { WarmUp } from './take-turns.ts';

const roundMs = { full: 600, brief: 400, quick: 400 } as const;

/** Opening a stream is compiled after so many of them. */
const shortStreams: WarmUp = {
  rhythm: { type: 'closed', clients: 64, forMs: 1_200, least: 5_000 },
  plan: streamedAnswer({ deltas: 8 }),
};

/** The same requests and writes as those of paced streams, but quicker: what is measured takes seconds. */
const quickStreams: WarmUp = {
  rhythm: { type: 'burst', streams: 100, overMs: 200 },
  plan: streamedAnswer({ deltas: 200, intervalMs: 5, stamped: true }),
};

/** Enough that the process's memory grows as far as bodies of this size make it grow. */
const largeBodies: WarmUp = {
  rhythm: { type: 'closed', clients: 2, forMs: 1_000, least: 100 },
  plan: wholeAnswer,
  bodyBytes: 1_000_000,
};

interface PacedScene {
  readonly name: string;
  readonly streams: number;
  readonly perSecond: number;
  /** Of a full round. In less than ten, the streams' opening outweighs the rest. */
  readonly seconds?: number;
  readonly rounds?: number;
  readonly after?: readonly WarmUp[];
  readonly about?: string;
}

const paced = ({ name, streams, perSecond, seconds = 10, rounds = 2, after = [], about = '' }: PacedScene): Scene => {
  const lasts = { full: seconds, brief: 2, quick: 5 } as const;
  return loadScene({
    name,
    groups: ['streaming', 'paced'],
    about: `${streams} streams of ${perSecond} deltas a second for ${seconds} s, each delta a write of its own${about}`,
    unit: 'delta',
    bodyBytes: 1_400,
    plan: (extent) =>
      streamedAnswer({ deltas: perSecond * lasts[extent], intervalMs: 1_000 / perSecond, stamped: true }),
    rhythm: () => ({ type: 'burst', streams, overMs: 1_000 }),
    warmUp: () => [shortStreams, quickStreams, ...after],
    rounds: { full: rounds, brief: 1, quick: 1 },
    fullPairs: ['messages→chat', 'chat→chat'],
  });
};

/** Streamed answers: one as fast as it goes, many short ones, many at the pace at which models write. */
export const streamingScenes: readonly Scene[] = [
  loadScene({
    name: 'stream-fast',
    groups: ['streaming'],
    about: 'one stream of 20,000 deltas, 10 per write, as fast as it goes',
    unit: 'delta',
    bodyBytes: 1_400,
    plan: () => streamedAnswer({ deltas: 20_000, perWrite: 10 }),
    rhythm: (extent) => ({ type: 'closed', clients: 1, forMs: roundMs[extent], most: 40 }),
    warmUp: () => [{ rhythm: { type: 'closed', clients: 1, forMs: 800, least: 8, most: 80 } }],
    rounds: { full: 7, brief: 3, quick: 7 },
    fullPairs: ['messages→chat', 'chat→chat'],
  }),
  loadScene({
    name: 'stream-short',
    groups: ['streaming'],
    about: 'streams of 8 deltas for 64 clients, one after the other: what it costs to open and close one',
    unit: 'stream',
    bodyBytes: 1_400,
    plan: () => streamedAnswer({ deltas: 8 }),
    rhythm: (extent) => ({ type: 'closed', clients: 64, forMs: roundMs[extent] }),
    warmUp: () => [shortStreams],
    rounds: { full: 5, brief: 3, quick: 7 },
    fullPairs: ['messages→chat', 'chat→chat'],
  }),
  loadScene({
    name: 'stream-cuts',
    groups: ['streaming'],
    about: '8 streams of 500 deltas, written in pieces of 1 to 1,021 bytes that end anywhere',
    unit: 'delta',
    bodyBytes: 1_400,
    plan: () => streamedAnswer({ deltas: 500, cuts: 'odd' }),
    rhythm: (extent) => ({ type: 'closed', clients: 8, forMs: roundMs[extent], most: 400 }),
    warmUp: () => [{ rhythm: { type: 'closed', clients: 8, forMs: 500, least: 100, most: 400 } }],
    rounds: { full: 3, brief: 1, quick: 5 },
    fullPairs: ['messages→chat'],
  }),
  paced({ name: 'paced-200', streams: 200, perSecond: 50 }),
  paced({ name: 'paced-1000', streams: 1_000, perSecond: 5 }),
  paced({
    name: 'paced-bodies',
    streams: 1_000,
    perSecond: 5,
    seconds: 5,
    rounds: 1,
    after: [largeBodies],
    about: ', after 100 requests of 1 MB: for the memory',
  }),
];
