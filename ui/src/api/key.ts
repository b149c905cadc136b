import { createStore } from '../state/store.ts';

/** The service's key as far as this tab knows it, in memory alone. */
interface KeyState {
  /** Empty: none was given. */
  readonly key: string;
  /** The service has asked for it. */
  readonly wanted: boolean;
  /** One was given, and the service didn't take it. */
  readonly refused: boolean;
}

/** The key, and whether the service wants (another) one. */
export const keyState = createStore<KeyState>({ key: '', wanted: false, refused: false });

/** Takes a typed key; what waits for it is asked for again. */
export const giveKey = (key: string): void => {
  keyState.set({ key, wanted: false, refused: false });
};

/** The service answered 401 to a call that was made with `key`. */
export const refuseKey = (key: string): void => {
  // The answer to an older call says nothing about the key that was given since.
  if (key === keyState.get().key) keyState.set({ key, wanted: true, refused: key !== '' });
};
