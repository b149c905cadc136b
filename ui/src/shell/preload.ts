import { pages } from '../pages.ts';

/** How long after the start the other pages' code is loaded, in milliseconds: what was asked for comes first. */
const afterMs = 2_000;

/**
 * Loads the code of all pages, one after the other, so that one never opened opens without the gateway. The editor, as large as
 * all of them, is loaded where it is opened. Returns a function that stops it.
 */
export const preloadPages = (): (() => void) => {
  let isOver = false;
  const loads = [
    ...pages.map(({ load }) => load),
    () => import('../parts/markdown/markdown-piece.tsx'),
    () => import('./dialogs/palette.tsx'),
  ];
  const run = async (): Promise<void> => {
    for (const load of loads) {
      // What fails is loaded when it is opened, which says so.
      if (!isOver) await load().catch(() => undefined);
    }
  };
  const timer = window.setTimeout(() => void run(), afterMs);
  return () => {
    isOver = true;
    window.clearTimeout(timer);
  };
};
