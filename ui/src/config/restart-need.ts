import { createStore } from '../state/store.ts';

/** Fields that are saved, but that only a restart applies, as far as this tab knows. */
export const restartNeed = createStore<readonly string[]>([]);

/** These fields were saved. */
export const needRestart = (fields: readonly string[]): void =>
  restartNeed.set([...new Set([...restartNeed.get(), ...fields])]);
