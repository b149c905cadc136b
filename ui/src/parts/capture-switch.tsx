import { useId, useState } from 'react';
import { wordError } from '../api/api-error.ts';
import { type CaptureState, switchCapture } from '../api/capture.ts';
import { bytes } from '../format/bytes.ts';
import { count } from '../format/count.ts';
import { Button } from './button.tsx';
import './capture-switch.css';
import { toast } from '../shell/toast.ts';
import { Dialog } from './dialog.tsx';
import { Notice } from './notice.tsx';

/** Switches the recording of requests, after saying what is recorded and how much of it. */
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
      toast(on ? 'Requests are no longer recorded.' : 'Requests are recorded from now on.');
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
          title={on ? 'Requests are being recorded' : 'Record requests'}
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
              A recorded request can be opened: its body before and after each stage, both sides' streams, and a replay.
              That includes what was said; keys are masked.
            </p>
            <ul className="soft">
              <li>
                The last {count(most)} are kept, each up to {bytes(mostBytes)}; what is longer is cut, and says so.
              </li>
              <li>In memory alone: nothing is written to disk, and a restart forgets them and switches this off.</li>
              <li>
                A client can have one request recorded by sending the header <code>x-switchyard-capture: 1</code>.
              </li>
              <li>
                Now kept: {count(kept)}, {bytes(size)}.
              </li>
            </ul>
          </div>
          {error && <Notice kind="failed">{error}</Notice>}
        </Dialog>
      )}
    </>
  );
};
