/** Scroll positions of the browser's history entries, by the number in the entry's state. */
const positions = new Map<number, number>();

/** Maximum kept. */
const mostPositions = 200;

let current = 0;

/** Called when another entry of the history is shown: a new one gets a number. */
export const arrive = (): void => {
  const state: unknown = window.history.state;
  // Numbers grow across reloads, too.
  current = typeof state === 'number' ? state : Math.max(Date.now(), current + 1);
  window.history.scrollRestoration = 'manual';
  window.history.replaceState(current, '');
};

/** Called at each scroll. */
export const rememberScroll = (): void => {
  positions.delete(current);
  positions.set(current, window.scrollY);
  const [oldest] = positions.keys();
  if (positions.size > mostPositions && oldest !== undefined) positions.delete(oldest);
};

/** Time limit for a page's data to appear, in milliseconds. */
const patienceMs = 1_000;

/** Scrolls to where this entry was left, to the top if it is new. Returns a function that gives up. */
export const restoreScroll = (): (() => void) => {
  const top = positions.get(current) ?? 0;
  const startedMs = performance.now();
  let frame = 0;
  const { style } = document.documentElement;
  const stop = (): void => {
    style.overflowAnchor = '';
    window.cancelAnimationFrame(frame);
    for (const name of userScrolls) window.removeEventListener(name, stop);
  };
  const scroll = (): void => {
    if (Math.abs(window.scrollY - top) > 1) window.scrollTo(0, top);
    if (performance.now() - startedMs > patienceMs) stop();
    else frame = window.requestAnimationFrame(scroll);
  };
  // Data loaded above would move the position otherwise.
  style.overflowAnchor = 'none';
  for (const name of userScrolls) window.addEventListener(name, stop, { passive: true });
  scroll();
  return stop;
};

const userScrolls = ['wheel', 'touchstart', 'pointerdown', 'keydown'] as const;
