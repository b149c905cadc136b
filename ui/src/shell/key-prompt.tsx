import { useState } from 'react';
import { clientKeyState, forgoKey, giveKey, type KeyOwner, keyState } from '../api/key.ts';
import { Button } from '../parts/controls/button.tsx';
import { SecretField } from '../parts/controls/field.tsx';
import { Dialog } from '../parts/layout/dialog.tsx';
import { useStore } from '../state/store.ts';

const words: Readonly<Record<KeyOwner, { readonly title: string; readonly hint: string }>> = {
  administrator: {
    title: 'This gateway requires a key',
    hint: 'The APIKEY in its configuration; the key of a client opens the model routes only. It is sent to this gateway only, and forgotten when the page is reloaded.',
  },
  client: {
    title: 'This request needs the key of a client',
    hint: 'The gateway has clients and no APIKEY, so each model request needs the key of one. It is sent with requests to models only, and forgotten when the page is reloaded.',
  },
};

/** Asks for the gateway's key, or a client's, when a call needed it. */
export const KeyPrompt = () => {
  const admin = useStore(keyState);
  const client = useStore(clientKeyState);
  if (admin.wanted) return <Prompt key="administrator" owner="administrator" refused={admin.refused} />;
  return client.wanted ? <Prompt key="client" owner="client" refused={client.refused} /> : null;
};

const Prompt = ({ owner, refused }: { readonly owner: KeyOwner; readonly refused: boolean }) => {
  const [typed, setTyped] = useState('');
  const { title, hint } = words[owner];
  const give = (): void => {
    if (typed === '') return;
    giveKey(owner, typed.trim());
    setTyped('');
  };
  return (
    <Dialog title={title} onClose={() => forgoKey(owner)}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          give();
        }}
      >
        <SecretField
          label="Key"
          hint={hint}
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
