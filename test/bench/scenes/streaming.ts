import { streamedAnswer } from '../upstream/plan.ts';
import { loadScene } from './load-scene.ts';
import type { Scene } from './scene.ts';

const forMs = { full: 600, brief: 400, quick: 200 } as const;

const paced = (name: string, streams: number, perSecond: number, about: string): Scene =>
  loadScene({
    name,
    groups: ['streaming', 'paced'],
    about,
    unit: 'delta',
    bodyBytes: 1_400,
    plan: streamedAnswer({ deltas: perSecond * 10, intervalMs: 1_000 / perSecond, stamped: true }),
    rhythm: () => ({ type: 'burst', streams, overMs: 1_000 }),
    warmUp: () => ({ type: 'burst', streams: 50, overMs: 200 }),
    rounds: { full: 1, brief: 1, quick: 1 },
  });

/** Streamed answers: one as fast as it goes, many at the pace at which models write. */
export const streamingScenes: readonly Scene[] = [
  loadScene({
    name: 'stream-fast',
    groups: ['streaming'],
    about: 'one stream of 20,000 deltas, 10 per write, as fast as it goes',
    unit: 'delta',
    bodyBytes: 1_400,
    plan: streamedAnswer({ deltas: 20_000, perWrite: 10 }),
    rhythm: (extent) => ({ type: 'closed', clients: 1, forMs: forMs[extent], most: 100 }),
    warmUp: (extent) => ({ type: 'closed', clients: 1, forMs: forMs[extent] * 2, most: 100 }),
    rounds: { full: 7, brief: 3, quick: 3 },
  }),
  loadScene({
    name: 'stream-cuts',
    groups: ['streaming'],
    about: '8 streams of 500 deltas, written in pieces of 1 to 1,021 bytes that end anywhere',
    unit: 'delta',
    bodyBytes: 1_400,
    plan: streamedAnswer({ deltas: 500, cuts: 'odd' }),
    rhythm: (extent) => ({ type: 'closed', clients: 8, forMs: forMs[extent], most: 400 }),
    warmUp: (extent) => ({ type: 'closed', clients: 8, forMs: forMs[extent], most: 400 }),
    rounds: { full: 3, brief: 1, quick: 1 },
  }),
  paced('paced-200', 200, 50, '200 streams of 50 deltas a second for 10 s, each delta a write of its own'),
  paced('paced-1000', 1_000, 5, '1,000 streams of 5 deltas a second for 10 s, each delta a write of its own'),
];
