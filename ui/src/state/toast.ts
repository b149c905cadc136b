import { createStore } from './store.ts';

/** A short message that needs no answer. */
interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'failed';
  /** An action; it closes the message. */
  readonly action?: { readonly label: string; readonly run: () => unknown } | undefined;
}

/** All visible messages. */
export const toasts = createStore<readonly Toast[]>([]);

let lastId = 0;

/** Display time of a message, in milliseconds; failures stay until they are dismissed. */
const shownMs = 6_000;

/** The same of one with an action. */
const offeredMs = 20_000;

/** Shows a short message and announces it to screen readers; returns its id. For messages without a place on the page. */
export const toast = (text: string, kind: Toast['kind'] = 'done', action?: Toast['action']): number => {
  lastId += 1;
  const id = lastId;
  toasts.set([...toasts.get().slice(-3), { id, text, kind, action }]);
  if (kind === 'done') window.setTimeout(() => dismissToast(id), action ? offeredMs : shownMs);
  return id;
};

/** Removes a message. */
export const dismissToast = (id: number): void => toasts.set(toasts.get().filter((one) => one.id !== id));
