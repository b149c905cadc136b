import { wholeAnswer } from '../upstream/plan.ts';
import { type Extent, type LoadScene, loadScene } from './load-scene.ts';
import { addLoopBlocks } from './loop-blocks.ts';
import type { Scene } from './scene.ts';

const roundMs = { full: 700, brief: 300, quick: 400 } as const satisfies Record<Extent, number>;

const plain = {
  plan: () => wholeAnswer,
  unit: 'request',
  rounds: { full: 5, brief: 3, quick: 7 },
  fullPairs: ['messages→chat', 'chat→chat'],
} as const;

/** `least`: requests after which the compiler has done what it will do. */
const closed = (clients: number, least: number): Pick<LoadScene, 'rhythm' | 'warmUp'> => ({
  rhythm: (extent) => ({ type: 'closed', clients, forMs: roundMs[extent] }),
  warmUp: (extent) => [
    { rhythm: { type: 'closed', clients, forMs: 1_200, least: extent === 'brief' ? least / 3 : least } },
  ],
});

/** Requests with whole answers: small ones, one after the other and many at once, at a fixed rate, and large ones. */
export const plainScenes: readonly Scene[] = [
  loadScene({
    ...plain,
    ...closed(1, 3_000),
    name: 'plain-1',
    groups: ['plain'],
    about: '1.4 KB requests of one client, one after the other',
    bodyBytes: 1_400,
  }),
  loadScene({
    ...plain,
    ...closed(64, 9_000),
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
    warmUp: closed(8, 4_000).warmUp,
    rounds: { full: 3, brief: 1, quick: 3 },
  }),
  loadScene({
    ...plain,
    ...closed(8, 4_000),
    name: 'body-1k',
    groups: ['bodies'],
    about: '1 KB requests of 8 clients',
    bodyBytes: 1_000,
    rounds: { full: 3, brief: 1, quick: 5 },
  }),
  loadScene({
    ...plain,
    ...closed(4, 600),
    name: 'body-100k',
    groups: ['bodies'],
    about: 'a conversation of 100 KB that grows by a turn with each request, 4 clients',
    bodyBytes: 100_000,
  }),
  loadScene({
    ...plain,
    ...closed(2, 120),
    name: 'body-1m',
    groups: ['bodies'],
    about: 'a conversation of 1 MB that grows by a turn with each request, 2 clients',
    bodyBytes: 1_000_000,
    after: addLoopBlocks(1_000_000),
  }),
];
