import { createStore } from '../state/store.ts';

/** A short message that needs no answer. */
interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'failed';
}

/** The messages that are shown. */
export const toasts = createStore<readonly Toast[]>([]);

let lastId = 0;

/** How long a message stays, in milliseconds; failures stay until they are taken away. */
const shownMs = 6_000;

/** Shows a message at the page's edge, and says it to screen readers. For what has no place of its own on the page. */
export const toast = (text: string, kind: Toast['kind'] = 'done'): void => {
  lastId += 1;
  const id = lastId;
  toasts.set([...toasts.get().slice(-3), { id, text, kind }]);
  if (kind === 'done') window.setTimeout(() => dismissToast(id), shownMs);
};

/** Takes a message away. */
export const dismissToast = (id: number): void => toasts.set(toasts.get().filter((one) => one.id !== id));
