import { useId, useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { type CaptureState, switchCapture } from '../../api/requests/capture.ts';
import { bytes } from '../../format/bytes.ts';
import { count } from '../../format/count.ts';
import { Button } from './button.tsx';
import './capture-switch.css';
import { toast } from '../../shell/toast.ts';
import { Dialog } from '../layout/dialog.tsx';
import { Notice } from '../layout/notice.tsx';

/** Turns recording on or off, in a dialog that explains it. */
export const CaptureSwitch = ({
  state,
  onChange,
}: {
  readonly state: CaptureState | undefined;
  readonly onChange: () => void;
}) => {
  const [isOpen, setOpen] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const id = useId();
  if (!state) return null;
  const { on, kept, most, mostBytes, bytes: size } = state;
  const flip = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await switchCapture(!on);
      toast(on ? 'Recording stopped.' : 'Recording started.');
      onChange();
      setOpen(false);
    } catch (failed) {
      setError(wordError(failed));
    }
    setBusy(false);
  };
  return (
    <>
      <Button
        icon="record"
        className={on ? 'capture-on' : undefined}
        onClick={() => setOpen(true)}
        aria-haspopup="dialog"
      >
        {on ? 'Recording requests' : 'Record requests'}
      </Button>
      {isOpen && (
        <Dialog
          title={on ? 'Recording is on' : 'Record requests'}
          onClose={() => setOpen(false)}
          actions={
            <>
              <Button onClick={() => setOpen(false)}>Close</Button>
              <Button look="primary" busy={busy} onClick={() => void flip()}>
                {on ? 'Stop recording' : 'Start recording'}
              </Button>
            </>
          }
        >
          <div className="stack-tight" id={id}>
            <p>
              Recorded requests can be inspected: the body before and after each stage, both streams, and a replay.
              Recordings contain prompts and responses; keys are masked.
            </p>
            <ul className="soft">
              <li>
                At most {count(most)} requests are kept, up to {bytes(mostBytes)} each; longer ones are truncated.
              </li>
              <li>
                Recordings are kept in memory only: a restart deletes them. Recording goes on until it is stopped.
              </li>
              <li>
                Requests that fail are recorded in part without being asked, and so are some that lose fields, unless{' '}
                <code>HISTORY.captureFailed</code> is off.
              </li>
              <li>
                To record a single request, send it with the header <code>x-junctor-capture: 1</code>.
              </li>
              <li>
                Currently kept: {count(kept)}, {bytes(size)}.
              </li>
            </ul>
          </div>
          {error && <Notice kind="failed">{error}</Notice>}
        </Dialog>
      )}
    </>
  );
};
