import { useConfig } from '../api/config-store.ts';
import { Field, type FieldFrame } from './field.tsx';

/** Picks a model of a configured provider: `provider,model`. A value that isn't listed stays as it is, and is offered too. */
export const ModelPicker = ({
  value,
  onChange,
  none,
  ...frame
}: FieldFrame & {
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** What the empty choice means; without it there is none. */
  readonly none?: string;
}) => {
  const { config } = useConfig();
  const groups = (config?.Providers ?? []).map(({ name = '', models = [] }) => ({
    name,
    values: models.map((model) => ({ value: `${name},${model}`, label: model })),
  }));
  const isListed = groups.some(({ values }) => values.some((one) => one.value === value));
  return (
    <Field {...frame}>
      {(names) => (
        <select {...names} className="control" value={value} onChange={(event) => onChange(event.target.value)}>
          {none !== undefined && <option value="">{none}</option>}
          {!isListed && value !== '' && <option value={value}>{value}</option>}
          {!isListed && value === '' && none === undefined && <option value="">Pick a model</option>}
          {groups.map(({ name, values }) => (
            <optgroup key={name} label={name}>
              {values.map((one) => (
                <option key={one.value} value={one.value}>
                  {one.label}
                </option>
              ))}
            </optgroup>
          ))}
        </select>
      )}
    </Field>
  );
};
