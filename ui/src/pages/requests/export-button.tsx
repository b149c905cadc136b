import { useState } from 'react';
import { exportHistory } from '../../api/requests/history.ts';
import { useAttempt } from '../../api/use-attempt.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Dialog } from '../../parts/layout/dialog.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { saveText } from '../../parts/text/save-text.ts';
import { givenIn, type RequestFilter } from './request-filter.ts';

/** Downloads what the filter finds on disk. */
export const ExportButton = ({ filter }: { readonly filter: RequestFilter }) => {
  const [isOpen, setOpen] = useState(false);
  const { busy, error, run } = useAttempt();
  const download = (format: 'jsonl' | 'har'): void =>
    run(async () => {
      saveText(`requests.${format}`, [await exportHistory(givenIn(filter), format)]);
      setOpen(false);
    });
  return (
    <>
      <Button look="quiet" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Export
      </Button>
      {isOpen && (
        <Dialog
          title="Export these requests"
          onClose={() => setOpen(false)}
          actions={
            <>
              <Button busy={busy} onClick={() => download('jsonl')}>
                Export JSONL
              </Button>
              <Button busy={busy} onClick={() => download('har')}>
                Export HAR
              </Button>
            </>
          }
        >
          <p>
            All that the filters find on disk, 100,000 at most: a line of JSON each, or an HTTP Archive, with headers
            and bodies of those that are captured.
          </p>
          {error !== undefined && <Notice kind="failed">{error}</Notice>}
        </Dialog>
      )}
    </>
  );
};
