import { useState } from 'react';
import { wordError } from '../../api/api-error.ts';
import { addClient } from '../../api/clients.ts';
import { reloadChangedConfig } from '../../api/config/config-store.ts';
import { Button, CopyButton } from '../../parts/controls/button.tsx';
import { CheckField, TextField } from '../../parts/controls/field.tsx';
import { Dialog, FormDialog } from '../../parts/layout/dialog.tsx';
import { Notice } from '../../parts/layout/notice.tsx';
import { membersOf, noTerms, type Terms, TermsFields } from './client-terms.tsx';
import { ToolSetup } from './tool-setup.tsx';

/** The client whose key is for the programs that call without one so far. */
const existingTools = 'existing-tools';

interface AddClientProps {
  /** Requests need no key yet, and do once there is a client. */
  readonly endsKeylessUse: boolean;
  readonly onAdded: () => void;
  readonly onClose: () => void;
}

interface ShownKey {
  readonly name: string;
  readonly key: string;
}

/** Adds a client by its name and budget, and shows its key, which the gateway doesn't keep, in what the tools need. */
export const AddClient = ({ endsKeylessUse, onAdded, onClose }: AddClientProps) => {
  // What is asked stays while the list behind the dialog is read again.
  const [isFirst] = useState(endsKeylessUse);
  const [typedName, setName] = useState('');
  const [forTools, setForTools] = useState(isFirst);
  const [keys, setKeys] = useState<readonly ShownKey[]>([]);
  const [error, setError] = useState<string>();
  const [terms, setTerms] = useState<Terms>(noTerms);
  const name = typedName.trim();
  const add = async (): Promise<void> => {
    const { key } = await addClient({ name, ...membersOf(terms) });
    const made = [{ name, key }];
    // What fails from here on is said beside the key, which is shown in any case.
    try {
      if (forTools && name !== existingTools)
        made.push({ name: existingTools, key: (await addClient({ name: existingTools })).key });
    } catch (caught) {
      setError(wordError(caught));
    }
    setKeys(made);
    onAdded();
    await reloadChangedConfig();
  };
  const [own] = keys;
  if (own) {
    return (
      <Dialog
        wide
        title={`Key of ${keys.map((one) => one.name).join(' and of ')}`}
        closable={false}
        onClose={onClose}
        actions={
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        }
      >
        {error !== undefined && <Notice kind="failed">{error}</Notice>}
        <Notice kind="warn">Copy it now: the gateway keeps only its digest and can’t show it again.</Notice>
        {keys.map((one) => (
          <div key={one.name} className="stack-tight">
            <TextField
              label={one.name === existingTools ? 'Key of existing-tools' : 'Key'}
              readOnly
              className="mono"
              value={one.key}
              onChange={() => undefined}
            />
            <div className="row">
              <CopyButton
                text={one.key}
                label={one.name === existingTools ? 'Copy the key of existing-tools' : 'Copy the key'}
              />
            </div>
          </div>
        ))}
        <ToolSetup ownKey={own.key} />
      </Dialog>
    );
  }
  return (
    <FormDialog title="Add a client" yes="Add" ready={name !== ''} onClose={onClose} run={add}>
      {isFirst && (
        <>
          <Notice kind="warn">
            Requests without a key will be refused: programs that use this gateway now get 401 until they send a key.
          </Notice>
          <CheckField
            label="Also create a key for them"
            hint={`A second client, ${existingTools}, without limits.`}
            checked={forTools}
            onChange={setForTools}
          />
        </>
      )}
      <TextField
        label="Name"
        hint="Letters, digits, dots, hyphens and underscores."
        value={typedName}
        onChange={setName}
      />
      <TermsFields terms={terms} onChange={setTerms} />
    </FormDialog>
  );
};
