import { useState } from 'react';
import { Button } from '../../../parts/controls/button.tsx';
import { TextField } from '../../../parts/controls/field.tsx';
import { Dialog } from '../../../parts/layout/dialog.tsx';

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
    <Dialog title={title} onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (name === '' || problem !== undefined) return;
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
        <div className="row row-end">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={name === '' || problem !== undefined}>
            Continue
          </Button>
        </div>
      </form>
    </Dialog>
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
