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

/** The share of the requests of a full warm-up. */
const warmed = { full: 1, brief: 1 / 3, quick: 1 / 2 } as const satisfies Record<Extent, number>;

interface Clients {
  readonly clients: number;
  /** Requests after which the compiler has done what it will do. */
  readonly least: number;
  /** The shortest warm-up. */
  readonly forMs?: number;
  readonly bodyBytes?: number;
}

/** Clients that ask one question after the other; `before` them, others warm up too. */
const closed = (last: Clients, ...before: readonly Clients[]): Pick<LoadScene, 'rhythm' | 'warmUp'> => ({
  rhythm: (extent) => ({ type: 'closed', clients: last.clients, forMs: roundMs[extent] }),
  warmUp: (extent) =>
    [...before, last].map(({ clients, least, forMs = 1_200, bodyBytes }) => ({
      rhythm: { type: 'closed', clients, forMs, least: Math.ceil(least * warmed[extent]) },
      ...(bodyBytes !== undefined && { bodyBytes }),
    })),
});

/**
 * Large bodies take 3,000 requests of 100 KB: a request's cost falls by a sixth from the 400th to the 3,000th, and the compiler's
 * threads work until then. In 1 MB as many bytes go by in a tenth of the requests, but what runs once per request stays
 * uncompiled: the 700th still costs an eighth more than one after 3,000 of 100 KB. V8 then compiles for the larger texts anew, which
 * takes 160 requests.
 */
const large: Clients = { clients: 4, least: 3_000, forMs: 3_000 };

/** Requests with whole answers: small ones, one after the other and many at once, at a fixed rate, and large ones. */
export const plainScenes: readonly Scene[] = [
  loadScene({
    ...plain,
    ...closed({ clients: 1, least: 3_000 }),
    name: 'plain-1',
    groups: ['plain'],
    about: '1.4 KB requests of one client, one after the other',
    bodyBytes: 1_400,
  }),
  loadScene({
    ...plain,
    ...closed({ clients: 64, least: 9_000 }),
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
    warmUp: closed({ clients: 8, least: 4_000 }).warmUp,
    rounds: { full: 3, brief: 1, quick: 3 },
  }),
  loadScene({
    ...plain,
    ...closed({ clients: 8, least: 4_000 }),
    name: 'body-1k',
    groups: ['bodies'],
    about: '1 KB requests of 8 clients',
    bodyBytes: 1_000,
    rounds: { full: 3, brief: 1, quick: 5 },
  }),
  loadScene({
    ...plain,
    ...closed(large),
    name: 'body-100k',
    groups: ['bodies'],
    about: 'a conversation of 100 KB that grows by a turn with each request, 4 clients',
    bodyBytes: 100_000,
  }),
  loadScene({
    ...plain,
    ...closed({ clients: 2, least: 200, forMs: 2_000 }, { ...large, bodyBytes: 100_000 }),
    name: 'body-1m',
    groups: ['bodies'],
    about: 'a conversation of 1 MB that grows by a turn with each request, 2 clients',
    bodyBytes: 1_000_000,
    after: addLoopBlocks(1_000_000),
  }),
];
