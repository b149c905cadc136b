import { type FormEvent, useId, useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { deleteHistory, type HistoryExtent, readHistoryExtent } from '../../api/requests/history.ts';
import { forgetRecentRequests } from '../../api/requests/use-recent-requests.ts';
import { useLoad } from '../../api/use-load.ts';
import { bytes } from '../../format/bytes.ts';
import { counted } from '../../format/count.ts';
import { dayAndTime } from '../../format/time.ts';
import { Button } from '../../parts/controls/button.tsx';
import { TextField } from '../../parts/controls/field.tsx';
import { Dialog } from '../../parts/layout/dialog.tsx';
import { LoadFailed } from '../../parts/layout/load-failed.tsx';
import { Loading } from '../../parts/layout/loading.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { toast } from '../../shell/toast.ts';

/** The history on disk: how much there is, and its deletion. */
export const KeptHistory = () => {
  const { data, error, reload } = useLoad(readHistoryExtent);
  const [asking, setAsking] = useState(false);
  return (
    <Panel
      title="History"
      about="Summaries of finished requests, kept on disk by the settings of HISTORY."
      actions={
        <Button icon="remove" disabled={!data || data.requests === 0} onClick={() => setAsking(true)}>
          Delete the history
        </Button>
      }
    >
      {error !== undefined && <LoadFailed what="the history" error={error} onRetry={reload} />}
      {!data && error === undefined && <Loading what="history" />}
      {data && <p>{data.requests === 0 ? 'No requests are kept.' : `${extentText(data)}, in ${bytes(data.bytes)}.`}</p>}
      {asking && data && <DeleteHistory extent={data} onDeleted={reload} onClose={() => setAsking(false)} />}
    </Panel>
  );
};

/** `8,500 requests from 20 Nov 2026, 09:30 to 27 Nov 2026, 11:02`. */
const extentText = ({ requests, from, to }: HistoryExtent): string =>
  [
    counted(requests, 'request'),
    ...(from === undefined ? [] : [`from ${dayAndTime(from)}`]),
    ...(to === undefined ? [] : [`to ${dayAndTime(to)}`]),
  ].join(' ');

/** What is typed to confirm. */
const word = 'delete';

interface DeleteHistoryProps {
  readonly extent: HistoryExtent;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

const DeleteHistory = ({ extent, onDeleted, onClose }: DeleteHistoryProps) => {
  const [typed, setTyped] = useState('');
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const form = useId();
  const isConfirmed = typed.trim().toLowerCase() === word;
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (!isConfirmed) return;
    setBusy(true);
    setError(undefined);
    try {
      const { message } = await deleteHistory();
      forgetRecentRequests();
      toast(message);
      onDeleted();
      onClose();
    } catch (caught) {
      setError(wordError(caught));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="Delete the history?"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="danger" type="submit" form={form} busy={busy} disabled={!isConfirmed}>
            Delete
          </Button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={(event) => void submit(event)}>
        {error !== undefined && <Notice kind="failed">{error}</Notice>}
        <p>
          {extentText(extent)} and their sessions are deleted from disk, with the list of recent requests and all
          recordings. This can’t be undone. Usage and log files stay.
        </p>
        <TextField label={`Type “${word}” to confirm`} value={typed} onChange={setTyped} />
      </form>
    </Dialog>
  );
};
