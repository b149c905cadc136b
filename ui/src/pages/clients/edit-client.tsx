import { useState } from 'react';
import { changeClient } from '../../api/clients.ts';
import { reloadChangedConfig } from '../../api/config/config-store.ts';
import type { JsonObject } from '../../api/json.ts';
import { FormDialog } from '../../parts/layout/dialog.tsx';
import { toast } from '../../state/toast.ts';
import { membersOf, TermsFields, termMembers, termsOf } from './client-terms.tsx';

/** Changes what a client may use. Its key stays. */
export const EditClient = ({
  client,
  onChanged,
  onClose,
}: {
  /** Its element of `CLIENTS`. */
  readonly client: JsonObject & { readonly name: string };
  readonly onChanged: () => void;
  readonly onClose: () => void;
}) => {
  const [terms, setTerms] = useState(() => termsOf(client));
  const save = async (): Promise<void> => {
    const removed = Object.fromEntries(termMembers.map((member) => [member, null]));
    await changeClient(client.name, { ...removed, ...membersOf(terms) });
    toast(`${client.name} was changed.`);
    onChanged();
    onClose();
    await reloadChangedConfig();
  };
  return (
    <FormDialog title={`Edit ${client.name}`} yes="Save" ready onClose={onClose} run={save}>
      <TermsFields terms={terms} onChange={setTerms} />
    </FormDialog>
  );
};
