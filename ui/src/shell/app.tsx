import { useEffect, useRef } from 'react';
import { followAddress } from '../router/follow-address.ts';
import { route } from '../router/route.ts';
import { restoreScroll } from '../router/scroll.ts';
import { useStore } from '../state/store.ts';
import './app.css';
import { listenForKeys } from '../state/shortcuts.ts';
import { ConnectionBar } from './connection-bar.tsx';
import { ConfirmDialog } from './dialogs/confirm-dialog.tsx';
import { KeyPrompt } from './key-prompt.tsx';
import { Navigation } from './navigation.tsx';
import { pageAt } from './page-at.ts';
import { PageBoundary } from './page-boundary.tsx';
import { PageView } from './page-view.tsx';
import { preloadPages } from './preload.ts';
import { Toasts } from './toasts.tsx';

/** The frame around every page. */
export const App = () => {
  const shown = useStore(route);
  const main = useRef<HTMLElement>(null);
  const page = pageAt(shown);
  const title = page?.title ?? 'Page not found';
  const place = page?.isOne ? page.name : shown.path;
  const before = useRef(place);

  useEffect(followAddress, []);
  useEffect(listenForKeys, []);
  useEffect(preloadPages, []);
  useEffect(() => {
    document.title = `${title} · Junctor`;
    // Not on the first page, where the browser sets the focus.
    if (before.current === place) return undefined;
    before.current = place;
    main.current?.focus({ preventScroll: true });
    return restoreScroll();
  }, [title, place]);

  return (
    <div className="app">
      {/* biome-ignore lint/a11y/useValidAnchor: a skip link is a link, though the address stays */}
      <a
        className="skip"
        href="#main"
        onClick={(event) => {
          // The address is the page's; only the focus moves.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to main content
      </a>
      <Navigation current={page?.name} />
      <main ref={main} id="main" className="main" tabIndex={-1} aria-label={title}>
        <ConnectionBar />
        <PageBoundary key={place}>
          <PageView page={page} route={shown} />
        </PageBoundary>
      </main>
      <Toasts />
      <ConfirmDialog />
      <KeyPrompt />
    </div>
  );
};
