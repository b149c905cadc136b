import { unsaved } from '../state/unsaved.ts';
import { movedAddress } from './moved.ts';
import { parseHash, replaceAddress, route } from './route.ts';
import { arrive, rememberScroll } from './scroll.ts';

/** Shows the page of the address. An old address is replaced by its new one first. */
export const readAddress = (): void => {
  const shown = parseHash(window.location.hash);
  const address = movedAddress(shown);
  if (address === undefined) route.set(shown);
  else replaceAddress(address);
};

/** Follows the address. Closing the tab with unsaved changes makes the browser ask. Returns a function that stops it. */
export const followAddress = (): (() => void) => {
  const onHashChange = (): void => {
    arrive();
    readAddress();
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
