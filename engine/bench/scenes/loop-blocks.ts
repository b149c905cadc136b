import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LoadResult, Rhythm } from '../load/job.ts';
import { clearBlocks, longestBlockMs, loopProbe } from '../measure/loop-blocks.ts';
import { wholeAnswer } from '../upstream/plan.ts';
import type { LoadScene } from './load-scene.ts';
import { startParticipants, stopAll } from './participants.ts';

/** What the probe saw is in its file by then. */
const writtenMs = 400;

/**
 * Adds to the rows of the gateways the longest stretch for which the event loop stood still, over large requests. Measured on
 * processes of their own: the probe costs processor time.
 */
export const loopBlocks = (bodyBytes: number): NonNullable<LoadScene['after']> => ({
  seconds: 6,
  async run(stage, pair, rows) {
    const folder = await mkdtemp(join(tmpdir(), 'bench-loop-'));
    const file = join(folder, 'blocks');
    clearBlocks(file);
    stage.progress('event loop');
    const { running } = await startParticipants(stage, pair, { floors: [], env: loopProbe(file) });
    try {
      const found = new Map<string, { readonly first: number; readonly later: number }>();
      for (const { name, place } of running) {
        const run = (rhythm: Rhythm, bytes: number): Promise<LoadResult> =>
          stage.load.run({ place, rhythm, bodyBytes: bytes, streamed: false, text: wholeAnswer });
        const longest = async (rhythm: Rhythm): Promise<number> => {
          clearBlocks(file);
          await run(rhythm, bodyBytes);
          await wait(writtenMs);
          return longestBlockMs(file);
        };
        await run({ type: 'closed', clients: 8, forMs: 500, least: 500 }, 1_400);
        // The start warms some things up later; that isn't these requests' doing.
        await wait(1_000);
        const first = await longest({ type: 'closed', clients: 1, forMs: 1, most: 1 });
        const later = await longest({ type: 'closed', clients: 2, forMs: 2_000 });
        found.set(name, { first, later });
      }
      return rows.map((row) => {
        const blocks = found.get(row.participant);
        if (!blocks) return row;
        const note = `event loop blocked for ${blocks.first.toFixed(0)} ms by the first such request, ${blocks.later.toFixed(0)} ms at most by later ones`;
        return {
          ...row,
          longestBlockMs: Math.max(blocks.first, blocks.later),
          note: row.note === undefined ? note : `${row.note}; ${note}`,
        };
      });
    } finally {
      await stopAll(running);
      await rm(folder, { recursive: true, force: true });
    }
  },
});
