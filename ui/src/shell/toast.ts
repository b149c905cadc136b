import { createStore } from '../state/store.ts';

/** A short message that needs no answer. */
interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'failed';
}

/** All visible messages. */
export const toasts = createStore<readonly Toast[]>([]);

let lastId = 0;

/** How long a message stays, in milliseconds; failures stay until they are dismissed. */
const shownMs = 6_000;

/** Shows a short message and announces it to screen readers. For messages without a place on the page. */
export const toast = (text: string, kind: Toast['kind'] = 'done'): void => {
  lastId += 1;
  const id = lastId;
  toasts.set([...toasts.get().slice(-3), { id, text, kind }]);
  if (kind === 'done') window.setTimeout(() => dismissToast(id), shownMs);
};

/** Removes a message. */
export const dismissToast = (id: number): void => toasts.set(toasts.get().filter((one) => one.id !== id));
