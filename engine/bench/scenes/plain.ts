import type { Rhythm } from '../load/job.ts';
import { wholeAnswer } from '../upstream/plan.ts';
import { type Extent, type LoadScene, loadScene } from './load-scene.ts';
import { loopBlocks } from './loop-blocks.ts';
import type { Scene } from './scene.ts';
import type { WarmUp } from './take-turns.ts';

const roundMs = { full: 700, brief: 300, quick: 350 } as const satisfies Record<Extent, number>;

const plain = {
  groups: ['plain'],
  plan: () => wholeAnswer,
  unit: 'request',
  bodyBytes: 1_400,
  fullPairs: ['messages→chat', 'chat→chat'],
} as const;

/** One round of a warm-up. */
const warmUpOf = (clients: number): Rhythm => ({ type: 'closed', clients, forMs: 500 });

/** Clients that ask one question after the other. `least`: requests after which the compiler has done what it will do. */
const closed = (clients: number, least: number): Pick<LoadScene, 'rhythm' | 'warmUp'> => ({
  rhythm: (extent) => ({ type: 'closed', clients, forMs: roundMs[extent] }),
  warmUp: [{ rhythm: warmUpOf(clients), least }],
});

/** Requests at a fixed rate, whether earlier ones are answered or not. */
const open = (perSecond: number): Scene =>
  loadScene({
    ...plain,
    name: `open-${perSecond}`,
    groups: ['plain', 'open'],
    about: `1.4 KB requests, ${perSecond.toLocaleString('en')} a second, whether answered or not`,
    rhythm: (extent) => ({ type: 'open', perSecond, forMs: extent === 'full' ? 2_000 : 1_000 }),
    warmUp: [{ rhythm: warmUpOf(8), least: 4_000 }],
    rounds: { full: 5, brief: 3, quick: 3 },
  });

/**
 * Large bodies take 3,000 requests of 100 KB: a request's cost falls by a sixth from the 400th to the 3,000th, and the compiler's
 * threads work until then. In 1 MB as many bytes go by in a tenth of the requests, but what runs once per request stays
 * uncompiled: the 700th still costs an eighth more than one after 3,000 of 100 KB. V8 then compiles for the larger texts anew, which
 * takes 160 requests.
 */
const large: WarmUp = { rhythm: warmUpOf(4), least: 3_000, bodyBytes: 100_000 };

/** Requests with whole answers: small ones, one after the other and many at once, at fixed rates, and large ones. */
export const plainScenes: readonly Scene[] = [
  loadScene({
    ...plain,
    ...closed(1, 3_000),
    name: 'plain-1',
    about: '1.4 KB requests of one client, one after the other',
  }),
  loadScene({
    ...plain,
    ...closed(64, 9_000),
    name: 'plain-64',
    spins: true,
    about: '1.4 KB requests of 64 clients at once',
  }),
  open(200),
  open(1_000),
  open(3_000),
  loadScene({
    ...plain,
    ...closed(8, 4_000),
    name: 'body-1k',
    groups: ['bodies'],
    about: '1 KB requests of 8 clients',
    bodyBytes: 1_000,
  }),
  loadScene({
    ...plain,
    rhythm: (extent) => ({ type: 'closed', clients: 4, forMs: roundMs[extent] }),
    warmUp: [{ rhythm: warmUpOf(4), least: 3_000, takesAll: true }],
    name: 'body-100k',
    groups: ['bodies'],
    about: 'a conversation of 100 KB that grows by a turn with each request, 4 clients',
    bodyBytes: 100_000,
  }),
  loadScene({
    ...plain,
    name: 'body-1m',
    groups: ['bodies'],
    about: 'a conversation of 1 MB that grows by a turn with each request, 2 clients',
    bodyBytes: 1_000_000,
    rhythm: (extent) => ({ type: 'closed', clients: 2, forMs: roundMs[extent] }),
    warmUp: [large, { rhythm: warmUpOf(2), least: 200, takesAll: true }],
    after: loopBlocks(1_000_000),
  }),
];
