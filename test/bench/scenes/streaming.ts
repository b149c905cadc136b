import { streamedAnswer } from '../upstream/plan.ts';
import { loadScene } from './load-scene.ts';
import type { Scene } from './scene.ts';

const roundMs = { full: 600, brief: 400, quick: 200 } as const;
const seconds = { full: 10, brief: 2, quick: 1 } as const;

const paced = (name: string, streams: number, perSecond: number): Scene =>
  loadScene({
    name,
    groups: ['streaming', 'paced'],
    about: `${streams} streams of ${perSecond} deltas a second for 10 s, each delta a write of its own`,
    unit: 'delta',
    bodyBytes: 1_400,
    plan: (extent) =>
      streamedAnswer({ deltas: perSecond * seconds[extent], intervalMs: 1_000 / perSecond, stamped: true }),
    rhythm: () => ({ type: 'burst', streams, overMs: 1_000 }),
    // The same requests and writes, but quicker: what is measured takes seconds.
    warmUp: () => ({
      rhythm: { type: 'burst', streams: 100, overMs: 200 },
      plan: streamedAnswer({ deltas: 200, intervalMs: 5, stamped: true }),
    }),
    rounds: { full: 2, brief: 1, quick: 1 },
    fullPairs: ['messages→chat'],
  });

/** Streamed answers: one as fast as it goes, many at the pace at which models write. */
export const streamingScenes: readonly Scene[] = [
  loadScene({
    name: 'stream-fast',
    groups: ['streaming'],
    about: 'one stream of 20,000 deltas, 10 per write, as fast as it goes',
    unit: 'delta',
    bodyBytes: 1_400,
    plan: () => streamedAnswer({ deltas: 20_000, perWrite: 10 }),
    rhythm: (extent) => ({ type: 'closed', clients: 1, forMs: roundMs[extent], most: 40 }),
    warmUp: () => ({ rhythm: { type: 'closed', clients: 1, forMs: 800, least: 8, most: 80 } }),
    rounds: { full: 7, brief: 3, quick: 3 },
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
    warmUp: () => ({ rhythm: { type: 'closed', clients: 8, forMs: 500, least: 100, most: 400 } }),
    rounds: { full: 3, brief: 1, quick: 1 },
    fullPairs: ['messages→chat'],
  }),
  paced('paced-200', 200, 50),
  paced('paced-1000', 1_000, 5),
];
