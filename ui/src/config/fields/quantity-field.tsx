import { useState } from 'react';
import type { Json } from '../../api/json.ts';
import { type Quantity, readQuantity, showQuantity } from '../../format/quantity.ts';
import { TextField } from '../../parts/controls/field.tsx';
import { Described } from './described.tsx';

/** A size or a time, in the units that people read: `32 MiB`, `15 s`. The configuration has numbers of the schema's unit. */
export const QuantityField = ({
  kind,
  label,
  about,
  usual,
  value,
  error,
  'data-path': path,
  onChange,
}: {
  readonly kind: Quantity;
  readonly label: string;
  /** The schema's description. */
  readonly about: string;
  /** The default. */
  readonly usual: Json | undefined;
  /** A text is a reference to the environment, or what can't be read as a quantity. */
  readonly value: number | string | undefined;
  readonly error: string | undefined;
  readonly 'data-path': string;
  readonly onChange: (value: number | string | undefined) => void;
}) => {
  const [typed, setTyped] = useState('');
  const shown = typeof value === 'number' ? showQuantity(kind, value) : (value ?? '');
  // The typed text stays as long as it has the draft's value.
  const text = readQuantity(kind, typed) === value && typed.trim() !== '' ? typed : shown;
  const isUnread = typeof value === 'string' && !value.startsWith('$');
  return (
    <TextField
      label={label}
      hint={<Described text={inUnits(about)} />}
      error={isUnread ? examples[kind] : error}
      data-path={path}
      placeholder={typeof usual === 'number' ? showQuantity(kind, usual) : ''}
      value={text}
      onChange={(next) => {
        setTyped(next);
        onChange(next.trim() === '' ? undefined : (readQuantity(kind, next) ?? next));
      }}
      onBlur={() => setTyped('')}
    />
  );
};

const examples: Readonly<Record<Quantity, string>> = {
  bytes: 'Write a size, such as 32 MiB or 500 KiB.',
  ms: 'Write a time, such as 15 s, 500 ms or 2 min.',
  minutes: 'Write a time in whole minutes, such as 30 min, 12 h or 7 d.',
  days: 'Write a time in whole days, such as 7 d.',
};

/** A description that names the base unit, which this field doesn't show. */
const inUnits = (about: string): string =>
  about
    .replace(/^(?:Milliseconds|Minutes|Days) /, 'Time ')
    .replace(/^Bytes /, 'Size ')
    .replace(/,? in milliseconds/, '');
