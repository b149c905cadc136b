import { wordError } from '../../api/api-error.ts';
import { listBackups, restoreBackup } from '../../api/config/config.ts';
import { reloadChangedConfig } from '../../api/config/config-store.ts';
import { dismissToast, toast } from '../../state/toast.ts';

/** The message that offers it: only the last change can be undone. */
let offered = 0;

/** Says that the configuration was saved, with a button that restores the backup made before. */
export const offerUndo = (message: string): void => {
  // The newest now; a later change makes another one.
  const backup = listBackups().then(([newest]) => newest?.name);
  backup.catch(() => undefined);
  dismissToast(offered);
  offered = toast(message, 'done', {
    label: 'Undo',
    run: async () => {
      try {
        const name = await backup;
        if (name === undefined) return toast('There is no backup to go back to.', 'failed');
        await restoreBackup(name);
        await reloadChangedConfig();
        return toast('The configuration is as it was before.');
      } catch (error) {
        return toast(`Not undone: ${wordError(error)}`, 'failed');
      }
    },
  });
};
