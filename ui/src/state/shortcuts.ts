import { useEffect, useRef } from 'react';
import { createStore } from './store.ts';

/** A keyboard shortcut. */
interface Shortcut {
  /** One key, two in a row with a space between them, or one with Ctrl (or Command): `?`, `g y`, `Ctrl+s`. */
  readonly keys: string;
  /** Its action: `Go to Requests`. */
  readonly does: string;
  readonly run: () => void;
}

/** All active shortcuts. */
export const shortcuts = createStore<readonly Shortcut[]>([]);

/** Adds a shortcut while the component is mounted. */
export const useShortcut = (keys: string, does: string, run: () => void): void => {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const own: Shortcut = { keys, does, run: () => latest.current() };
    shortcuts.set([...shortcuts.get(), own]);
    return () => shortcuts.set(shortcuts.get().filter((one) => one !== own));
  }, [keys, does]);
};

/** The longest time between the two keys of a pair, in milliseconds. */
const pairMs = 1_200;

/** Handles the keys of all shortcuts. Returns a function that stops it. */
export const listenForKeys = (): (() => void) => {
  let first = { key: '', atMs: 0 };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.altKey || document.querySelector('dialog[open]')) return;
    if (event.ctrlKey || event.metaKey) {
      // These work in fields, too.
      const wanted = shortcuts.get().findLast(({ keys }) => keys === `Ctrl+${event.key.toLowerCase()}`);
      if (!wanted) return;
      event.preventDefault();
      wanted.run();
      return;
    }
    if (isTyping(event)) return;
    const pair = event.timeStamp - first.atMs < pairMs ? `${first.key} ${event.key}` : '';
    const found =
      shortcuts.get().find(({ keys }) => keys === pair) ?? shortcuts.get().find(({ keys }) => keys === event.key);
    first = found ? { key: '', atMs: 0 } : { key: event.key, atMs: event.timeStamp };
    if (!found) return;
    event.preventDefault();
    found.run();
  };
  window.addEventListener('keydown', onKeyDown);
  return () => window.removeEventListener('keydown', onKeyDown);
};

/** Fields with the focus handle keys themselves; an editor's field is in a shadow tree. */
const isTyping = (event: KeyboardEvent): boolean => {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName))
  );
};
