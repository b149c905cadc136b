import { pages } from '../pages.ts';

/** Delay after the start before the other pages' code is loaded, in milliseconds: the requested page comes first. */
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
      // A page that fails to load is loaded again when it is opened, which shows the error.
      if (!isOver) await load().catch(() => undefined);
    }
  };
  const timer = window.setTimeout(() => void run(), afterMs);
  return () => {
    isOver = true;
    window.clearTimeout(timer);
  };
};
