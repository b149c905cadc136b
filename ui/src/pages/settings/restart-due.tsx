import { useForm } from '../../config/fields/form.ts';
import { checked } from '../../config/findings.ts';
import { Button } from '../../parts/controls/button.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { useStore } from '../../state/store.ts';

/** Names saved settings that take effect only after a restart. */
export const RestartDue = ({ onGo }: { readonly onGo?: () => void }) => {
  const { saved } = useForm();
  const { of, restart } = useStore(checked);
  if (of !== saved || restart.length === 0) return null;
  return (
    <Notice
      kind="warn"
      title={`Restart required: ${restart.join(', ')}`}
      actions={onGo && <Button onClick={onGo}>Go to restart</Button>}
    >
      Saved, but in effect only after a restart. Active streams are not interrupted.
    </Notice>
  );
};
