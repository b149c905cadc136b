import { useState } from 'react';
import { Button } from '../../parts/controls/button.tsx';
import { TextField } from '../../parts/controls/field.tsx';
import { Dialog } from '../../parts/layout/dialog.tsx';
import { href, navigate } from '../../router/route.ts';

/** Asks for a name and opens the editor. */
export const NewPreset = ({ taken, onClose }: { readonly taken: readonly string[]; readonly onClose: () => void }) => {
  const [name, setName] = useState('');
  const problem = problemOf(name, taken);
  return (
    <Dialog title="New preset" onClose={onClose}>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (name === '' || problem !== undefined) return;
          onClose();
          navigate(href('/routing/presets', name));
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
