import { useCallback, useState } from 'react';
import { type Backup, listBackups, readBackup, restoreBackup } from '../../api/config/config.ts';
import { reloadChangedConfig } from '../../api/config/config-store.ts';
import { useLoad } from '../../api/use-load.ts';
import { useForm } from '../../config/fields/form.ts';
import { hideTyped } from '../../config/fields/hide-typed.ts';
import { bytes, dayAndTime } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import { DiffView } from '../../parts/diff/diff-view.tsx';
import { FormDialog } from '../../parts/layout/dialog.tsx';
import { Empty, LoadedView, Notice } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { DataTable } from '../../parts/table/data-table.tsx';
import { toast } from '../../state/toast.ts';

/** Earlier configurations, with preview and restore. */
export const Backups = () => {
  const { saved } = useForm();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each saved configuration makes a backup of the one before
  const load = useCallback((signal: AbortSignal) => listBackups(signal), [saved]);
  const backups = useLoad(load);
  const [open, setOpen] = useState<Backup>();
  return (
    <Panel flush title="Backups" about="The last three configurations, saved before each change.">
      <LoadedView what="the backups" of={backups}>
        {(list) => (
          <DataTable
            label="Backups"
            rows={list}
            rowKey={({ name }) => name}
            empty={<Empty title="No backups yet">The first backup is made when the configuration changes.</Empty>}
            columns={[
              { name: 'replaced', title: 'Replaced', cell: ({ replacedAt }) => dayAndTime(replacedAt) },
              { name: 'name', title: 'File', cell: ({ name }) => <span className="mono">{name}</span> },
              { name: 'size', title: 'Size', numeric: true, cell: ({ size }) => bytes(size) },
              {
                name: 'actions',
                title: 'Actions',
                cell: (backup) => (
                  <Button onClick={() => setOpen(backup)}>
                    Preview<span className="unseen"> the backup of {dayAndTime(backup.replacedAt)}</span>
                  </Button>
                ),
              },
            ]}
          />
        )}
      </LoadedView>
      {open && <Preview backup={open} onClose={() => setOpen(undefined)} />}
    </Panel>
  );
};

const Preview = ({ backup, onClose }: { readonly backup: Backup; readonly onClose: () => void }) => {
  const { saved, dirty } = useForm();
  const load = useCallback((signal: AbortSignal) => readBackup(backup.name, signal), [backup.name]);
  const contents = useLoad(load);
  const restore = async (): Promise<void> => {
    const { message } = await restoreBackup(backup.name);
    await reloadChangedConfig();
    toast(message);
    onClose();
  };
  return (
    <FormDialog
      wide
      title={`Backup of ${dayAndTime(backup.replacedAt)}`}
      yes="Restore"
      no="Close"
      ready={contents.data !== undefined}
      onClose={onClose}
      run={restore}
    >
      <p className="soft">
        Changes that restoring this backup would make. The current configuration is backed up first.
      </p>
      {dirty && (
        <Notice kind="warn">You have unsaved changes. They stay as a draft, applied on top of the backup.</Notice>
      )}
      <LoadedView what="the backup" of={contents}>
        {(data) => <DiffView label="config.json" before={hideTyped(saved)} after={hideTyped(data)} />}
      </LoadedView>
    </FormDialog>
  );
};
