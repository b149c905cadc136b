import { useState } from 'react';
import { deleteHistory, type HistoryExtent, readHistoryExtent } from '../../api/requests/history.ts';
import { forgetRecentRequests } from '../../api/requests/use-recent-requests.ts';
import { useLoad } from '../../api/use-load.ts';
import { bytes, counted, dayAndTime } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import { TextField } from '../../parts/controls/field.tsx';
import { FormDialog } from '../../parts/layout/dialog.tsx';
import { LoadedView } from '../../parts/layout/notice.tsx';
import { Panel } from '../../parts/layout/panel.tsx';
import { toast } from '../../state/toast.ts';

/** The history on disk: how much there is, and its deletion. */
export const KeptHistory = () => {
  const extent = useLoad(readHistoryExtent);
  const { data } = extent;
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
      <LoadedView what="the history" of={extent}>
        {(kept) => (
          <p>{kept.requests === 0 ? 'No requests are kept.' : `${extentText(kept)}, in ${bytes(kept.bytes)}.`}</p>
        )}
      </LoadedView>
      {asking && data && <DeleteHistory extent={data} onDeleted={extent.reload} onClose={() => setAsking(false)} />}
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
  const run = async (): Promise<void> => {
    const { message } = await deleteHistory();
    forgetRecentRequests();
    toast(message);
    onDeleted();
    onClose();
  };
  return (
    <FormDialog
      title="Delete the history?"
      yes="Delete"
      look="danger"
      ready={typed.trim().toLowerCase() === word}
      onClose={onClose}
      run={run}
    >
      <p>
        {extentText(extent)} and their sessions are deleted from disk, with the list of recent requests and all
        recordings. This can’t be undone. Usage and log files stay.
      </p>
      <TextField label={`Type “${word}” to confirm`} value={typed} onChange={setTyped} />
    </FormDialog>
  );
};
