import { lazy, Suspense, useState } from 'react';
import { pageGroups, pages } from '../pages.ts';
import { Button, Icon, IconButton } from '../parts/controls/button.tsx';
import { Dialog } from '../parts/layout/dialog.tsx';
import { href, navigate } from '../router/route.ts';
import { useStore } from '../state/store.ts';
import { unsaved } from '../state/unsaved.ts';
import './navigation.css';
import { useShortcut } from '../state/shortcuts.ts';
import { ShortcutsDialog } from './dialogs/shortcuts-dialog.tsx';
import { Mark } from './mark.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

const Palette = lazy(async () => ({ default: (await import('./dialogs/palette.tsx')).Palette }));

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
      <a className="brand" href={href('/requests')}>
        <Mark />
        Junctor
      </a>
      <IconButton className="side-menu" icon="menu" label="Menu" aria-expanded={isOpen} onClick={() => setOpen(true)} />
      <nav className="side-links" aria-label="Pages">
        <Links current={current} />
      </nav>
      <div className="stack-tight side-foot">
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

/** The pages in their groups: what happens, what decides it, and what goes with both. */
const Links = ({ current }: { readonly current: string | undefined }) =>
  pageGroups.map((group) => (
    <ul key={group.join()} className="bare link-group">
      {pages.map(
        ({ name, title, link }) =>
          link &&
          group.includes(name) && (
            <li key={name}>
              <a
                className="side-link"
                href={href(`/${name}`)}
                aria-current={name === current?.split('/', 1)[0] ? 'page' : undefined}
              >
                <Icon name={link.icon} />
                {title}
              </a>
            </li>
          ),
      )}
    </ul>
  ));

/** Pages with unsaved changes, other than this one. */
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
