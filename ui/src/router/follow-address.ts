import { unsaved } from '../state/unsaved.ts';
import { parseHash, route } from './route.ts';
import { arrive, rememberScroll } from './scroll.ts';

/** Follows the address. Closing the tab with unsaved changes makes the browser ask. Returns a function that stops it. */
export const followAddress = (): (() => void) => {
  const onHashChange = (): void => {
    arrive();
    route.set(parseHash(window.location.hash));
  };
  const onClose = (event: BeforeUnloadEvent): void => {
    if (unsaved.get().size > 0) event.preventDefault();
  };
  arrive();
  window.addEventListener('hashchange', onHashChange);
  window.addEventListener('beforeunload', onClose);
  window.addEventListener('scroll', rememberScroll, { passive: true });
  return () => {
    window.removeEventListener('hashchange', onHashChange);
    window.removeEventListener('beforeunload', onClose);
    window.removeEventListener('scroll', rememberScroll);
  };
};
