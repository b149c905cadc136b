import type { Rhythm } from '../load/job.ts';
import { wholeAnswer } from '../upstream/plan.ts';
import { type Extent, type LoadScene, loadScene } from './load-scene.ts';
import type { Scene } from './scene.ts';

const forMs = { full: 700, brief: 400, quick: 250 } as const satisfies Record<Extent, number>;
const rounds = { full: 7, brief: 3, quick: 3 } as const;

const closed = (clients: number): Pick<LoadScene, 'rhythm' | 'warmUp'> => ({
  rhythm: (extent): Rhythm => ({ type: 'closed', clients, forMs: forMs[extent], most: 1e6 }),
  warmUp: (extent): Rhythm => ({ type: 'closed', clients, forMs: extent === 'full' ? 1_500 : 700, most: 1e6 }),
});

const plain = { plan: wholeAnswer, unit: 'request', rounds } as const;

/** Requests with whole answers: small ones, one after the other and many at once, at a fixed rate, and large ones. */
export const plainScenes: readonly Scene[] = [
  loadScene({
    ...plain,
    ...closed(1),
    name: 'plain-1',
    groups: ['plain'],
    about: '1.4 KB requests of one client, one after the other',
    bodyBytes: 1_400,
  }),
  loadScene({
    ...plain,
    ...closed(64),
    name: 'plain-64',
    groups: ['plain'],
    about: '1.4 KB requests of 64 clients at once',
    bodyBytes: 1_400,
  }),
  loadScene({
    ...plain,
    name: 'open-200',
    groups: ['plain'],
    about: '1.4 KB requests, 200 a second, whether answered or not',
    bodyBytes: 1_400,
    rhythm: (extent) => ({ type: 'open', perSecond: 200, forMs: extent === 'full' ? 2_000 : 1_000 }),
    warmUp: () => ({ type: 'closed', clients: 8, forMs: 700, most: 1e6 }),
    rounds: { full: 3, brief: 1, quick: 1 },
  }),
  loadScene({
    ...plain,
    ...closed(8),
    name: 'body-1k',
    groups: ['bodies'],
    about: '1 KB requests of 8 clients',
    bodyBytes: 1_000,
    rounds: { ...rounds, full: 3 },
  }),
  loadScene({
    ...plain,
    ...closed(4),
    name: 'body-100k',
    groups: ['bodies'],
    about: 'a conversation of 100 KB that grows by a turn with each request, 4 clients',
    bodyBytes: 100_000,
  }),
  loadScene({
    ...plain,
    ...closed(2),
    name: 'body-1m',
    groups: ['bodies'],
    about: 'a conversation of 1 MB that grows by a turn with each request, 2 clients',
    bodyBytes: 1_000_000,
  }),
];
