import { createStore } from '../state/store.ts';

/** A key as far as this tab knows it, in memory alone. */
interface KeyState {
  /** Empty: none was given. */
  readonly key: string;
  /** The service has asked for it. */
  readonly wanted: boolean;
  /** One was given, and the service didn't take it. */
  readonly refused: boolean;
}

/** Kind of key: the administrator's for `/api`, or a client's for the model routes. */
export type KeyOwner = 'administrator' | 'client';

/** The administrator's key, and whether the service wants (another) one. */
export const keyState = createStore<KeyState>({ key: '', wanted: false, refused: false });

/** The key of a client, which only the model routes take: those need one where there are clients and no APIKEY. */
export const clientKeyState = createStore<KeyState>({ key: '', wanted: false, refused: false });

const stateOf = (owner: KeyOwner): typeof keyState => (owner === 'client' ? clientKeyState : keyState);

/** The key to send to a path, and whose it is. The key of a client is never sent to `/api`. */
export const keyFor = (path: string): { readonly key: string; readonly owner: KeyOwner } => {
  const admin = { key: keyState.get().key, owner: 'administrator' } as const;
  if (path.startsWith('/api/') || admin.key !== '') return admin;
  return { key: clientKeyState.get().key, owner: 'client' };
};

/** Takes a typed key; what waits for it is asked for again. */
export const giveKey = (owner: KeyOwner, key: string): void => {
  stateOf(owner).set({ key, wanted: false, refused: false });
};

/** The user goes on without the key. */
export const forgoKey = (owner: KeyOwner): void => {
  const state = stateOf(owner);
  state.set({ ...state.get(), wanted: false });
};

/** The service answered 401 to a call that was made with `key`. */
export const refuseKey = (owner: KeyOwner, key: string): void => {
  const state = stateOf(owner);
  // The answer to an older call says nothing about the key that was given since.
  if (key === state.get().key) state.set({ key, wanted: true, refused: key !== '' });
};
