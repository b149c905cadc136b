import { streamedAnswer, wholeAnswer } from '../upstream/plan.ts';
import { socketPairs } from '../wire.ts';
import { loadScene } from './load-scene.ts';
import type { Scene } from './scene.ts';
import type { WarmUp } from './take-turns.ts';

const roundMs = { full: 600, brief: 400, quick: 350 } as const;

/** Opening a stream is compiled after so many of them. */
const shortStreams: WarmUp = {
  rhythm: { type: 'closed', clients: 64, forMs: 500 },
  least: 5_000,
  plan: streamedAnswer({ deltas: 8 }),
};

/** The same requests and writes as those of paced streams, but quicker: what is measured takes seconds. */
const quickStreams: WarmUp = {
  rhythm: { type: 'burst', streams: 100, overMs: 200 },
  plan: streamedAnswer({ deltas: 200, intervalMs: 5, stamped: true }),
  takesAll: true,
};

/** Enough that the process's memory grows as far as bodies of this size make it grow. */
const largeBodies: WarmUp = {
  rhythm: { type: 'closed', clients: 2, forMs: 500 },
  least: 100,
  plan: wholeAnswer,
  bodyBytes: 1_000_000,
};

interface PacedScene {
  readonly name: string;
  readonly streams: number;
  readonly perSecond: number;
  readonly rounds: number;
  readonly after?: readonly WarmUp[];
  readonly about?: string;
  readonly webSocket?: boolean;
}

/** Of a round; the streams' opening is in it. */
const pacedSeconds = { full: 5, brief: 2, quick: 2 } as const;

const paced = ({ name, streams, perSecond, rounds, after = [], about = '', webSocket = false }: PacedScene): Scene =>
  loadScene({
    name,
    webSocket,
    groups: ['streaming', webSocket ? 'socket' : 'paced'],
    about: `${streams} streams of ${perSecond} deltas a second for ${pacedSeconds.full} s, each delta a write of its own${about}`,
    unit: 'delta',
    bodyBytes: 1_400,
    plan: (extent) =>
      streamedAnswer({ deltas: perSecond * pacedSeconds[extent], intervalMs: 1_000 / perSecond, stamped: true }),
    rhythm: () => ({ type: 'burst', streams, overMs: 1_000 }),
    warmUp: [shortStreams, ...after, quickStreams],
    rounds: { full: rounds, brief: 3, quick: 3 },
    fullPairs: webSocket ? socketPairs.map((pair) => pair.name) : ['messages→chat', 'chat→chat'],
  });

const overSockets = {
  webSocket: true,
  about: `, over WebSocket connections that clients hold; with ${socketPairs
    .slice(0, 2)
    .map(({ name }) => name)
    .join(' and ')}`,
} as const;

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
    warmUp: [{ rhythm: { type: 'closed', clients: 1, forMs: 500, most: 40 }, least: 8 }],
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
    warmUp: [shortStreams],
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
    warmUp: [{ rhythm: { type: 'closed', clients: 8, forMs: 500, most: 400 }, least: 100 }],
    fullPairs: ['messages→chat'],
  }),
  paced({ name: 'paced-200', streams: 200, perSecond: 50, rounds: 9 }),
  paced({ name: 'paced-1000', streams: 1_000, perSecond: 5, rounds: 5 }),
  paced({
    name: 'paced-bodies',
    streams: 1_000,
    perSecond: 5,
    rounds: 3,
    after: [largeBodies],
    about: ', after 100 requests of 1 MB: for the memory',
  }),
  paced({ ...overSockets, name: 'socket-200', streams: 200, perSecond: 50, rounds: 9 }),
  paced({ ...overSockets, name: 'socket-1000', streams: 1_000, perSecond: 5, rounds: 5 }),
];
