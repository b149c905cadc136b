import { Button } from '../../parts/controls/button.tsx';
import { Dialog } from '../../parts/layout/dialog.tsx';
import { openQuestion } from '../../state/confirm.ts';
import { useStore } from '../../state/store.ts';

/** Shows the open question. */
export const ConfirmDialog = () => {
  const question = useStore(openQuestion);
  if (!question) return null;
  const { title, text, yes, no = 'Cancel', danger = false, answer } = question;
  return (
    <Dialog
      key={title}
      title={title}
      onClose={() => answer(false)}
      actions={
        <>
          <Button onClick={() => answer(false)}>{no}</Button>
          <Button look={danger ? 'danger' : 'primary'} onClick={() => answer(true)}>
            {yes}
          </Button>
        </>
      }
    >
      <p>{text}</p>
    </Dialog>
  );
};
