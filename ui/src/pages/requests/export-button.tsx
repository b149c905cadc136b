import { useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { exportHistory } from '../../api/requests/history.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Dialog } from '../../parts/layout/dialog.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { saveText } from '../../parts/text/save-text.ts';
import { givenIn, type RequestFilter } from './request-filter.ts';

/** Downloads what the filter finds on disk. */
export const ExportButton = ({ filter }: { readonly filter: RequestFilter }) => {
  const [isOpen, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  const download = async (format: 'jsonl' | 'har'): Promise<void> => {
    setBusy(true);
    setProblem(undefined);
    try {
      saveText(`requests.${format}`, [await exportHistory(givenIn(filter), format)]);
      setOpen(false);
    } catch (error) {
      setProblem(wordError(error));
    }
    setBusy(false);
  };
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
              <Button busy={busy} onClick={() => void download('jsonl')}>
                Export JSONL
              </Button>
              <Button busy={busy} onClick={() => void download('har')}>
                Export HAR
              </Button>
            </>
          }
        >
          <p>
            All that the filters find on disk, 100,000 at most: a line of JSON each, or an HTTP Archive, with headers
            and bodies of those that are captured.
          </p>
          {problem !== undefined && <Notice kind="failed">{problem}</Notice>}
        </Dialog>
      )}
    </>
  );
};
