import { useState } from 'react';
import { destinationsOf } from '../../config/destinations.ts';
import { useForm } from '../../config/fields/form.ts';
import { removeProvider, usesOf } from '../../config/remove-provider.ts';
import { byDefault, routeOf } from '../../config/rules.ts';
import { Button } from '../../parts/controls/button.tsx';
import { ComboField } from '../../parts/controls/combo-field.tsx';
import { Dialog } from '../../parts/layout/dialog.tsx';

/** Asks where the routes of a provider go that is to be removed. */
export const RemoveProviderDialog = ({
  at,
  onRemove,
  onClose,
}: {
  readonly at: number;
  /** Gets the destination; empty: the routes are removed, too. */
  readonly onRemove: (to: string) => void;
  readonly onClose: () => void;
}) => {
  const { config } = useForm();
  const name = config.Providers?.[at]?.name ?? '';
  const left = destinationsOf(removeProvider(config, at, '')).filter(({ value }) => !value.endsWith(','));
  const usual = routeOf(config, byDefault);
  const [to, setTo] = useState(() => (left.find(({ value }) => value === usual) ?? left[0])?.value ?? '');
  const isKnown = to === '' || left.some(({ value }) => value === to);
  return (
    <Dialog
      title={`Remove ${name}?`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" disabled={!isKnown} onClick={() => onRemove(to)}>
            {to === '' ? 'Remove it and its routes' : 'Remove and move routes'}
          </Button>
        </>
      }
    >
      <div className="stack">
        <div>
          <p>It is used by:</p>
          <ul aria-label={`Uses of ${name}`}>
            {usesOf(config, name).map((use) => (
              <li key={use}>{use}</li>
            ))}
          </ul>
        </div>
        <ComboField
          label="Move its routes to"
          hint="Empty: its routes are removed. Nothing is saved yet; Discard brings all of it back."
          error={isKnown ? undefined : 'No other provider or pool has this destination.'}
          value={to}
          onChange={setTo}
          options={left}
        />
      </div>
    </Dialog>
  );
};
