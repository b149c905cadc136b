import { unsaved } from '../state/unsaved.ts';
import { parseHash, type Route, route } from './route.ts';

/**
 * Follows the address. With unsaved changes, leaving a page asks `mayLeave` first, and closing the tab makes the browser ask.
 * Returns a function that stops it.
 */
export const followAddress = (mayLeave: (what: readonly string[]) => Promise<boolean>): (() => void) => {
  let allowed: string | undefined;
  const onHashChange = (): void => {
    const asked = window.location.hash;
    const next = parseHash(asked);
    const shown = route.get();
    const left = [...unsaved.get().values()].filter(({ pages }) => !pages.includes(next.segments[0] ?? ''));
    const what = left.map((one) => one.what);
    if (what.length === 0 || asked === allowed || isSamePage(next, shown)) {
      allowed = undefined;
      route.set(next);
      return;
    }
    // The browser has already changed the address: restore it until the user has decided.
    window.history.pushState(null, '', addressOf(shown));
    void mayLeave(what).then((yes) => {
      if (!yes) return;
      allowed = asked;
      window.location.hash = asked;
    });
  };
  const onClose = (event: BeforeUnloadEvent): void => {
    if (unsaved.get().size > 0) event.preventDefault();
  };
  window.addEventListener('hashchange', onHashChange);
  window.addEventListener('beforeunload', onClose);
  return () => {
    window.removeEventListener('hashchange', onHashChange);
    window.removeEventListener('beforeunload', onClose);
  };
};

const isSamePage = (one: Route, other: Route): boolean => one.segments[0] === other.segments[0];

const addressOf = ({ path, query }: Route): string => `#${path}${query.size > 0 ? `?${query}` : ''}`;
