import { useState } from 'react';
import { TextField } from '../../../parts/controls/field.tsx';
import { FormDialog } from '../../../parts/layout/dialog.tsx';

/** Asks for the name of a preset. */
export const NewPreset = ({
  title,
  taken,
  onName,
  onClose,
}: {
  readonly title: string;
  readonly taken: readonly string[];
  readonly onName: (name: string) => void;
  readonly onClose: () => void;
}) => {
  const [name, setName] = useState('');
  const problem = problemOf(name, taken);
  return (
    <FormDialog
      title={title}
      yes="Continue"
      ready={name !== '' && problem === undefined}
      onClose={onClose}
      run={async () => {
        onClose();
        onName(name);
      }}
    >
      <TextField
        label="Name"
        hint="Part of its URL: letters, digits, dots, hyphens and underscores."
        error={problem}
        value={name}
        onChange={setName}
      />
    </FormDialog>
  );
};

const problemOf = (name: string, taken: readonly string[]): string | undefined => {
  if (name === '') return undefined;
  if (taken.includes(name)) return 'A preset with this name already exists.';
  if (name.length > 64) return 'A name can have at most 64 characters.';
  return /^[\w-][\w.-]*$/.test(name)
    ? undefined
    : 'Use letters, digits, dots, hyphens and underscores; don’t start with a dot.';
};
