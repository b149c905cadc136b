import { Finder } from '../../parts/controls/finder.tsx';
import { Dialog } from '../../parts/layout/dialog.tsx';
import { typedCommand, useCommands } from './commands.ts';

/** Finds pages, settings, actions, models, clients, sessions and requests by a few letters. */
export const Palette = ({ onClose }: { readonly onClose: () => void }) => (
  <Dialog title="Go to" onClose={onClose}>
    <Finder
      label="Page, setting, action, model, client, session or request"
      choices={useCommands()}
      typed={typedCommand}
      onChoose={({ run }) => {
        onClose();
        run();
      }}
    />
  </Dialog>
);
