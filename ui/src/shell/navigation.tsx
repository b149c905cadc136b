import { lazy, Suspense, useEffect, useState } from 'react';
import { pages } from '../pages.ts';
import { Button, IconButton } from '../parts/controls/button.tsx';
import { Icon } from '../parts/controls/icon.tsx';
import { Dialog } from '../parts/layout/dialog.tsx';
import { href, navigate, route } from '../router/route.ts';
import { kept } from '../state/kept.ts';
import { useStore } from '../state/store.ts';
import { unsaved } from '../state/unsaved.ts';
import './navigation.css';
import { useShortcut } from './dialogs/shortcuts.ts';
import { ShortcutsDialog } from './dialogs/shortcuts-dialog.tsx';
import { Mark } from './mark.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

const Palette = lazy(async () => ({ default: (await import('./dialogs/palette.tsx')).Palette }));

const groups = ['Monitor', 'Configure', 'Use'] as const;

/** The navigation: at the left, or behind a button on narrow pages. */
export const Navigation = ({ current }: { readonly current: string | undefined }) => {
  const [isOpen, setOpen] = useState(false);
  const [showsKeys, setShowsKeys] = useState(false);
  const [showsPalette, setShowsPalette] = useState(false);
  useShortcut('Ctrl+k', 'Open the command palette', () => setShowsPalette(true));
  useShortcut('?', 'Show keyboard shortcuts', () => setShowsKeys(true));
  const keysButton = (
    <Button look="quiet" icon="keyboard" onClick={() => setShowsKeys(true)}>
      Shortcuts
    </Button>
  );
  return (
    <header className="side">
      <a className="brand" href={href('/')}>
        <Mark />
        Junctor
      </a>
      <IconButton className="side-menu" icon="menu" label="Menu" aria-expanded={isOpen} onClick={() => setOpen(true)} />
      <nav className="side-links" aria-label="Pages">
        <Links current={current} />
      </nav>
      <div className="side-foot">
        <UnsavedLinks current={current} />
        <Button look="quiet" icon="search" onClick={() => setShowsPalette(true)}>
          Go to… <kbd>Ctrl+K</kbd>
        </Button>
        {keysButton}
        <ThemeSwitch />
      </div>
      {isOpen && (
        <Dialog title="Pages" onClose={() => setOpen(false)}>
          {/* biome-ignore lint/a11y/useKeyWithClickEvents: the links inside take keys */}
          <nav aria-label="Pages" onClick={() => setOpen(false)}>
            <Links current={current} />
            <UnsavedLinks current={current} />
          </nav>
          <ThemeSwitch />
        </Dialog>
      )}
      {showsPalette && (
        <Suspense fallback={null}>
          <Palette onClose={() => setShowsPalette(false)} />
        </Suspense>
      )}
      {showsKeys && <ShortcutsDialog onClose={() => setShowsKeys(false)} />}
      {pages.map(
        ({ name, title, link }) => link && <PageKeys key={name} name={name} title={title} letter={link.key} />,
      )}
    </header>
  );
};

const Links = ({ current }: { readonly current: string | undefined }) =>
  groups.map((group) => (
    <section key={group} className="link-group" aria-label={group}>
      <p className="link-group-title" aria-hidden="true">
        {group}
      </p>
      <ul>
        {pages.map(
          ({ name, title, link }) =>
            link?.group === group && (
              <li key={name}>
                <a className="side-link" href={href(`/${name}`)} aria-current={name === current ? 'page' : undefined}>
                  <Icon name={link.icon} />
                  {title}
                </a>
                {name === '' && <LastRequest isHere={current === 'requests'} />}
              </li>
            ),
        )}
      </ul>
    </section>
  ));

const lastPlace = kept('session', 'request.last');

/** The request that was opened last in this tab. */
const LastRequest = ({ isHere }: { readonly isHere: boolean }) => {
  const { path } = useStore(route);
  const [last, setLast] = useState(() => lastPlace.read());
  useEffect(() => {
    if (!path.startsWith('/requests/')) return;
    lastPlace.write(`#${path}`);
    setLast(`#${path}`);
  }, [path]);
  if (last === undefined) return null;
  return (
    <a className="side-link side-sub-link" href={last} aria-current={isHere ? 'page' : undefined}>
      Last request
    </a>
  );
};

/** Where there are unsaved changes, other than on this page. */
const UnsavedLinks = ({ current }: { readonly current: string | undefined }) =>
  [...useStore(unsaved)].map(
    ([what, { address, pages: shownOn }]) =>
      !shownOn.includes(current ?? '') && (
        <a key={what} className="side-unsaved" href={address}>
          Unsaved changes to {what}
        </a>
      ),
  );

const PageKeys = ({
  name,
  title,
  letter,
}: {
  readonly name: string;
  readonly title: string;
  readonly letter: string;
}) => {
  useShortcut(`g ${letter}`, `Go to ${title}`, () => navigate(href(`/${name}`)));
  return null;
};
