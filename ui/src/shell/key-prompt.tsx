import { useState } from 'react';
import { giveKey, keyState } from '../api/key.ts';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { SecretField } from '../parts/field.tsx';
import { useStore } from '../state/store.ts';

/** Asks for the service's key when the service does. */
export const KeyPrompt = () => {
  const { wanted, refused } = useStore(keyState);
  const [typed, setTyped] = useState('');
  if (!wanted) return null;
  const give = (): void => {
    if (typed === '') return;
    giveKey(typed.trim());
    setTyped('');
  };
  return (
    <Dialog title="This gateway asks for its key" closable={false} onClose={() => undefined}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          give();
        }}
      >
        <SecretField
          label="Key"
          hint="The APIKEY of its configuration. This tab keeps it until it is closed, and sends it to this gateway alone."
          error={refused ? 'The gateway did not take that key.' : undefined}
          value={typed}
          onChange={setTyped}
        />
        <div className="row">
          <Button type="submit" look="primary" disabled={typed.trim() === ''}>
            Open
          </Button>
        </div>
      </form>
    </Dialog>
  );
};
