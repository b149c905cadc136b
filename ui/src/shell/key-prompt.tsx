import { useState } from 'react';
import { giveKey, keyState } from '../api/key.ts';
import { Button } from '../parts/controls/button.tsx';
import { SecretField } from '../parts/controls/field.tsx';
import { Dialog } from '../parts/layout/dialog.tsx';
import { useStore } from '../state/store.ts';

/** Asks for the gateway's key when the gateway requires it. */
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
    <Dialog title="This gateway requires a key" closable={false} onClose={() => undefined}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          give();
        }}
      >
        <SecretField
          label="Key"
          hint="The APIKEY in its configuration; without one, the key of a client. It is sent to this gateway only, and forgotten when the page is reloaded."
          error={refused ? 'The gateway rejected this key.' : undefined}
          value={typed}
          onChange={setTyped}
        />
        <div className="row">
          <Button type="submit" look="primary" disabled={typed.trim() === ''}>
            Continue
          </Button>
        </div>
      </form>
    </Dialog>
  );
};
