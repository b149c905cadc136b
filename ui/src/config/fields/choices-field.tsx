import { CheckField } from '../../parts/controls/field.tsx';
import { useField } from './form.ts';

/** Any number of choices, in the order of their titles. */
export const ChoicesField = <T extends string>({
  label,
  path,
  titles,
  value,
  onChange,
}: {
  readonly label: string;
  readonly path: string;
  /** Of all choices. */
  readonly titles: Readonly<Record<T, string>>;
  readonly value: readonly string[];
  readonly onChange: (value: readonly T[]) => void;
}) => {
  const { error, ...mark } = useField(path);
  const choices = Object.keys(titles).filter((name): name is T => name in titles);
  return (
    <fieldset className="choices" {...mark}>
      <legend className="field-label">{label}</legend>
      {choices.map((choice) => (
        <CheckField
          key={choice}
          label={titles[choice]}
          checked={value.includes(choice)}
          onChange={(checked) => onChange(choices.filter((one) => (one === choice ? checked : value.includes(one))))}
        />
      ))}
      {error !== undefined && <p className="field-error">{error}</p>}
    </fieldset>
  );
};
