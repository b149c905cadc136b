import { Fragment } from 'react';
import { Dialog } from '../../parts/layout/dialog.tsx';
import { shortcuts } from '../../state/shortcuts.ts';
import { useStore } from '../../state/store.ts';
import './shortcuts-dialog.css';

/** Lists the keyboard shortcuts of the current page. */
export const ShortcutsDialog = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose}>
    <dl className="stack-tight shortcuts">
      {useStore(shortcuts).map(({ keys, does }) => (
        <div key={keys}>
          <dt>
            {keys.split(' ').map((key, index) => (
              <Fragment key={key}>
                {index > 0 && ' then '}
                <kbd>{key}</kbd>
              </Fragment>
            ))}
          </dt>
          <dd>{does}</dd>
        </div>
      ))}
    </dl>
    <p className="soft small">In tables, arrow keys move between rows and Enter opens one. Escape closes dialogs.</p>
  </Dialog>
);
