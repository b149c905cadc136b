import { checked } from '../../config/findings.ts';
import { useForm } from '../../config/form.ts';
import { Button } from '../../parts/button.tsx';
import { Notice } from '../../parts/notice.tsx';
import { useStore } from '../../state/store.ts';

/** Says what is saved but holds only after a restart. */
export const RestartDue = ({ onGo }: { readonly onGo?: () => void }) => {
  const { saved } = useForm();
  const { of, restart } = useStore(checked);
  if (of !== saved || restart.length === 0) return null;
  return (
    <Notice
      kind="warn"
      title={`Saved, but not yet in effect: ${restart.join(', ')}`}
      actions={onGo && <Button onClick={onGo}>To the restart</Button>}
    >
      A restart applies it. Streams in flight go on to their end.
    </Notice>
  );
};
