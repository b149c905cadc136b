import { within } from '../runtime/within.ts';
import type { HubStore } from './contract.ts';

/** Time limit of a request that waits for blobs of other nodes, in milliseconds. */
const otherNodesMs = 50;
/** Lifetime of blobs for other nodes, in milliseconds. */
const otherNodesKeepMs = 1_800_000;

/**
 * The store of several nodes, with its blobs also in a store of this node: they are read there first, and of other nodes
 * only if they are missing, with a short wait. What other nodes answer after that goes to `late`.
 */
export const withLocalBlobs = (fleet: HubStore, local: Pick<HubStore, 'putBlob' | 'readBlobs'>): HubStore => ({
  exchange: (push) => fleet.exchange(push),
  putBlob(blob) {
    local.putBlob(blob);
    fleet.putBlob({ ...blob, forMs: Math.min(blob.forMs, otherNodesKeepMs) });
  },
  async readBlobs(names, late) {
    const known = await local.readBlobs(names);
    const missing = names.filter((_, index) => known[index] === null);
    if (missing.length === 0) return known;
    let isLate = false;
    const reading = fleet.readBlobs(missing).then((found) => {
      const values = new Map(missing.map((name, index) => [name, found[index] ?? null]));
      const joined = names.map((name, index) => known[index] ?? values.get(name) ?? null);
      if (isLate) late?.(joined);
      return joined;
    });
    const joined = await within(otherNodesMs, reading);
    isLate = true;
    return joined ?? known;
  },
});
