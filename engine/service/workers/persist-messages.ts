import type { Persistence } from '../persistence.ts';
import type { Kept, PeerResult } from './ipc-messages.ts';

type KeepResult = Extract<PeerResult, { readonly kind: 'keep' }>;

/** A persistence that is reached through calls to the supervisor. */
export const persistenceOver = (call: (kept: Kept) => Promise<PeerResult | undefined>): Persistence => {
  const hand = async (kept: Kept): Promise<KeepResult> => {
    const result = await call(kept);
    if (result?.kind === 'keep') return result;
    throw new Error((result?.kind === 'failed' && result.problem) || 'The supervisor does not answer.');
  };
  return {
    history: {
      bound: async ({ days, bytes }) => void (await hand({ what: 'bounds', days, bytes })),
      append: async (lines, batch) => (await hand({ what: 'lines', lines, ...(batch && { batch }) })).told ?? null,
      clear: async () => void (await hand({ what: 'clear' })),
      check: async () => void (await hand({ what: 'check' })),
    },
  };
};

/** Hands what came from a process to its persistence. */
export const persist = async (persistence: Persistence, kept: Kept): Promise<KeepResult> => {
  switch (kept.what) {
    case 'bounds':
      await persistence.history.bound(kept);
      break;
    case 'lines': {
      const told = await persistence.history.append(kept.lines, kept.batch);
      return { kind: 'keep', ...(told && { told }) };
    }
    case 'clear':
      await persistence.history.clear();
      break;
    case 'check':
      await persistence.history.check();
      break;
    default:
      return kept satisfies never;
  }
  return { kind: 'keep' };
};

/** The message with its lines as text, since channels between processes carry no bytes. */
export const asText = (kept: Kept): Kept =>
  kept.what === 'lines' && typeof kept.lines !== 'string'
    ? { ...kept, lines: Buffer.from(kept.lines.buffer, kept.lines.byteOffset, kept.lines.length).toString() }
    : kept;
