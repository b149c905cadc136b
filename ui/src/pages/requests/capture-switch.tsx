import { useState } from 'react';
import { type CaptureState, switchCapture } from '../../api/requests/capture.ts';
import { clearRequests } from '../../api/requests/requests.ts';
import { bytes, count } from '../../format/figures.ts';
import { Button } from '../../parts/controls/button.tsx';
import './requests.css';
import { useAttempt } from '../../api/use-attempt.ts';
import { Dialog } from '../../parts/layout/dialog.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { toast } from '../../state/toast.ts';

/** Turns capturing on or off, in a dialog that explains it. */
export const CaptureSwitch = ({
  state,
  onChange,
}: {
  readonly state: CaptureState | undefined;
  readonly onChange: () => void;
}) => {
  const [isOpen, setOpen] = useState(false);
  const { busy, error, run } = useAttempt();
  if (!state) return null;
  const { on, kept, most, mostBytes, bytes: size } = state;
  const flip = async (): Promise<void> => {
    await switchCapture(!on);
    toast(on ? 'Capturing stopped.' : 'Capturing started.');
    onChange();
    setOpen(false);
  };
  const forget = async (): Promise<void> => {
    await clearRequests();
    toast('The captures are removed.');
    onChange();
  };
  return (
    <>
      <Button
        icon="record"
        className={on ? 'capture-on' : undefined}
        onClick={() => setOpen(true)}
        aria-haspopup="dialog"
      >
        {on ? 'Capturing' : 'Capture'}
      </Button>
      {isOpen && (
        <Dialog
          title={on ? 'Requests are captured' : 'Capture requests'}
          onClose={() => setOpen(false)}
          actions={
            <>
              <Button look="quiet" disabled={kept === 0} busy={busy} onClick={() => run(forget)}>
                Remove all captures
              </Button>
              <Button onClick={() => setOpen(false)}>Close</Button>
              <Button look="primary" busy={busy} onClick={() => run(flip)}>
                {on ? 'Stop capturing' : 'Start capturing'}
              </Button>
            </>
          }
        >
          <div className="stack-tight">
            <p>
              Captured requests can be read in full: the body before and after each stage, both streams, and a replay.
              Captures contain prompts and responses; keys are masked.
            </p>
            <ul className="soft">
              <li>
                At most {count(most)} captures are kept, up to {bytes(mostBytes)} each; longer ones are truncated.
              </li>
              <li>Captures are kept in memory only: a restart deletes them. Capturing goes on until it is stopped.</li>
              <li>
                Requests that fail are captured in part without being asked, and so are some that lose fields, unless{' '}
                <code>HISTORY.captureFailed</code> is off.
              </li>
              <li>
                To capture a single request, send it with the header <code>x-junctor-capture: 1</code>.
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
