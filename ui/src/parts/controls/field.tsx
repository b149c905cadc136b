import { type ComponentProps, type ReactNode, useId, useState } from 'react';
import { classNames } from '../class-names.ts';
import { IconButton } from './button.tsx';
import './field.css';

/** The props of every field. */
export interface FieldFrame {
  readonly label: string;
  /** A sentence on what belongs in it. */
  readonly hint?: ReactNode;
  /** The error message. */
  readonly error?: string | undefined;
  /** The label is visually hidden. */
  readonly unlabelled?: boolean | undefined;
}

interface ControlNames {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': true | undefined;
}

/** A label, a control, a hint and an error; `children` gets the ids that link them. */
export const Field = ({
  label,
  hint,
  error,
  unlabelled = false,
  className,
  children,
}: FieldFrame & { readonly className?: string | undefined; readonly children: (names: ControlNames) => ReactNode }) => {
  const id = useId();
  const described = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className={classNames('field', className)}>
      <label htmlFor={id} className={unlabelled ? 'unseen' : 'field-label'}>
        {label}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': error ? true : undefined })}
      {hint && (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} className="field-error">
          {error}
        </p>
      )}
    </div>
  );
};

type Own<Element extends 'input' | 'select' | 'textarea'> = Omit<
  ComponentProps<Element>,
  'onChange' | 'value' | 'id' | 'children'
>;

/** A line of text. */
export const TextField = ({
  label,
  hint,
  error,
  unlabelled,
  value,
  onChange,
  className,
  ...rest
}: FieldFrame & Own<'input'> & { readonly value: string; readonly onChange: (value: string) => void }) => (
  <Field label={label} hint={hint} error={error} unlabelled={unlabelled} className={className}>
    {(names) => (
      <input
        autoComplete="off"
        spellCheck={false}
        {...rest}
        {...names}
        className="control"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </Field>
);

/** Several lines of text. */
export const TextArea = ({
  label,
  hint,
  error,
  unlabelled,
  value,
  onChange,
  className,
  ...rest
}: FieldFrame & Own<'textarea'> & { readonly value: string; readonly onChange: (value: string) => void }) => (
  <Field label={label} hint={hint} error={error} unlabelled={unlabelled} className={className}>
    {(names) => (
      <textarea
        rows={4}
        {...rest}
        {...names}
        className="control"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    )}
  </Field>
);

/** A number, or `undefined` while the field is empty. */
export const NumberField = ({
  value,
  onChange,
  ...rest
}: FieldFrame &
  Own<'input'> & { readonly value: number | undefined; readonly onChange: (value: number | undefined) => void }) => (
  <TextField
    inputMode="numeric"
    {...rest}
    type="number"
    value={value === undefined ? '' : String(value)}
    onChange={(text) => onChange(text === '' || Number.isNaN(Number(text)) ? undefined : Number(text))}
  />
);

/** A choice from a list. */
export const SelectField = <T extends string>({
  label,
  hint,
  error,
  unlabelled,
  value,
  options,
  onChange,
  className,
  ...rest
}: FieldFrame &
  Own<'select'> & {
    readonly value: T;
    readonly options: readonly { readonly value: T; readonly label: string }[];
    readonly onChange: (value: T) => void;
  }) => (
  <Field label={label} hint={hint} error={error} unlabelled={unlabelled} className={className}>
    {(names) => (
      <select
        {...rest}
        {...names}
        className="control"
        value={value}
        onChange={(event) => {
          const picked = options.find((option) => option.value === event.target.value);
          if (picked) onChange(picked.value);
        }}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
    )}
  </Field>
);

/** A checkbox. */
export const CheckField = ({
  label,
  hint,
  checked,
  onChange,
  ...rest
}: Pick<FieldFrame, 'label' | 'hint'> &
  Own<'input'> & { readonly checked: boolean; readonly onChange: (checked: boolean) => void }) => {
  const id = useId();
  return (
    <div className="check">
      <input
        {...rest}
        id={id}
        type="checkbox"
        checked={checked}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onChange(event.target.checked)}
      />
      <label htmlFor={id}>{label}</label>
      {hint && (
        <p id={`${id}-hint`} className="field-hint">
          {hint}
        </p>
      )}
    </div>
  );
};

/** A field for a key, which is masked; a reference to the environment (`$NAME`) is no secret and is shown. */
export const SecretField = ({
  value,
  onChange,
  ...rest
}: FieldFrame & Own<'input'> & { readonly value: string; readonly onChange: (value: string) => void }) => {
  const [shown, setShown] = useState(false);
  const isReference = /^\$\{?\w*\}?$/.test(value);
  return (
    <div className="secret">
      <TextField
        {...rest}
        type={shown || isReference ? 'text' : 'password'}
        autoComplete="off"
        value={value}
        onChange={onChange}
      />
      {!isReference && (
        <IconButton
          className="secret-eye"
          icon={shown ? 'hidden' : 'shown'}
          label={shown ? `Hide ${rest.label}` : `Show ${rest.label}`}
          aria-pressed={shown}
          onClick={() => setShown(!shown)}
        />
      )}
    </div>
  );
};
