import { useEffect, useRef } from 'react';
import { createStore } from '../state/store.ts';

/** Something that keys do. */
interface Shortcut {
  /** One key, or two in a row with a space between them: `?`, `g y`. */
  readonly keys: string;
  /** What it does: `Go to the Yard`. */
  readonly does: string;
  readonly run: () => void;
}

/** All shortcuts that work right now. */
export const shortcuts = createStore<readonly Shortcut[]>([]);

/** Adds a shortcut for as long as the component is there. */
export const useShortcut = (keys: string, does: string, run: () => void): void => {
  const latest = useRef(run);
  latest.current = run;
  useEffect(() => {
    const own: Shortcut = { keys, does, run: () => latest.current() };
    shortcuts.set([...shortcuts.get(), own]);
    return () => shortcuts.set(shortcuts.get().filter((one) => one !== own));
  }, [keys, does]);
};

/** How long the second key of a pair is waited for, in milliseconds. */
const pairMs = 1_200;

/** Listens for the keys of all shortcuts. Returns a function that ends it. */
export const listenForKeys = (): (() => void) => {
  let first = { key: '', atMs: 0 };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || document.querySelector('dialog[open]'))
      return;
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

/** Keys belong to the field that has the focus; an editor's field lies in a shadow tree. */
const isTyping = (event: KeyboardEvent): boolean => {
  const [target] = event.composedPath();
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName))
  );
};
