import { useState } from 'react';
import { exportCapture } from '../../api/requests/capture.ts';
import { useAttempt } from '../../api/use-attempt.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Dialog } from '../../parts/layout/dialog.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { saveText } from '../../parts/text/save-text.ts';

/** Downloads the capture of a request as a file that `junctor replay` plays. */
export const ExportCapture = ({ id }: { readonly id: string }) => {
  const [isOpen, setOpen] = useState(false);
  const { busy, error, run } = useAttempt();
  const download = (redact: boolean): void =>
    run(async () => {
      saveText(`junctor-${id}${redact ? '-redacted' : ''}.json`, [await exportCapture(id, redact)]);
      setOpen(false);
    });
  return (
    <>
      <Button look="plain" aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Export capture
      </Button>
      {isOpen && (
        <Dialog
          title="Export this capture"
          onClose={() => setOpen(false)}
          actions={
            <>
              <Button busy={busy} onClick={() => download(true)}>
                Without texts
              </Button>
              <Button busy={busy} onClick={() => download(false)}>
                With texts
              </Button>
            </>
          }
        >
          <p>
            A file for <code>junctor replay</code>, without keys. Without texts, letters and digits of prompts and
            answers are replaced; names of models and tools stay.
          </p>
          {error !== undefined && <Notice kind="failed">{error}</Notice>}
        </Dialog>
      )}
    </>
  );
};
