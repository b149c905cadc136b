import { useField } from '../../../config/fields/form.ts';
import { splitNames } from '../../../config/models.ts';
import { CheckField, TextField } from '../../../parts/controls/field.tsx';

/** The models that an entry applies to: listed ones to pick, others to type. */
export const ModelScope = ({
  models,
  offered,
  path,
  onChange,
}: {
  readonly models: readonly string[];
  readonly offered: readonly string[];
  readonly path: string;
  readonly onChange: (models: readonly string[]) => void;
}) => {
  const mark = useField(path);
  const others = models.filter((model) => !offered.includes(model));
  const picked = models.filter((model) => offered.includes(model));
  return (
    <fieldset className="model-scope">
      <legend className="field-label">Models</legend>
      <div className="model-scope-list">
        {[...new Set(offered)].map((model) => (
          <CheckField
            key={model}
            label={model}
            checked={models.includes(model)}
            onChange={(isPicked) => onChange(isPicked ? [...models, model] : models.filter((one) => one !== model))}
          />
        ))}
      </div>
      <TextField
        label="Other models"
        hint="Comma-separated."
        {...mark}
        value={others.join(', ')}
        onBlur={() => onChange(models.filter(Boolean))}
        onChange={(text) => onChange([...picked, ...splitNames(text)])}
      />
    </fieldset>
  );
};
