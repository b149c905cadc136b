import { kept } from '../state/kept.ts';
import { createStore } from '../state/store.ts';

/** The service's key as far as this tab knows it. */
interface KeyState {
  /** Empty: none was given. Kept until the tab is closed. */
  readonly key: string;
  /** The service has asked for it. */
  readonly wanted: boolean;
  /** One was given, and the service didn't take it. */
  readonly refused: boolean;
}

const place = kept('session', 'key');

/** The key, and whether the service wants (another) one. */
export const keyState = createStore<KeyState>({ key: place.read() ?? '', wanted: false, refused: false });

/** Takes the key that somebody typed; what waits for it is asked for again. */
export const giveKey = (key: string): void => {
  place.write(key);
  keyState.set({ key, wanted: false, refused: false });
};

/** The service answered 401 to a call that was made with `key`. */
export const refuseKey = (key: string): void => {
  // The answer to an older call says nothing about the key that was given since.
  if (key === keyState.get().key) keyState.set({ key, wanted: true, refused: key !== '' });
};
